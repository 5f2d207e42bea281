import { describe, expect, it } from 'vitest';
import { isAllowedHost, isCrossOrigin } from './host.ts';

describe('the Host header', () => {
  it.each([
    'localhost',
    'localhost:6443',
    'LOCALHOST:1',
    'localhost.',
    '127.0.0.1',
    '127.0.0.1:65535',
    '[::1]',
    '[::1]:8443',
    '[0:0:0:0:0:0:0:1]:8443',
    'box.example:6443',
    '192.0.2.7',
    '[2001:db8::7]:1',
    '[2001:DB8:0::7]',
  ])('%s is accepted', (host) => {
    expect(isAllowedHost(host, ['box.example', '192.0.2.7', '2001:db8::7'])).toBe(true);
  });

  it.each([
    undefined,
    '',
    ' ',
    'evil.example',
    'localhost.evil.example',
    'evil-localhost',
    '127.0.0.1.evil.example',
    '127.0.0.2',
    '0.0.0.0',
    '2130706433',
    '0x7f.1',
    '127.1',
    '::1',
    '[::1',
    '[::2]',
    '[::1]x',
    'localhost:',
    'localhost:x',
    'localhost:65536',
    'localhost:1:2',
    'user@localhost',
    'localhost/x',
    'localhost, evil.example',
    'localhost evil',
    'box.example',
    '[localhost]',
    '[127.0.0.1]',
    'localhost..',
  ])('%j is refused', (host) => {
    expect(isAllowedHost(host, [])).toBe(false);
  });

  it('a listen address may be given in brackets', () => {
    expect(isAllowedHost('[2001:db8::7]:1', ['[2001:db8::7]'])).toBe(true);
  });
});

describe('a request from a browser', () => {
  const host = '127.0.0.1:6443';
  it.each([
    [{ host }, false],
    [{ host, origin: 'https://127.0.0.1:6443' }, false],
    [{ host: 'localhost', origin: 'https://localhost:443' }, false],
    [{ host, 'sec-fetch-site': 'same-origin' }, false],
    [{ host, 'sec-fetch-site': 'none' }, false],
    [{ host, origin: 'https://evil.example' }, true],
    [{ host, origin: 'http://127.0.0.1:6443' }, true],
    [{ host, origin: 'https://127.0.0.1:6444' }, true],
    [{ host, origin: 'https://127.0.0.1' }, true],
    [{ host, origin: 'null' }, true],
    [{ host, origin: '' }, true],
    [{ host, origin: 'chrome-extension://abc' }, true],
    [{ origin: 'https://127.0.0.1' }, true],
    [{ host, 'sec-fetch-site': 'cross-site' }, true],
    [{ host, 'sec-fetch-site': 'same-site' }, true],
    [{ host, 'sec-fetch-site': ['none', 'cross-site'] }, true],
  ])('%j is of another place: %s', (headers, expected) => {
    expect(isCrossOrigin(headers)).toBe(expected);
  });
});
