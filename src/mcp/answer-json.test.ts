import fc from 'fast-check';
import { expect, it } from 'vitest';
import { toErrorResult, toResult } from '#protocol/tool-surface.ts';
import { givenTwice, jsonOf } from './answer-json.ts';

const ids = fc.oneof(fc.integer(), fc.string());
const answers = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue());

it('is the JSON that the message has without it', () => {
  fc.assert(
    fc.property(answers, ids, fc.boolean(), (answer, id, quotesOthers) => {
      const result = toResult({ quotesOthers }, answer);
      const message = { result, jsonrpc: '2.0', id };
      const usual = JSON.stringify(message);
      expect(jsonOf(message)).toBe(usual);
      expect(jsonOf({ ...message, result: givenTwice(result) })).toBe(usual);
    }),
  );
});

it.each([
  { jsonrpc: '2.0', method: 'notifications/progress', params: { progress: 1 } },
  { jsonrpc: '2.0', id: null, error: { code: -32700, message: 'no' } },
  { result: toErrorResult({ code: 'Invalid', message: 'no' }), jsonrpc: '2.0', id: 1 },
  { result: {}, jsonrpc: '2.0', id: 'x' },
])('leaves %j as it is', (message) => {
  expect(jsonOf(message)).toBe(JSON.stringify(message));
});
