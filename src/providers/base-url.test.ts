import { describe, expect, it } from 'vitest';
import { parseBaseUrl, urlBelow } from './base-url.ts';

describe('a base URL', () => {
  it.each([
    'https://api.test',
    'https://api.test:8443/v1/',
    'http://127.0.0.1:9/v1',
    'http://127.8.0.1',
    'http://localhost:1',
    'http://[::1]:1',
  ])('may be %s', (text) => {
    expect(parseBaseUrl(text).href).toContain(new URL(text).host);
  });

  it.each([
    ['http://api.test/v1', /must begin with https/],
    ['http://localhost.evil.test', /must begin with https/],
    ['http://127.0.0.1.evil.test', /must begin with https/],
    ['ftp://127.0.0.1', /must begin with https/],
    ['https://user:secret-word@api.test', /has a user/],
    ['https://api.test/?key=secret-word', /has a user, a query/],
    ['secret-word', /is no URL/],
  ])('may not be %s, and is not repeated', (text, message) => {
    expect(() => parseBaseUrl(text)).toThrow(message);
    expect(() => parseBaseUrl(text)).not.toThrow(/secret-word/);
  });
});

describe('the way below it', () => {
  it.each([
    ['https://api.test', '/v1/messages', 'https://api.test/v1/messages'],
    ['https://api.test/', '/v1/messages?beta=true', 'https://api.test/v1/messages?beta=true'],
    ['https://api.test/v1', '/responses', 'https://api.test/v1/responses'],
    ['https://api.test/v1', '/v1/responses', 'https://api.test/v1/responses'],
    ['https://api.test/v1/', '/v1', 'https://api.test/v1'],
    ['https://api.test/v1', '/v1beta/models', 'https://api.test/v1/v1beta/models'],
    ['https://api.test/team/v1', '', 'https://api.test/team/v1'],
    [
      'https://api.test',
      '/v1beta/models/g:generateContent?key=placeholder&alt=sse',
      'https://api.test/v1beta/models/g:generateContent?alt=sse',
    ],
    ['https://api.test', '/x?%6bey=placeholder', 'https://api.test/x'],
    ['https://api.test', '/x?KEY=a&b=%20&access_token=c', 'https://api.test/x?b=%20'],
  ])('%s and %s make %s', (base, path, url) => {
    expect(urlBelow(new URL(base), path)?.href).toBe(url);
  });

  it.each([
    '/../x',
    '/a/../../x',
    '/a/%2e%2e/x',
    '/a/%2E./x',
    '/./x',
    '//evil.test/x',
    '/a//b',
    '/a\\b',
    '/a%2fb',
    '/a%5Cb',
    '/a%00',
    '/a b',
    'x',
  ])('does not lead to %s', (path) => {
    expect(urlBelow(new URL('https://api.test/team/v1'), path)).toBeUndefined();
  });
});
