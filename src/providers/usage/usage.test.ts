/** The four protocols as providers stream them, in pieces of every size. */
import { describe, expect, it } from 'vitest';
import { usageFoldOf } from './protocol-of.ts';
import { tokensOf } from './usage.ts';
import { UsageReader } from './usage-reader.ts';

const sse = (...events: readonly (object | string)[]) =>
  events.map((event) => `event: x\ndata: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`).join('');

const anthropicStream = sse(
  {
    type: 'message_start',
    message: {
      model: 'claude-x',
      usage: { input_tokens: 10, cache_creation_input_tokens: 3, cache_read_input_tokens: 100, output_tokens: 1 },
    },
  },
  { type: 'content_block_delta', delta: { type: 'text_delta', text: 'usage: {"output_tokens": 999}' } },
  { type: 'message_delta', usage: { output_tokens: 25 } },
  { type: 'message_delta', usage: { output_tokens: 40 } },
  { type: 'message_stop' },
);
const responsesStream = sse(
  { type: 'response.created', response: { model: 'gpt-x', usage: null } },
  {
    type: 'response.completed',
    response: {
      model: 'gpt-x',
      usage: { input_tokens: 110, input_tokens_details: { cached_tokens: 100 }, output_tokens: 40, total_tokens: 150 },
    },
  },
);
const chatStream = sse(
  { model: 'chat-x', choices: [{ delta: { content: 'é' } }], usage: null },
  { model: 'chat-x', choices: [], usage: { prompt_tokens: 110, completion_tokens: 40, prompt_tokens_details: { cached_tokens: 100 } } },
  '[DONE]',
);
const geminiPieces = [
  { modelVersion: 'gemini-x', usageMetadata: { promptTokenCount: 110, cachedContentTokenCount: 100, candidatesTokenCount: 5 } },
  {
    modelVersion: 'gemini-x',
    usageMetadata: { promptTokenCount: 110, cachedContentTokenCount: 100, candidatesTokenCount: 30, thoughtsTokenCount: 10 },
  },
];

const ANSWERS = [
  ['/v1/messages', true, anthropicStream, { model: 'claude-x', input: 10, cacheRead: 100, cacheWrite: 3, output: 40 }],
  [
    '/v1/messages',
    false,
    JSON.stringify({ model: 'claude-x', usage: { input_tokens: 10, output_tokens: 40 } }),
    { model: 'claude-x', input: 10, cacheRead: 0, cacheWrite: 0, output: 40 },
  ],
  ['/v1/responses', true, responsesStream, { model: 'gpt-x', input: 10, cacheRead: 100, cacheWrite: 0, output: 40 }],
  ['/v1/chat/completions', true, chatStream, { model: 'chat-x', input: 10, cacheRead: 100, cacheWrite: 0, output: 40 }],
  [
    '/v1/chat/completions',
    false,
    JSON.stringify({ model: 'chat-x', usage: { prompt_tokens: 10, completion_tokens: 40 } }, null, 2),
    { model: 'chat-x', input: 10, cacheRead: 0, cacheWrite: 0, output: 40 },
  ],
  [
    '/v1beta/models/g:streamGenerateContent',
    true,
    sse(...geminiPieces),
    { model: 'gemini-x', input: 10, cacheRead: 100, cacheWrite: 0, output: 40 },
  ],
  [
    '/v1beta/models/g:streamGenerateContent',
    false,
    JSON.stringify(geminiPieces),
    { model: 'gemini-x', input: 10, cacheRead: 100, cacheWrite: 0, output: 40 },
  ],
] as const;

function read(path: string, isEvents: boolean, text: string, piece: number, maxBytes?: number) {
  const fold = usageFoldOf(path);
  if (!fold) throw new Error(`no protocol for ${path}`);
  const reader = new UsageReader(fold, { isEvents, ...(maxBytes !== undefined && { maxBytes }) });
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += piece) reader.write(bytes.subarray(at, at + piece));
  reader.end();
  return reader.usage;
}

describe('usage', () => {
  it.each(ANSWERS)('of %s (events: %s) is read from pieces of every size', (path, isEvents, text, usage) => {
    for (const piece of [1, 7, 64, 100_000]) expect(read(path, isEvents, text, piece)).toEqual(usage);
  });

  it('is known of a stream that was cut as far as it came', () => {
    const cut = anthropicStream.slice(0, anthropicStream.indexOf('"output_tokens":40'));
    expect(read('/v1/messages', true, cut, 50)).toMatchObject({ input: 10, output: 25 });
  });

  it.each([
    ['', undefined],
    ['no JSON at all', undefined],
    ['{"usage":"much"}', undefined],
    [
      '{"usage":{"input_tokens":-5,"output_tokens":"3","cache_read_input_tokens":1e300}}',
      { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 },
    ],
  ])('of %s is %j', (text, usage) => {
    expect(read('/v1/messages', false, text, 10)).toEqual(usage);
  });

  it('of an event that is too long is not known, and that of the next is', () => {
    const long = sse({ type: 'x', text: 'y'.repeat(500) }, { type: 'message_delta', usage: { output_tokens: 4 } });
    expect(read('/v1/messages', true, long, 10, 200)).toMatchObject({ output: 4 });
    expect(read('/v1/messages', false, JSON.stringify({ usage: { output_tokens: 4 }, text: 'y'.repeat(500) }), 10, 200)).toBeUndefined();
  });

  it('counts every token once', () => {
    expect(tokensOf({ input: 1, cacheRead: 20, cacheWrite: 300, output: 4000 })).toBe(4321);
  });

  it.each(['/v1/models', '/v1/messages/count_tokens', '/v1beta/models/g:countTokens', '/v1/messages/x'])(
    'is not looked for in %s',
    (path) => {
      expect(usageFoldOf(path)).toBeUndefined();
    },
  );
});
