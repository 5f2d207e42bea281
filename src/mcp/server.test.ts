import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { LineTransport } from './line-transport.ts';
import { ADMIN, openStand } from './sessions.fixture.ts';

const open: { close(): void }[] = [];
afterEach(() => {
  for (const each of open.splice(0)) each.close();
});

async function stand(...args: Parameters<typeof openStand>) {
  const made = await openStand(...args);
  open.push({ close: () => made.pair.destroy() });
  return made;
}

describe('a session', () => {
  it('says what it is and what it can do', async () => {
    const { client } = await stand();
    expect(client.getServerVersion()).toMatchObject({ name: 'agentiso', version: '1.2.3' });
    expect(client.getServerCapabilities()).toEqual({
      tools: {},
      resources: { subscribe: true, listChanged: true },
      prompts: {},
      completions: {},
      logging: {},
    });
    expect(client.getInstructions()).toContain('team_list');
  });

  it('lists tools with what they take and give', async () => {
    const { client } = await stand();
    const { tools } = await client.listTools();
    expect(tools.find(({ name }) => name === 'say')).toMatchObject({
      inputSchema: { type: 'object', required: ['team'], additionalProperties: false },
      outputSchema: { type: 'object', required: ['said'] },
      annotations: { readOnlyHint: true, destructiveHint: false },
    });
  });

  it('accepts a level of logging', async () => {
    const { client } = await stand();
    expect(await client.setLoggingLevel('warning')).toEqual({});
  });

  it('refuses methods that there are not, and parameters that are wrong', async () => {
    const { client } = await stand();
    const ask = (method: string, params = {}) => client.request({ method, params } as never, { parse: (value: unknown) => value } as never);
    await expect(ask('tools/eat')).rejects.toMatchObject({ code: -32601 });
    await expect(ask('tools/call', { name: 3 })).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining('name must be a string'),
    });
    await expect(ask('resources/read')).rejects.toMatchObject({ code: -32602 });
  });

  it('is over at once for a client that is gone before it begins', async () => {
    const { sessions, pair } = await stand();
    pair.near.destroy();
    await vi.waitFor(() => expect(pair.far.destroyed).toBe(true));
    const closed = vi.fn();
    const connection = { name: 'none', request: () => Promise.reject(new Error('nobody is asked')), close: closed };
    await sessions.openOperator(new LineTransport(pair.far), ADMIN, connection);
    expect(closed).toHaveBeenCalledTimes(1);
  });

  it('ends for all when the server does', async () => {
    const { client, sessions, closed } = await stand();
    const gone = new Promise<void>((resolve) => {
      client.onclose = resolve;
    });
    await sessions.closeAll();
    await gone;
    expect(closed).toEqual(['connection', 'session']);
  });
});

describe('resources', () => {
  it('are listed by pages, all of them', async () => {
    const { client } = await stand();
    const first = await client.listResources();
    const second = await client.listResources({ cursor: first.nextCursor });
    expect([first.resources.length, second.resources.length, second.nextCursor]).toEqual([100, 50, undefined]);
    expect(new Set([...first.resources, ...second.resources].map(({ uri }) => uri)).size).toBe(150);
    await expect(client.listResources({ cursor: 'x' })).rejects.toMatchObject({ code: -32602 });
  });

  it('have templates, and are read by address', async () => {
    const { client } = await stand();
    expect((await client.listResourceTemplates()).resourceTemplates).toMatchObject([
      { uriTemplate: 'test://notes/{name}', mimeType: 'text/plain' },
    ]);
    expect(await client.readResource({ uri: 'test://notes/n1' })).toEqual({
      contents: [{ uri: 'test://notes/n1', mimeType: 'text/plain', text: 'text of n1' }],
    });
  });

  it.each([
    [
      'test://notes/x',
      {
        code: -32002,
        message: expect.stringContaining('there is no note x'),
        data: expect.objectContaining({ code: 'NotFound', retryable: false }),
      },
    ],
    ['other://a', { code: -32002, message: expect.stringContaining('there is nothing at other://a') }],
    ['no address', { code: -32602 }],
  ])('%s is refused', async (uri, want) => {
    const { client } = await stand();
    await expect(client.readResource({ uri })).rejects.toMatchObject(want);
  });

  it('tell of changes from the moment of the answer, until it is enough', async () => {
    const { client } = await stand();
    const told: string[] = [];
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void told.push(params.uri));
    await client.subscribeResource({ uri: 'test://notes/n1' });
    await vi.waitFor(() => expect(told).toEqual(['test://notes/n1']));
    expect(await client.unsubscribeResource({ uri: 'test://notes/n1' })).toEqual({});
    await expect(client.subscribeResource({ uri: 'test://notes/x' })).rejects.toMatchObject({ code: -32002 });
  });

  it('say when there are others, to whoever asked for the list', async () => {
    async function* resourceListChanges(): AsyncGenerator<void> {
      yield;
      yield;
    }
    const { client } = await stand(ADMIN, { resourceListChanges });
    const told: string[] = [];
    client.fallbackNotificationHandler = async ({ method }) => void told.push(method);
    await client.ping();
    expect(told).toEqual([]);
    await client.listResources();
    await vi.waitFor(() => expect(told).toEqual(['notifications/resources/list_changed']));
  });
});

describe('prompts and completions', () => {
  it('are listed and rendered', async () => {
    const { client } = await stand();
    expect((await client.listPrompts()).prompts).toMatchObject([
      { name: 'greet', arguments: [{ name: 'who', required: true }, { name: 'how' }] },
    ]);
    expect(await client.getPrompt({ name: 'greet', arguments: { who: 'Ann' } })).toEqual({
      description: 'For tests.',
      messages: [{ role: 'user', content: { type: 'text', text: 'Hello, Ann' } }],
    });
    await expect(client.getPrompt({ name: 'greet' })).rejects.toMatchObject({ code: -32602, message: expect.stringContaining('who') });
    await expect(client.getPrompt({ name: 'gret' })).rejects.toMatchObject({ code: -32602, data: { hint: 'did you mean greet?' } });
  });

  it('complete with what is known already', async () => {
    const { client } = await stand();
    const ref = { type: 'ref/resource', uri: 'test://notes/{name}' } as const;
    const argument = { name: 'name', value: 'n' };
    expect((await client.complete({ ref, argument, context: { arguments: { team: 'a' } } })).completion).toEqual({
      values: ['n1', 'a'],
      total: 2,
      hasMore: false,
    });
    expect((await client.complete({ ref: { type: 'ref/prompt', name: 'greet' }, argument })).completion.values).toEqual([]);
    await expect(client.complete({ ref: { type: 'ref/resource', uri: 'x' }, argument })).rejects.toMatchObject({ code: -32602 });
  });
});
