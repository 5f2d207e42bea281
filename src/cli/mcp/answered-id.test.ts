import { expect, it } from 'vitest';
import { answeredId } from './answered-id.ts';

it.each([
  [{ result: {}, jsonrpc: '2.0', id: 5 }, 5],
  [{ jsonrpc: '2.0', id: 6, result: { text: '"id":7}' } }, 6],
  [{ result: { text: 'x'.repeat(1_000) }, jsonrpc: '2.0', id: 'a"b' }, 'a"b'],
  [{ jsonrpc: '2.0', id: null, error: {} }, undefined],
  [{ jsonrpc: '2.0', method: 'notifications/progress', params: { a: { jsonrpc: '2.0', id: 8 } } }, undefined],
  [{ jsonrpc: '2.0', method: 'ping', id: 9 }, undefined],
])('%j', (message, want) => {
  expect(answeredId(Buffer.from(`${JSON.stringify(message)}\n`))).toBe(want);
});

it('takes no line for an answer that is none', () => {
  expect(answeredId(Buffer.from('not JSON\n'))).toBeUndefined();
});
