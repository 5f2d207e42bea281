import { expect, it } from 'vitest';
import { echo, problemOf, readTask, toLine } from './messages.ts';

it('a call is one line of JSON-RPC', () => {
  expect(toLine(readTask('t'), 7)).toBe(
    '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"get","arguments":{"kind":"Task","name":"t"}}}\n',
  );
});

it.each([
  ['{"result":{"content":[{"type":"text","text":"hello"}]},"jsonrpc":"2.0","id":7}', true],
  ['{"result":{"content":[{"type":"text","text":"hello"}]},"jsonrpc":"2.0","id":6}', false],
  ['{"result":{"content":[{"type":"text","text":"hallo"}]},"jsonrpc":"2.0","id":7}', false],
  ['{"result":{"content":[{"type":"text","text":"hello"}],"isError":true},"jsonrpc":"2.0","id":7}', false],
])('of %s it is said that it is right: %s', (answer, isRight) => {
  expect(problemOf(echo('hello'), 7, answer) === '').toBe(isRight);
});
