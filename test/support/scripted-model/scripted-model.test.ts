/** The scripted model by itself: the four protocols, where it is in a script, and what it refuses. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inlineScript, marker, type Step } from './script.ts';
import { type ScriptedModel, startScriptedModel } from './scripted-model.ts';

const steps: readonly Step[] = [
  { op: 'mcp', tool: 'send_message', args: { to: 'all', body: 'hi' } },
  { op: 'shell', command: 'echo x' },
  { op: 'write', path: '/workspace/a.txt', content: "it's\n" },
  { op: 'text', text: 'All three are done, and this is more than one piece.' },
];

const shellSchema = { type: 'object', properties: { cmd: { type: 'string' }, why: { type: 'string' } }, required: ['cmd', 'why'] };
const writeSchema = { type: 'object', properties: { file_path: { type: 'string' }, content: { type: 'string' } } };

let model: ScriptedModel;
let locked: ScriptedModel;
const RESET_MS = 50_000;
beforeAll(async () => {
  model = await startScriptedModel({
    scripts: {
      three: steps,
      late: [{ op: 'text', text: 'ok', status: 429, untilMs: RESET_MS }],
      broken: [{ op: 'text', text: '', status: 500 }],
    },
    now: () => clock,
  });
  locked = await startScriptedModel({ keys: ['right'], maxRequests: 3 });
});
afterAll(async () => {
  await model.close();
  await locked.close();
});
let clock = 0;

async function ask(path: string, body: object, headers: Record<string, string> = {}) {
  const response = await fetch(`${model.url}${path}`, { method: 'POST', body: JSON.stringify(body), headers });
  return { status: response.status, headers: response.headers, text: await response.text() };
}
const json = async (path: string, body: object) => JSON.parse((await ask(path, body)).text);
const eventsOf = (text: string) =>
  text
    .split('\n\n')
    .filter(Boolean)
    .map((event) => event.replace(/^event: .*\n/, '').replace(/^data: /, ''))
    .filter((data) => data !== '[DONE]')
    .map((data) => JSON.parse(data));

interface Wire {
  readonly path: string;
  readonly request: (results: number) => object;
  readonly call: (answer: never) => readonly [string, unknown, string];
  readonly words: (answer: never) => string;
  readonly streamed: (events: never) => string;
  readonly stream: (request: object) => readonly [string, object];
}
const prompt = `Please. ${marker('three')}`;
const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => make(index));

const wires: Readonly<Record<string, Wire>> = {
  'openai-chat': {
    path: '/v1/chat/completions',
    request: (results) => ({
      model: 'm',
      messages: [
        { role: 'system', content: 'be good' },
        { role: 'user', content: [{ type: 'text', text: prompt }] },
        ...times(results, (at) => ({ role: 'tool', tool_call_id: `call-${at}-x`, content: 'done' })),
      ],
      tools: [
        { type: 'function', function: { name: 'team_send_message', parameters: {} } },
        { type: 'function', function: { name: 'bash', parameters: shellSchema } },
        { type: 'function', function: { name: 'write', parameters: writeSchema } },
      ],
    }),
    call: ({
      choices: [{ message }],
    }: {
      choices: [{ message: { tool_calls: [{ id: string; function: { name: string; arguments: string } }] } }];
    }) => {
      const [called] = message.tool_calls;
      return [called.function.name, JSON.parse(called.function.arguments), called.id];
    },
    words: ({ choices: [{ message }] }: { choices: [{ message: { content: string } }] }) => message.content,
    streamed: (events: { choices: { delta: { content?: string } }[] }[]) =>
      events.map(({ choices: [choice] }) => choice?.delta.content ?? '').join(''),
    stream: (request) => ['/v1/chat/completions', { ...request, stream: true }],
  },
  'openai-responses': {
    path: '/v1/responses',
    request: (results) => ({
      model: 'm',
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: prompt }] },
        ...times(results, (at) => ({ type: 'function_call_output', call_id: `call-${at}-x`, output: 'done' })),
      ],
      tools: [
        { type: 'namespace', name: 'mcp__team', tools: [{ type: 'function', name: 'send_message', parameters: {} }] },
        { type: 'function', name: 'exec_command', parameters: shellSchema },
        { type: 'function', name: 'write_file', parameters: writeSchema },
      ],
    }),
    call: ({ output: [item] }: { output: [{ name: string; arguments: string; call_id: string; namespace?: string }] }) => [
      item.namespace === undefined ? item.name : `${item.namespace}/${item.name}`,
      JSON.parse(item.arguments),
      item.call_id,
    ],
    words: ({ output: [item] }: { output: [{ content: [{ text: string }] }] }) => item.content[0].text,
    streamed: (events: { type: string; delta?: string }[]) =>
      events.map(({ type, delta }) => (type === 'response.output_text.delta' ? delta : '')).join(''),
    stream: (request) => ['/v1/responses', { ...request, stream: true }],
  },
  'anthropic-messages': {
    path: '/v1/messages',
    request: (results) => ({
      model: 'm',
      messages: [
        { role: 'user', content: prompt },
        ...times(results, (at) => ({
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: `toolu_call-${at}-x`, content: 'done' }],
        })),
      ],
      tools: [
        { name: 'mcp__team__send_message', input_schema: {} },
        { name: 'Bash', input_schema: shellSchema },
        { name: 'Write', input_schema: writeSchema },
      ],
    }),
    call: ({ content: [block] }: { content: [{ name: string; input: unknown; id: string }] }) => [block.name, block.input, block.id],
    words: ({ content: [block] }: { content: [{ text: string }] }) => block.text,
    streamed: (events: { delta?: { text?: string } }[]) => events.map(({ delta }) => delta?.text ?? '').join(''),
    stream: (request) => ['/v1/messages', { ...request, stream: true }],
  },
  gemini: {
    path: '/v1beta/models/m:generateContent',
    request: (results) => ({
      contents: [
        { role: 'user', parts: [{ text: prompt }] },
        ...times(results, (at) => ({ role: 'user', parts: [{ functionResponse: { id: `call-${at}-x`, name: 'x', response: {} } }] })),
      ],
      tools: [
        {
          functionDeclarations: [
            { name: 'mcp_team_send_message', parametersJsonSchema: {} },
            { name: 'run_shell_command', parametersJsonSchema: shellSchema },
            { name: 'write_file', parametersJsonSchema: writeSchema },
          ],
        },
      ],
    }),
    call: ({
      candidates: [{ content }],
    }: {
      candidates: [{ content: { parts: [{ functionCall: { name: string; args: unknown; id: string } }] } }];
    }) => {
      const { name, args, id } = content.parts[0].functionCall;
      return [name, args, id];
    },
    words: ({ candidates: [{ content }] }: { candidates: [{ content: { parts: [{ text: string }] } }] }) => content.parts[0].text,
    streamed: (events: { candidates: [{ content: { parts: [{ text: string }] } }] }[]) =>
      events.map(({ candidates: [{ content }] }) => content.parts[0].text).join(''),
    stream: (request) => ['/v1beta/models/m:streamGenerateContent', request],
  },
};

describe.each(Object.entries(wires))('%s', (protocol, wire) => {
  it('plays the script step by step, by the results it is shown, with the tools it is offered', async () => {
    const answers = await Promise.all([0, 1, 2].map((results) => json(wire.path, wire.request(results))));
    const [message, shell, file] = answers.map((answer) => wire.call(answer as never));
    expect(message?.[0]).toMatch(/send_message$/);
    expect(message?.[1]).toEqual({ to: 'all', body: 'hi' });
    expect(shell?.[1]).toEqual({ cmd: 'echo x', why: 'scripted' });
    expect(file?.[1]).toEqual({ file_path: '/workspace/a.txt', content: "it's\n" });
    expect(new Set([message?.[2], shell?.[2], file?.[2]]).size).toBe(3);
    expect(wire.words((await json(wire.path, wire.request(3))) as never)).toBe('All three are done, and this is more than one piece.');
  });

  it('streams the same words in pieces', async () => {
    const [path, request] = wire.stream(wire.request(3));
    const { text } = await ask(path, request);
    const events = eventsOf(text);
    expect(events.length).toBeGreaterThan(2);
    expect(wire.streamed(events as never)).toBe('All three are done, and this is more than one piece.');
  });

  it('streams a call with the arguments of the whole answer', async () => {
    const [path, request] = wire.stream(wire.request(1));
    const { text } = await ask(path, request);
    // Arguments are a text inside a text, at most twice.
    expect(text.replaceAll('\\', '')).toContain('echo x');
  });

  it('gives the same answer to the same request, and other ids to another', async () => {
    const once = await ask(wire.path, wire.request(0));
    expect((await ask(wire.path, wire.request(0))).text).toBe(once.text);
    const other = JSON.parse(JSON.stringify(wire.request(0)).replace('Please.', 'Now.'));
    expect((await ask(wire.path, other)).text).not.toBe(once.text);
  });

  it('answers with words alone where no tools are offered', async () => {
    expect(wire.words((await json(wire.path, { ...wire.request(0), tools: [] })) as never)).toBe('Scripted side answer');
  });

  it('refuses until the time it names, then plays the step', async () => {
    const late = JSON.parse(JSON.stringify(wire.request(0)).replace('script:three', 'script:late'));
    clock = RESET_MS - 30_000;
    const refused = await ask(wire.path, late);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '30']);
    clock = RESET_MS;
    expect(wire.words((await json(wire.path, late)) as never)).toBe('ok');
    const broken = JSON.parse(JSON.stringify(wire.request(0)).replace('script:three', 'script:broken'));
    expect((await ask(wire.path, broken)).status).toBe(500);
  });

  it('remembers what it was asked and what it played', async () => {
    const before = model.hits.length;
    await ask(wire.path, wire.request(1), { 'user-agent': 'me' });
    expect(model.hits.slice(before)).toMatchObject([
      { method: 'POST', path: wire.path, protocol, step: 1, status: 200, headers: { 'user-agent': 'me' } },
    ]);
  });
});

const chat = (text: string, tools: readonly string[], results: readonly string[] = []) => ({
  messages: [{ role: 'user', content: text }, ...results.map((id) => ({ role: 'tool', tool_call_id: id, content: '' }))],
  tools: tools.map((name) => ({ type: 'function', function: { name } })),
});
const called = async (body: object) => wires['openai-chat']?.call((await json('/chat/completions', body)) as never);

describe('where a tool is not offered at once', () => {
  const text = inlineScript([
    { op: 'mcp', tool: 'note', args: { a: 1 } },
    { op: 'shell', command: 'true' },
  ]);

  it('searches first, and does not count the search as a step', async () => {
    const [name, args, id] = (await called(chat(text, ['tool_search', 'bash']))) ?? [];
    expect([name, args]).toEqual(['tool_search', { query: 'note' }]);
    expect((await called(chat(text, ['tool_search', 'bash', 'mcp__lab__note'], [String(id)])))?.slice(0, 2)).toEqual([
      'mcp__lab__note',
      { a: 1 },
    ]);
    expect((await called(chat(text, ['tool_search', 'bash'], [String(id), 'call-0-x'])))?.[0]).toBe('bash');
  });

  it('says what was offered when the search did not help', async () => {
    const answer = await json('/chat/completions', chat(text, ['tool_search', 'bash'], ['search-0-x']));
    expect(wires['openai-chat']?.words(answer as never)).toMatch(/nothing offered can do .*Offered: tool_search, bash$/);
  });

  it('does not take a tool of the agent itself for one of an MCP server', async () => {
    const send = inlineScript([{ op: 'mcp', tool: 'send_message' }]);
    expect((await called(chat(send, ['SendMessage', 'send_message', 'lab___send_message'])))?.[0]).toBe('lab___send_message');
  });

  it('writes files by the shell where there is no tool for them', async () => {
    const write = inlineScript([{ op: 'write', path: "/w/it's", content: 'x' }]);
    expect((await called(chat(write, ['bash'])))?.[1]).toEqual({ command: `printf %s 'x' > '/w/it'\\''s'` });
  });
});

it('answers with the least value of a schema where Gemini is asked for JSON', async () => {
  const responseJsonSchema = { type: 'object', properties: { choice: { type: 'string', enum: ['flash', 'pro'] }, n: { type: 'integer' } } };
  const body = { contents: [], generationConfig: { responseMimeType: 'application/json', responseJsonSchema } };
  expect(JSON.parse(wires['gemini']?.words((await json('/models/m:generateContent', body)) as never) ?? '')).toEqual({
    choice: 'flash',
    n: 0,
  });
});

it('lets nobody in without a key it knows, and nobody at all past its cap', async () => {
  const with_ = async (headers: Record<string, string>) =>
    (await fetch(`${locked.url}/v1/messages`, { method: 'POST', body: '{"messages":[]}', headers })).status;
  expect([await with_({}), await with_({ 'x-api-key': 'right' }), await with_({ authorization: 'Bearer right' })]).toEqual([401, 200, 200]);
  expect(await with_({ 'x-api-key': 'right' })).toBe(400);
});

it('says 404 to anything else', async () => {
  expect((await ask('/v1/embeddings', {})).status).toBe(404);
});
