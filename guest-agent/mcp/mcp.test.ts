import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ProtocolError } from '#protocol/protocol-error.ts';
import { QUOTED } from '#protocol/tool-surface.ts';
import { CONFIGURATION, FakeWorkspace } from '../relay/fake-host.fixture.ts';
import { Inbox } from '../state/inbox.ts';
import { type McpRequest, postMcp, rpc, toolCall } from './mcp.fixture.ts';

const soon = { timeout: 10_000, interval: 10 };
const BOTH = { accept: 'application/json, text/event-stream' };
/** Of this run alone, because the port is fixed. */
const PEER = `127.97.${(process.pid >> 8) & 255}.${process.pid & 255 || 1}`;

let workspace: FakeWorkspace;

beforeEach(async () => {
  workspace = await FakeWorkspace.open({ isConfigured: false });
  await workspace.configure({ card: { name: 'bob', team: 'blue' }, teamToken: 'team-token', peers: { [PEER]: 'ann' } });
});

afterEach(() => workspace.close());

const onSocket = (): McpRequest => ({ at: { socketPath: workspace.guest.agentSocket }, headers: BOTH });
const overHttp = (headers: object, localAddress?: string): McpRequest => ({
  at: { host: CONFIGURATION.httpAddress ?? '', port: 8080, ...(localAddress !== undefined && { localAddress }) },
  headers: { ...BOTH, ...headers },
});
const say = async (body: unknown, request = onSocket()) => {
  const { messages } = await postMcp(body, request);
  return messages[0];
};
const call = async (name: string, args: object = {}) => (await say(toolCall(name, args))).result;
const errorOf = (result: { isError?: boolean; content: { text: string }[] }) => {
  expect(result.isError).toBe(true);
  return JSON.parse(result.content[0]?.text ?? '').error;
};
const unseenOnDisk = () => new Inbox(workspace.stateDir, (text) => expect.unreachable(text)).unseen().map(({ message_id }) => message_id);
const stored = (seq: number) => vi.waitFor(() => expect(workspace.host.storedSeq).toBe(seq), soon);

describe('the protocol', () => {
  it.each([
    ['2025-11-25', '2025-11-25'],
    ['2024-11-05', '2024-11-05'],
    ['1999-01-01', '2025-11-25'],
  ])('of a client that speaks %s is %s', async (protocolVersion, agreed) => {
    const { result } = await say(rpc('initialize', { protocolVersion, capabilities: {}, clientInfo: { name: 'x', version: '1' } }));
    expect(result).toMatchObject({ protocolVersion: agreed, capabilities: { tools: {} }, serverInfo: { name: 'agentiso' } });
    expect(result.instructions).toMatch(/^You are bob, /);
  });

  it('answers ping, and lists tools', async () => {
    expect((await say(rpc('ping'))).result).toEqual({});
    const { tools } = (await say(rpc('tools/list'))).result;
    expect(tools).toHaveLength(17);
    expect(tools[0]).toMatchObject({ name: 'check_messages', inputSchema: { type: 'object' }, annotations: { openWorldHint: false } });
  });

  it.each<[unknown, number, number]>([
    ['no json', 400, -32_700],
    [{ method: 'ping', id: 1 }, 200, -32_600],
    [[], 200, -32_600],
    [rpc('resources/list'), 200, -32_601],
    [rpc('tools/list', { cursor: 'x' }), 200, -32_602],
    [rpc('tools/call', {}), 200, -32_602],
    [rpc('tools/call', { name: 'get_budget', arguments: [] }), 200, -32_602],
  ])('refuses %j', async (body, status, code) => {
    expect(await postMcp(body, onSocket())).toMatchObject({ status, messages: [{ jsonrpc: '2.0', error: { code } }] });
  });

  it('says nothing to notifications and responses', async () => {
    for (const body of [
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', id: 1, result: {} },
      [{ jsonrpc: '2.0', method: 'notifications/initialized' }],
    ]) {
      expect(await postMcp(body, onSocket())).toMatchObject({ status: 202, messages: [] });
    }
  });

  it('takes arrays of old clients, and no others', async () => {
    const batch = [rpc('ping'), { jsonrpc: '2.0', method: 'notifications/initialized' }, rpc('nothing')];
    expect(await say(batch)).toMatchObject([{ result: {} }, { error: { code: -32_601 } }]);
    const headers = { ...BOTH, 'mcp-protocol-version': '2025-06-18' };
    expect(await say(batch, { ...onSocket(), headers })).toMatchObject({ error: { code: -32_600 } });
  });

  it.each(['GET', 'DELETE'])('has nothing for %s', async (method) => {
    expect(await postMcp('', { ...onSocket(), method })).toMatchObject({ status: 405, headers: { allow: 'POST' } });
  });
});

describe('tools', () => {
  it('ask for their verbs, and answer twice: for programs, and as text', async () => {
    const answer = { claimed: false, message: 'carl was first', winner: 'carl' };
    workspace.host.answers = { claimRequest: async () => answer };
    expect(await call('claim_request', { request_id: 'r1' })).toEqual({
      content: [
        { type: 'text', text: QUOTED },
        { type: 'text', text: JSON.stringify(answer) },
      ],
      structuredContent: answer,
    });
    expect(workspace.host.asked.at(-1)).toMatchObject({ verb: 'claimRequest', params: { request_id: 'r1' } });
  });

  it('refuse so that a model can do better', async () => {
    expect(errorOf(await call('dance'))).toMatchObject({ code: 'Invalid', field: 'name', hint: expect.stringContaining('check_messages') });
    expect(errorOf(await call('team_destroy', { team: 'red' }))).toEqual({
      code: 'Forbidden',
      message: 'team_destroy is a tool of operators, not of agents',
      retryable: false,
      hint: expect.stringContaining('check_messages'),
      field: 'name',
    });
    expect(errorOf(await call('send_message', { to: 'carl' }))).toEqual({
      code: 'Invalid',
      message: 'content must be a string',
      retryable: false,
      hint: 'send_message takes to (required), content (required), message_type, metadata, reply_to, request_id',
      field: 'content',
    });
    expect(errorOf(await call('get_budget', { team: 'red' }))).toMatchObject({ code: 'Invalid', field: 'team' });
    const refusal = new ProtocolError('RateLimited', 'too fast', undefined, { hint: 'wait', retryAfterMs: 200 });
    workspace.host.answers = { getBudget: () => Promise.reject(refusal) };
    expect(errorOf(await call('get_budget'))).toEqual({
      code: 'RateLimited',
      message: 'too fast',
      retryable: true,
      hint: 'wait',
      retry_after_ms: 200,
    });
  });

  it('are called in nobody else’s name', async () => {
    expect(errorOf(await call('send_message', { to: 'carl', content: 'x', from: 'ann' }))).toMatchObject({
      code: 'Forbidden',
      field: 'from',
    });
    expect(workspace.host.sent).toEqual([]);
    await call('send_message', { to: 'carl', content: 'x', from: 'bob' });
    expect(workspace.host.sent).toEqual([{ to: 'carl', content: 'x' }]);
  });

  it('say nothing of files when the guest itself fails', async () => {
    workspace.host.send();
    await stored(1);
    vi.spyOn(Inbox.prototype, 'unseen').mockImplementationOnce(() => {
      throw new Error('EIO: /secret/place');
    });
    const error = errorOf(await call('check_messages'));
    expect(error).toMatchObject({ code: 'Internal', message: "check_messages failed in the agent's own guest" });
    expect(JSON.stringify(error)).not.toContain('/secret');
    vi.restoreAllMocks();
  });
});

describe('mail', () => {
  const greeted = async (): Promise<McpRequest> => {
    const { headers } = await postMcp(rpc('initialize', { protocolVersion: '2025-11-25' }), onSocket());
    return { ...onSocket(), headers: { ...BOTH, 'mcp-session-id': String(headers['mcp-session-id']) } };
  };

  it('that was given to a session is acknowledged by its next tool, but not by waiting, by what else is said, or by others', async () => {
    const session = await greeted();
    const call = async (name: string, args: object = {}, as = session) => (await say(toolCall(name, args), as)).result;
    workspace.host.send();
    await stored(1);
    const { structuredContent } = await call('check_messages');
    expect(structuredContent.messages).toMatchObject([{ message_id: 'm1', content: 'text 1' }]);
    await call('wait_for_message', { timeout_seconds: 1 });
    await say(rpc('tools/list'), session);
    await say(rpc('ping'), session);
    await call('list_agents', {}, onSocket());
    await call('list_agents', {}, await greeted());
    expect(unseenOnDisk()).toEqual(['m1']);
    await call('list_agents');
    expect(unseenOnDisk()).toEqual([]);
  });

  it('fits into one answer to the host, whatever it consists of', async () => {
    const worst = '\u0001'.repeat(262_144);
    for (let index = 0; index < 3; index += 1) workspace.host.send({ content: worst });
    await stored(3);
    const long = { title: 't', from: 'ann', priority: 3, created_at: 'now', description: '"'.repeat(100_000) };
    workspace.host.answers = { openRequests: async () => ({ requests: [{ ...long, request_id: 'r1' }] }) };
    const result = await call('check_messages', { limit: 100 });
    expect(result.structuredContent).toMatchObject({ messages: [{ content: worst }], open_requests: [], unacked: 3 });
    expect(result.structuredContent.note).toMatch(/^1 more open requests/);
    expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThan(4 * 1024 * 1024 - 1024);
  });

  it('is waited for with signs of life, which need a client that wants them', async () => {
    const { messages, headers } = await postMcp(toolCall('wait_for_message', { timeout_seconds: 3 }, { progressToken: 7 }), onSocket());
    expect(headers['content-type']).toBe('text/event-stream');
    expect(messages[0]).toMatchObject({ method: 'notifications/progress', params: { progressToken: 7, progress: 2 } });
    expect(messages.at(-1).result.structuredContent).toEqual({ message: null, timed_out: true });
    const quick = await postMcp(toolCall('get_budget', {}, { progressToken: 8 }), onSocket());
    expect(quick.headers['content-type']).toBe('application/json');
  });

  it('is no longer waited for when the client hangs up, or cancels by a request of its own', async () => {
    const original = Inbox.prototype.onMail;
    let waiting = 0;
    vi.spyOn(Inbox.prototype, 'onMail').mockImplementation(function (this: Inbox, listener) {
      const stop = original.call(this, listener);
      waiting += 1;
      return () => {
        waiting -= 1;
        stop();
      };
    });
    const waiters = (count: number) => vi.waitFor(() => expect(waiting).toBe(count), soon);
    const client = new AbortController();
    const hangingUp = postMcp(toolCall('wait_for_message', { timeout_seconds: 100 }), { ...onSocket(), signal: client.signal });
    await waiters(1);
    client.abort();
    await expect(hangingUp).rejects.toThrow();
    await waiters(0);
    const greeting = await postMcp(rpc('initialize', { protocolVersion: '2025-11-25' }), onSocket());
    const session = { ...BOTH, 'mcp-session-id': String(greeting.headers['mcp-session-id']) };
    const cancelling = postMcp({ ...toolCall('wait_for_message', { timeout_seconds: 100 }), id: 'a' }, { ...onSocket(), headers: session });
    await waiters(1);
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'a' } };
    await postMcp(cancel, { ...onSocket(), headers: { ...session, 'mcp-session-id': 'of somebody else' } });
    expect(waiting).toBe(1);
    await postMcp(cancel, { ...onSocket(), headers: session });
    expect(await cancelling).toMatchObject({ status: 202, messages: [] });
    expect(waiting).toBe(0);
    vi.restoreAllMocks();
  });
});

describe('the HTTP door', () => {
  it('is open to the agent itself', async () => {
    const own = overHttp({ authorization: 'Bearer agent-token' });
    expect(await postMcp(rpc('tools/list'), own)).toMatchObject({ status: 200, messages: [{ result: { tools: expect.any(Array) } }] });
    expect((await postMcp('', { ...own, method: 'GET' })).status).toBe(405);
  });

  it.each<[string, object, string | undefined, number]>([
    ['nobody without a token', {}, undefined, 401],
    ['no wrong token', { authorization: 'Bearer guess' }, undefined, 401],
    ['no peer with the team’s token', { authorization: 'Bearer team-token' }, PEER, 403],
    ['no page of somebody else', { authorization: 'Bearer agent-token', origin: 'http://evil.example' }, undefined, 403],
    ['no unknown version', { authorization: 'Bearer agent-token', 'mcp-protocol-version': '1999-01-01' }, undefined, 400],
  ])('is open to %s', async (_, headers, localAddress, status) => {
    expect((await postMcp(rpc('tools/list'), overHttp(headers, localAddress))).status).toBe(status);
  });
});

describe('a call of the host', () => {
  const calling = (name: string, args: object, { signal = new AbortController().signal, reader = 'one' } = {}) => {
    const lines: string[] = [];
    const progress = { write: (line: string) => lines.push(line) };
    const context = { signal, up: {}, down: { progress } } as unknown as Parameters<typeof workspace.relay.handlers.callTool>[1];
    return { result: workspace.relay.handlers.callTool({ name, arguments: { ...args }, reader }, context), lines };
  };

  it('takes the same way as one from inside, and acknowledges what its own session was given', async () => {
    workspace.host.send();
    await stored(1);
    expect((await calling('check_messages', {}).result).structuredContent).toMatchObject({ messages: [{ message_id: 'm1' }] });
    await call('list_agents');
    await calling('list_agents', {}, { reader: 'another' }).result;
    expect(unseenOnDisk()).toEqual(['m1']);
    await vi.waitFor(async () => {
      await calling('list_agents', {}).result;
      expect(unseenOnDisk()).toEqual([]);
    }, soon);
    expect(errorOf((await calling('send_message', { to: 'x', content: 'y', owner: 'ann' }).result) as never)).toMatchObject({
      code: 'Forbidden',
    });
  });

  it('ends with its signal', async () => {
    const caller = new AbortController();
    const { result } = calling('wait_for_message', { timeout_seconds: 100 }, { signal: caller.signal });
    caller.abort(new ProtocolError('Unavailable', 'cancelled by the caller'));
    await expect(result).rejects.toThrow('cancelled by the caller');
  });

  it('is refused before the host has said who this is', async () => {
    const fresh = await FakeWorkspace.open({ isConfigured: false });
    const context = { signal: new AbortController().signal, up: {}, down: {} } as never;
    await expect(fresh.relay.handlers.callTool({ name: 'get_budget', arguments: {} }, context)).rejects.toThrow('not configured yet');
    await fresh.close();
  });
});
