import { describe, expect, it } from 'vitest';
import { isLoopback, parseListenAddress } from './listen-address.ts';

describe('parseListenAddress', () => {
  it.each([
    ['127.0.0.1', { host: '127.0.0.1' }],
    ['127.0.0.1:7443', { host: '127.0.0.1', port: 7443 }],
    [':7443', { host: '127.0.0.1', port: 7443 }],
    ['::1', { host: '::1' }],
    ['[::1]:7443', { host: '::1', port: 7443 }],
    ['localhost:0', { host: 'localhost', port: 0 }],
  ])('%s', (text, want) => {
    expect(parseListenAddress(text)).toEqual(want);
  });

  it.each(['', '127.0.0.1:70000', 'a:b', '[::1'])('refuses %j', (text) => {
    expect(() => parseListenAddress(text)).toThrow(`--listen ${JSON.stringify(text)} is no address`);
  });
});

describe('isLoopback', () => {
  it.each([
    ['127.0.0.1', true],
    ['127.8.9.1', true],
    ['localhost', true],
    ['::1', true],
    ['::ffff:127.0.0.1', true],
    ['0.0.0.0', false],
    ['::', false],
    ['10.0.0.1', false],
    ['127.example.org', false],
  ])('%s: %s', (host, want) => {
    expect(isLoopback(host)).toBe(want);
  });
});
