import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { type Channel, identified } from './identified.ts';
import { personIdentity } from './identity.ts';

const [admin, eve] = [personIdentity('admin', 'admin'), personIdentity('viewer', 'eve')];
const tokens = { identityOf: (token: string) => (token === 'good' ? eve : undefined) };
const PRIVATE: Channel = { identity: admin };
const HTTPS: Channel = {};
const LOCAL = { host: 'localhost:1' };

function whoAsks(channel: Channel, headers: Record<string, string>) {
  const request = { headers, headersDistinct: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])) };
  try {
    return identified(request as unknown as IncomingMessage, channel, { tokens }).user;
  } catch (error) {
    return (error as { status: { code: number } }).status.code;
  }
}

describe('identified', () => {
  it.each([
    ['the private socket', PRIVATE, {}, 'admin'],
    ['a token on the private socket', PRIVATE, { authorization: 'Bearer good' }, 'eve'],
    ['a bad token on the private socket', PRIVATE, { authorization: 'Bearer bad' }, 401],
    ['something else than a token on the private socket', PRIVATE, { authorization: 'Basic YTpi' }, 401],
    ['somebody else on the private socket', PRIVATE, { 'impersonate-user': 'eve' }, 403],
    ['HTTPS with a token', HTTPS, { ...LOCAL, authorization: 'Bearer good' }, 'eve'],
    ['HTTPS with a bad token', HTTPS, { ...LOCAL, authorization: 'Bearer bad' }, 401],
    ['HTTPS without one', HTTPS, LOCAL, 401],
    ['a name that a web page lets point here', HTTPS, { host: 'evil.example', authorization: 'Bearer good' }, 403],
    ['a web page', HTTPS, { ...LOCAL, origin: 'https://evil.example', authorization: 'Bearer good' }, 403],
  ])('%s', (_, channel, headers, want) => {
    expect(whoAsks(channel, headers as Record<string, string>)).toBe(want);
  });
});
