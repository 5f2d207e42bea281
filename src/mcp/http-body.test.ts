import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { isInitialize, readJson, requestIds } from './http-body.ts';

function read(pieces: readonly string[], { isCut = false } = {}) {
  const stream = new PassThrough();
  const body = readJson(stream as unknown as IncomingMessage, 20);
  for (const piece of pieces) stream.write(piece);
  if (isCut) stream.destroy();
  else stream.end();
  return body;
}

describe('readJson', () => {
  it.each([
    [['{"a":', '1}'], { value: { a: 1 } }],
    [['{'], { problem: 'no JSON' }],
    [[], { problem: 'no JSON' }],
    [['"', 'x'.repeat(30), '"'], { problem: 'too large' }],
  ])('%j', async (pieces, want) => {
    expect(await read(pieces)).toEqual(want);
  });

  it('says that a body was cut off', async () => {
    expect(await read(['{"a"'], { isCut: true })).toEqual({ problem: 'cut off' });
  });
});

it.each([
  [{ method: 'initialize' }, true],
  [{ method: 'ping' }, false],
  [[{ method: 'initialize' }], false],
  [null, false],
])('%j begins a session: %j', (body, want) => {
  expect(isInitialize(body)).toBe(want);
});

it.each([
  [{ id: 1, method: 'a' }, [1]],
  [
    [{ id: 1, method: 'a' }, { method: 'b' }, { id: 'c', method: 'd' }, { id: 2, result: {} }],
    [1, 'c'],
  ],
  [null, []],
  [7, []],
])('the requests in %j: %j', (body, want) => {
  expect(requestIds(body)).toEqual(want);
});
