import { describe, expect, it } from 'vitest';
import { isOwn, isPublic, ownAddresses, parseInet6 } from './addresses.ts';
import { compileRules, parseAuthority, refuseTarget } from './names.ts';
import { parsePlainTarget } from './plain-http.ts';
import { Seldom } from './seldom.ts';

describe('a name', () => {
  const allowDomains = ['registry.npmjs.org', '*.Example.com', 'bücher.example', 'dot.example.'];
  it.each([
    ['registry.npmjs.org:443', undefined],
    ['registry.npmjs.org:80', undefined],
    ['REGISTRY.npmjs.ORG:443', undefined],
    ['registry.npmjs.org.:443', undefined],
    ['dot.example:443', undefined],
    ['a.example.com:443', undefined],
    ['a.b.example.com.:443', undefined],
    ['xn--bcher-kva.example:443', undefined],
    ['bücher.example:443', undefined],
    ['example.com:443', 'NameNotAllowed'],
    ['notexample.com:443', 'NameNotAllowed'],
    ['a.example.com.evil.test:443', 'NameNotAllowed'],
    ['npmjs.org:443', 'NameNotAllowed'],
    ['x.registry.npmjs.org:443', 'NameNotAllowed'],
    ['registry.npmjs.org:22', 'PortNotAllowed'],
    ['a.example.com:8443', 'PortNotAllowed'],
    ['93.184.216.34:443', 'AddressNotAllowed'],
    ['[2606:2800:220:1::1]:443', 'AddressNotAllowed'],
    ['0x5d.0xb8d822:443', 'AddressNotAllowed'],
    ['2130706433:443', 'AddressNotAllowed'],
    ['１２７.0.0.1:443', 'AddressNotAllowed'],
  ])('%s is allowed or refused as %s', (authority, reason) => {
    const target = parseAuthority(authority);
    expect(target).toBeDefined();
    expect(target && refuseTarget(target, compileRules({ allowDomains, allowInternet: false }))?.reason).toBe(reason);
    expect(target && refuseTarget(target, compileRules({ allowDomains, allowInternet: true }))).toBeUndefined();
  });

  it.each([
    '',
    'name',
    ':443',
    'name:',
    'name:0',
    'name:65536',
    'name:4x',
    'a b:1',
    'user@name:1',
    'name:1:2',
    '*.example.com:1',
    'a..b:1',
  ])('is not %j', (authority) => {
    expect(parseAuthority(authority)).toBeUndefined();
  });

  it.each([
    '%31.com:1',
    '[::1:1',
    '[fe80::1%eth0]:1',
    '[127.0.0.1]:1',
    'a/b:1',
    'a\\b:1',
    'a?b:1',
    '-a.test:1',
    `${'a'.repeat(64)}.test:1`,
  ])('is not %j either', (authority) => {
    expect(parseAuthority(authority)).toBeUndefined();
  });

  it.each(['*', '*.', '', 'a b', '*.*.test', '10.0.0.1', 'https://example.com', 'example.com:443', 'a*.test'])(
    'as a rule is not %j',
    (domain) => {
      expect(() => compileRules({ allowDomains: [domain], allowInternet: false })).toThrow(/allowDomains: '.*' is no name; write/);
    },
  );
});

describe('the target of a plain request', () => {
  it.each([
    ['http://example.com', { host: 'example.com', port: 80, path: '/' }],
    ['http://EXAMPLE.com:8080/a/../b?c=%20', { host: 'example.com', port: 8080, path: '/a/../b?c=%20' }],
    ['HTTP://[2606:2800::1]/x', { host: '2606:2800::1', port: 80, path: '/x' }],
    ['http://example.com?q', { host: 'example.com', port: 80, path: '/?q' }],
  ])('of %s is what it says', (url, target) => {
    expect(parsePlainTarget(url)).toEqual(target);
  });

  it.each([
    '/',
    '*',
    'https://example.com/',
    'ftp://example.com/',
    'http://',
    'http://a@example.com/',
    'http://example.com/#x',
    'example.com:443',
  ])('%j is refused', (url) => {
    expect(() => parsePlainTarget(url)).toThrow(/this is a proxy/);
  });
});

describe('an address', () => {
  it.each([
    '1.1.1.1',
    '93.184.216.34',
    '172.15.0.1',
    '172.32.0.1',
    '100.63.255.255',
    '100.128.0.1',
    '223.255.255.255',
    '2606:4700::1111',
    '2a00:1450::1',
  ])('%s is public', (address) => {
    expect(isPublic(address)).toBe(true);
  });

  it.each([
    '0.0.0.0',
    '10.1.2.3',
    '10.99.0.2',
    '100.64.0.1',
    '100.127.255.255',
    '127.0.0.1',
    '127.9.9.9',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.1',
    '192.168.1.1',
    '198.18.0.1',
    '203.0.113.7',
    '224.0.0.1',
    '239.1.1.1',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:1.1.1.1',
    '::ffff:127.0.0.1',
    '::127.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b:1::1',
    'fc00::1',
    'fd12::1',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::1',
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::',
    '100::1',
    '3fff::1',
    'no address',
    '',
  ])('%j is not', (address) => {
    expect(isPublic(address)).toBe(false);
  });

  it('of this machine is read from the kernel', () => {
    const text = '20010db8000000000000000000000007 02 40 00 80     eth0\n00000000000000000000000000000001 01 80 10 80       lo\n';
    expect(parseInet6(text)).toEqual(['2001:0db8:0000:0000:0000:0000:0000:0007', '0000:0000:0000:0000:0000:0000:0000:0001']);
    const own = ownAddresses();
    expect([isOwn('127.0.0.1', own), isOwn('93.184.216.34', own), isOwn('2606:4700::1111', own)]).toEqual([true, false, false]);
    own.addAddress(parseInet6(text)[0] ?? '', 'ipv6');
    expect(isOwn('2001:db8::7', own)).toBe(true);
  });
});

describe('saying things seldom', () => {
  it('says each name once a minute, and at most a hundred names', () => {
    let nowMs = 0;
    const seldom = new Seldom(() => nowMs);
    expect([seldom.mayBeSaid('a'), seldom.mayBeSaid('a'), seldom.mayBeSaid('b')]).toEqual([true, false, true]);
    nowMs = 59_999;
    expect(seldom.mayBeSaid('a')).toBe(false);
    nowMs = 60_000;
    expect(seldom.mayBeSaid('a')).toBe(true);
    expect(Array.from({ length: 200 }, (_, i) => seldom.mayBeSaid(`n${i}`)).filter(Boolean)).toHaveLength(99);
  });
});
