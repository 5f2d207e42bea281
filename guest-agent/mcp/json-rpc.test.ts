import { expect, it } from 'vitest';
import { readMessage } from './json-rpc.ts';

it.each([
  [
    { jsonrpc: '2.0', id: 1, method: 'a' },
    { kind: 'request', id: 1, method: 'a', params: {} },
  ],
  [
    { jsonrpc: '2.0', id: 'x', method: 'a', params: { b: 1 } },
    { kind: 'request', id: 'x', method: 'a', params: { b: 1 } },
  ],
  [
    { jsonrpc: '2.0', method: 'a' },
    { kind: 'notification', method: 'a', params: {} },
  ],
  [{ jsonrpc: '2.0', id: 1, result: {} }, { kind: 'response' }],
  [{ jsonrpc: '2.0', id: 1, error: {} }, { kind: 'response' }],
  [
    { id: 1, method: 'a' },
    { kind: 'invalid', id: 1, problem: 'jsonrpc must be "2.0"' },
  ],
  [
    { jsonrpc: '2.0', id: null, method: 'a' },
    { kind: 'invalid', id: null, problem: 'id must be a string or a number' },
  ],
  [
    { jsonrpc: '2.0', id: 1.5, method: 'a' },
    { kind: 'invalid', id: null, problem: 'id must be a string or a number' },
  ],
  [
    { jsonrpc: '2.0', id: 1, method: 7 },
    { kind: 'invalid', id: 1, problem: 'method must be a string' },
  ],
  [
    { jsonrpc: '2.0', id: 1, method: 'a', params: [] },
    { kind: 'invalid', id: 1, problem: 'params must be an object' },
  ],
  [
    { jsonrpc: '2.0', id: 1 },
    { kind: 'invalid', id: 1, problem: 'method must be a string' },
  ],
  ['text', { kind: 'invalid', id: null, problem: 'a message must be an object' }],
  [[], { kind: 'invalid', id: null, problem: 'a message must be an object' }],
  [null, { kind: 'invalid', id: null, problem: 'a message must be an object' }],
])('reads %j', (value, message) => {
  expect(readMessage(value)).toEqual(message);
});
