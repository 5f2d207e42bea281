import { expect, it } from 'vitest';
import { readHead } from './http-rules.ts';

const plain = { session: undefined, version: undefined, canReadJson: true, canReadStream: false };

it.each([
  [{}, plain],
  [{ accept: 'application/json, text/event-stream' }, { ...plain, canReadStream: true }],
  [{ accept: 'text/event-stream;q=0.5' }, { ...plain, canReadJson: false, canReadStream: true }],
  [{ accept: 'application/*' }, plain],
  [{ origin: 'http://localhost:3000' }, plain],
  [{ origin: 'http://127.0.0.1:8080' }, plain],
  [{ origin: 'http://10.99.0.2:8080' }, plain],
  [
    { 'mcp-protocol-version': '2025-06-18', 'mcp-session-id': 'a' },
    { ...plain, version: '2025-06-18', session: 'a' },
  ],
])('takes %j', (headers, wishes) => {
  expect(readHead({ headers, localAddress: '10.99.0.2' })).toEqual(wishes);
});

it.each([
  [{ origin: 'http://evil.example' }, 403],
  [{ origin: 'http://localhost.evil.example' }, 403],
  [{ origin: 'http://10.99.0.3:8080' }, 403],
  [{ origin: 'null' }, 403],
  [{ 'mcp-protocol-version': '1999-01-01' }, 400],
  [{ accept: 'text/html' }, 406],
])('refuses %j', (headers, status) => {
  expect(() => readHead({ headers, localAddress: '10.99.0.2' })).toThrow(expect.objectContaining({ status }));
});
