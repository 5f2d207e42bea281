import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { agentVerbs } from '#protocol/agent-verbs.ts';
import { ProtocolError } from '#protocol/protocol-error.ts';
import { FakeWorkspace } from '../relay/fake-host.fixture.ts';
import { Inbox } from '../state/inbox.ts';
import { ask, type SocketAnswer } from './socket-client.fixture.ts';

const soon = { timeout: 10_000, interval: 10 };
const CARD = { name: 'bob', team: 'blue' };

let workspace: FakeWorkspace;

beforeEach(async () => {
  workspace = await FakeWorkspace.open({ isConfigured: false });
  await workspace.configure({ card: CARD });
});

afterEach(() => workspace.close());

const say = (verb: string, body: unknown = {}): Promise<SocketAnswer> => ask(workspace.guest.agentSocket, verb, body);

/** A program that says that it is one reader, whatever its connections. */
const sayAs = (reader: string, verb: string, body: unknown = {}): Promise<SocketAnswer> =>
  ask(workspace.guest.agentSocket, verb, body, { headers: { 'agentiso-reader': reader } });

const idsOf = ({ json }: SocketAnswer): string[] => json.messages.map(({ message_id }: { message_id: string }) => message_id);

/** As it is on disk. */
function unseenOnDisk(): string[] {
  return new Inbox(workspace.stateDir, (text) => expect.unreachable(text)).unseen().map(({ message_id }) => message_id);
}

const stored = (seq: number) => vi.waitFor(() => expect(workspace.host.storedSeq).toBe(seq), soon);
const seenByHost = () => workspace.host.acks.flatMap(({ seen }) => seen);
const reported = (...ids: string[]) => vi.waitFor(() => expect(seenByHost()).toEqual(ids), { timeout: 1_000, interval: 5 });

describe('the socket', () => {
  it('is there from the configuration on, for its user alone, and replaces what a killed guest has left', async () => {
    const path = workspace.guest.agentSocket;
    expect(statSync(path).isSocket()).toBe(true);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const left = statSync(path).ino;
    await workspace.restart();
    await workspace.configure({ card: CARD });
    expect(statSync(path).ino).not.toBe(left);
    expect((await say('checkMessages')).status).toBe(200);
  });

  it('is not there before the configuration, and comes back with the next one when somebody has taken it away', async () => {
    const fresh = await FakeWorkspace.open({ isConfigured: false });
    try {
      const path = fresh.guest.agentSocket;
      expect(existsSync(path)).toBe(false);
      writeFileSync(path, 'in the way');
      await fresh.configure();
      expect((await ask(path, 'checkMessages')).status).toBe(200);
      const { ino } = statSync(path);
      await fresh.configure();
      expect(statSync(path).ino).toBe(ino);
      writeFileSync(`${path}.other`, '');
      renameSync(`${path}.other`, path);
      await fresh.configure();
      expect((await ask(path, 'checkMessages')).status).toBe(200);
    } finally {
      await fresh.close();
    }
  });

  it('is there before the first task starts', async () => {
    const fresh = await FakeWorkspace.open({ isConfigured: false });
    try {
      fresh.host.assign({ taskUid: 'early', command: `test -S ${fresh.guest.agentSocket}` });
      await fresh.configure();
      expect(await fresh.resultOf('early')).toMatchObject({ exitCode: 0 });
    } finally {
      await fresh.close();
    }
  });

  it('takes 64 connections, and tells the next one that there are too many', async () => {
    const sockets: Socket[] = [];
    for (let index = 0; index < 64; index += 1) {
      const socket = connect(workspace.guest.agentSocket);
      sockets.push(socket);
      await once(socket, 'connect');
    }
    expect(await say('checkMessages')).toMatchObject({ status: 503, json: { code: 'Unavailable', retryable: true } });
    sockets[0]?.destroy();
    await vi.waitFor(async () => expect((await say('checkMessages')).status).toBe(200), soon);
    for (const socket of sockets) socket.destroy();
  });
});

describe('verbs of the team', () => {
  it('go to the host as they are, and its result comes back as it is', async () => {
    const { host } = workspace;
    host.answers = {
      claimRequest: async () => ({ claimed: false, message: 'carl was first', winner: 'carl' }),
      getBudget: async () => ({ max_agents: 9, used: 1, reserved: 0, remaining: -2, depth: 0, max_depth: 3 }),
    };
    expect(await say('claimRequest', { request_id: 'r1' })).toEqual({
      status: 200,
      json: { claimed: false, message: 'carl was first', winner: 'carl' },
    });
    expect(await say('getBudget', '')).toMatchObject({ status: 200, json: { remaining: -2 } });
    expect(host.asked.map(({ verb, params }) => [verb, params])).toEqual([
      ['claimRequest', { request_id: 'r1' }],
      ['getBudget', {}],
    ]);
  });

  it.each(Object.keys(agentVerbs))('has %s', async (verb) => {
    const { status, json } = await say(verb, { nobody_reads_this: 1 });
    expect([status, json.code]).toEqual([400, 'Invalid']);
  });

  it('sends messages, and passes on what the host says of each copy', async () => {
    const message = { to: '*', content: 'hello', message_type: 'broadcast', metadata: { a: 'b' }, reply_to: 'm0', request_id: 'r1' };
    expect(await say('sendMessage', { ...message, from: 'bob' })).toEqual({
      status: 200,
      json: { message_id: 'accepted-1', state: 'Accepted' },
    });
    expect(workspace.host.sent).toEqual([message]);
  });

  it.each(['from', 'agent', 'owner'])('are not asked for in the name of somebody else: %s', async (field) => {
    expect(await say('sendMessage', { to: 'carl', content: 'x', [field]: 'ann' })).toEqual({
      status: 403,
      json: { code: 'Forbidden', message: `${field} may only be bob, and not "ann"`, retryable: false, hint: `leave out ${field}`, field },
    });
    expect(workspace.host.sent).toEqual([]);
    expect((await say('sendMessage', { to: 'carl', content: 'x', [field]: 'blue-bob' })).status).toBe(200);
  });

  it.each<[string, unknown, number, object]>([
    ['nothing', {}, 404, { code: 'NotFound', hint: expect.stringContaining('checkMessages, waitForMessage') }],
    ['', {}, 404, { code: 'NotFound' }],
    ['toString', {}, 404, { code: 'NotFound' }],
    ['teamReceive', {}, 404, { code: 'NotFound' }],
    ['sendMessage', { to: 'carl' }, 400, { code: 'Invalid', field: 'content', message: 'content must be a string' }],
    ['sendMessage', { to: 'carl', content: 'x', metadata: { a: 1 } }, 400, { code: 'Invalid', field: 'metadata.a' }],
    ['sendMessage', { to: 'carl', content: 'x', text: 'y' }, 400, { code: 'Invalid', field: 'text' }],
    ['sendMessage', 'no json', 400, { code: 'Invalid' }],
    ['sendMessage', '[]', 400, { code: 'Invalid' }],
    ['sendMessage', { to: 'carl', content: 'x'.repeat(5_000_000) }, 413, { code: 'TooLarge' }],
    ['waitForMessage', { timeout_seconds: 0 }, 400, { code: 'Invalid', field: 'timeout_seconds' }],
    ['waitForMessage', { timeout_seconds: 121 }, 400, { code: 'Invalid', field: 'timeout_seconds' }],
    ['waitForMessage', { message_type: 'letter' }, 400, { code: 'Invalid', field: 'message_type' }],
    ['checkMessages', { limit: 101 }, 400, { code: 'Invalid', field: 'limit' }],
    ['getBudget', {}, 503, { code: 'Unavailable', retryable: true, hint: 'try again a little later' }],
  ])('%s with %j is refused with %i', async (verb, body, status, json) => {
    const answer = await say(verb, body);
    expect(answer).toMatchObject({ status, json });
    expect(answer.json).toMatchObject({ message: expect.any(String), retryable: expect.any(Boolean), hint: expect.any(String) });
  });

  it('take POST and nothing else', async () => {
    expect(await ask(workspace.guest.agentSocket, 'getBudget', '', { method: 'GET' })).toMatchObject({ status: 405 });
  });

  it.each([
    ['RateLimited', 429, true],
    ['InboxFull', 503, true],
    ['QuotaExceeded', 422, false],
    ['DepthExceeded', 422, false],
    ['Conflict', 409, true],
    ['FenceLost', 409, false],
    ['Timeout', 504, true],
    ['IoError', 500, false],
  ] as const)('that the host refuses with %s get %i', async (code, status, retryable) => {
    workspace.host.answers = { listAgents: () => Promise.reject(new ProtocolError(code, 'because')) };
    expect(await say('listAgents')).toMatchObject({ status, json: { code, message: 'because', retryable } });
  });

  it('pass on what the host says besides', async () => {
    const details = { hint: 'wait', retryAfterMs: 200, field: 'to' };
    workspace.host.answers = { listAgents: () => Promise.reject(new ProtocolError('RateLimited', 'too fast', undefined, details)) };
    expect(await say('listAgents')).toEqual({
      status: 429,
      json: { code: 'RateLimited', message: 'too fast', retryable: true, hint: 'wait', retry_after_ms: 200, field: 'to' },
    });
  });

  it('are given up at the host when the client hangs up', async () => {
    const { host } = workspace;
    host.answers = { vaultSearch: () => new Promise(() => {}) };
    const client = new AbortController();
    const asking = ask(workspace.guest.agentSocket, 'vaultSearch', { pattern: 'x' }, { signal: client.signal });
    await vi.waitFor(() => expect(host.asked).toHaveLength(1), soon);
    expect(host.asked[0]?.signal.aborted).toBe(false);
    client.abort();
    await expect(asking).rejects.toThrow();
    await vi.waitFor(() => expect(host.asked[0]?.signal.aborted).toBe(true), soon);
  });
});

describe('checkMessages', () => {
  it('gives what was not seen, in order, with the open requests, and takes nothing away by itself', async () => {
    const { host } = workspace;
    const request = { request_id: 'r1', title: 't', description: 'd', from: 'ann', priority: 3, created_at: 'now' };
    host.answers = { openRequests: async () => ({ requests: [request] }) };
    const sent = [host.send(), host.send({ from: 'carl' }), host.send()];
    host.assign({ command: 'true' });
    await stored(4);
    expect((await say('checkMessages')).json).toEqual({
      messages: sent,
      open_requests: [request],
      unacked: 3,
      next_seq: 5,
      unknown_acks: [],
    });
    expect(unseenOnDisk()).toEqual(['m1', 'm2', 'm3']);
    expect(seenByHost()).toEqual([]);
  });

  it('filters before it counts', async () => {
    const { host } = workspace;
    for (let index = 0; index < 15; index += 1) host.send({ from: index % 5 === 0 ? 'carl' : 'ann' });
    await stored(15);
    const { json } = await say('checkMessages', { from: 'carl', limit: 2 });
    expect(json.messages.map(({ seq }: { seq: number }) => seq)).toEqual([1, 6]);
    expect((await say('checkMessages', { keep: true })).json.messages).toHaveLength(10);
  });

  it('acknowledges by `ack`, durably, tells the host soon, and names what it does not know', async () => {
    const { host } = workspace;
    for (let index = 0; index < 3; index += 1) host.send();
    await stored(3);
    expect((await say('checkMessages', { ack: ['m2', 'nobody'], limit: 0 })).json).toMatchObject({
      messages: [],
      unacked: 2,
      unknown_acks: ['nobody'],
    });
    expect(unseenOnDisk()).toEqual(['m1', 'm3']);
    await reported('m2');
    expect((await say('checkMessages', { ack: ['m2'], limit: 0 })).json).toMatchObject({ unacked: 2, unknown_acks: [] });
  });

  it.each(['checkMessages', 'listAgents'])('is acknowledged by the next %s of the same reader, which waiting is not', async (verb) => {
    workspace.host.send();
    await stored(1);
    await sayAs('me', 'checkMessages');
    expect((await sayAs('me', 'waitForMessage', { timeout_seconds: 1 })).json.message.message_id).toBe('m1');
    expect(unseenOnDisk()).toEqual(['m1']);
    await sayAs('me', verb);
    expect(unseenOnDisk()).toEqual([]);
    await reported('m1');
    expect((await say('checkMessages')).json.messages).toEqual([]);
  });

  it.each(['checkMessages', 'listAgents'])('is acknowledged by no %s of anybody else, and shown to the next', async (verb) => {
    workspace.host.send();
    await stored(1);
    await say('checkMessages');
    await sayAs('another', verb);
    await say(verb);
    expect(unseenOnDisk()).toEqual(['m1']);
    expect(idsOf(await say('checkMessages'))).toEqual(['m1']);
  });

  it('is one reader’s on one connection, and kept from others while that is open', async () => {
    const connection = new Agent({ keepAlive: true, maxSockets: 1 });
    const sayOn = (verb: string, body: unknown = {}) => ask(workspace.guest.agentSocket, verb, body, { agent: connection });
    const { host } = workspace;
    for (let index = 0; index < 3; index += 1) host.send();
    await stored(3);
    expect(idsOf(await sayOn('checkMessages', { limit: 1 }))).toEqual(['m1']);
    expect((await say('checkMessages', { keep: true })).json).toMatchObject({ messages: [{ seq: 2 }, { seq: 3 }], unacked: 2 });
    expect(idsOf(await sayOn('checkMessages', { limit: 1 }))).toEqual(['m2']);
    expect(unseenOnDisk()).toEqual(['m2', 'm3']);
    connection.destroy();
    await vi.waitFor(async () => expect(idsOf(await say('checkMessages', { keep: true }))).toEqual(['m2', 'm3']), soon);
    expect(unseenOnDisk()).toEqual(['m2', 'm3']);
  });

  it('is kept from others while the process lives that has said which it is, and shown to them when it was killed', async () => {
    workspace.host.send();
    await stored(1);
    const holder = spawn('sleep', ['1000']);
    try {
      await once(holder, 'spawn');
      const stat = readFileSync(`/proc/${holder.pid}/stat`, 'latin1');
      const word = `process ${holder.pid} ${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]}`;
      expect(idsOf(await sayAs(word, 'checkMessages'))).toEqual(['m1']);
      expect(idsOf(await say('checkMessages', { keep: true }))).toEqual([]);
    } finally {
      holder.kill('SIGKILL');
    }
    await once(holder, 'exit');
    await say('listAgents');
    expect(unseenOnDisk()).toEqual(['m1']);
    expect(idsOf(await say('checkMessages'))).toEqual(['m1']);
  });

  it('is shown to others when it went to a process of which only the number is there again', async () => {
    workspace.host.send();
    await stored(1);
    await sayAs(`process ${process.pid} 1`, 'checkMessages');
    expect(idsOf(await say('checkMessages'))).toEqual(['m1']);
  });

  it('acknowledges only what it has returned, and with `keep` not even that', async () => {
    const { host } = workspace;
    host.send();
    await stored(1);
    await sayAs('me', 'checkMessages');
    host.send();
    await stored(2);
    await sayAs('me', 'checkMessages', { keep: true });
    await sayAs('me', 'checkMessages', { keep: true });
    expect(unseenOnDisk()).toEqual(['m2']);
  });

  it('shows again what the run before has returned and nobody has acknowledged', async () => {
    workspace.host.send();
    await stored(1);
    await say('checkMessages');
    await workspace.restart();
    await workspace.configure({ card: CARD });
    expect((await say('checkMessages')).json.messages).toMatchObject([{ message_id: 'm1' }]);
  });

  it('works without the host, says so, and tells it later what was seen', async () => {
    const { host } = workspace;
    host.send();
    await stored(1);
    workspace.connection.destroy();
    await vi.waitFor(async () => {
      const { json } = await say('checkMessages', { keep: true });
      expect(json).toMatchObject({ messages: [{ message_id: 'm1' }], open_requests: [], note: expect.stringContaining('not connected') });
    }, soon);
    await say('checkMessages', { ack: ['m1'], limit: 0 });
    expect(unseenOnDisk()).toEqual([]);
    expect(seenByHost()).toEqual([]);
    await workspace.connect();
    await reported('m1');
  });
});

describe('waitForMessage', () => {
  it.each([
    [{}, 'm1'],
    [{ from: 'carl' }, 'm2'],
    [{ message_type: 'response' }, 'm3'],
    [{ request_id: 'r1' }, 'm4'],
    [{ from: 'carl', message_type: 'response', request_id: 'r1' }, 'm4'],
  ])('with %j gives %s, which is there already, as often as it is asked', async (params, id) => {
    const { host } = workspace;
    host.send();
    host.send({ from: 'carl' });
    host.send({ message_type: 'response' });
    host.send({ from: 'carl', message_type: 'response', request_id: 'r1' });
    await stored(4);
    for (let time = 0; time < 2; time += 1) {
      expect((await say('waitForMessage', params)).json).toMatchObject({ message: { message_id: id }, timed_out: false });
    }
    expect(unseenOnDisk()).toEqual(['m1', 'm2', 'm3', 'm4']);
    expect(seenByHost()).toEqual([]);
  });

  it('wakes up when what it waits for comes, and not for anything else', async () => {
    const { host } = workspace;
    const waiting = say('waitForMessage', { from: 'carl', timeout_seconds: 20 });
    host.send();
    host.assign({ command: 'true' });
    await stored(2);
    host.send({ from: 'carl' });
    expect((await waiting).json).toMatchObject({ message: { seq: 3 }, timed_out: false });
  });

  it('ends when the time is over', async () => {
    expect((await say('waitForMessage', { timeout_seconds: 1 })).json).toEqual({ message: null, timed_out: true });
  });

  it('does not give what was seen', async () => {
    workspace.host.send();
    await stored(1);
    await say('checkMessages', { ack: ['m1'], limit: 0 });
    expect((await say('waitForMessage', { timeout_seconds: 1 })).json).toMatchObject({ timed_out: true });
  });

  it('ends with the guest', async () => {
    const waiting = say('waitForMessage', { timeout_seconds: 120 }).catch((error: Error) => error.message);
    await vi.waitFor(async () => expect((await say('checkMessages', { limit: 0 })).status).toBe(200), soon);
    await workspace.relay.close();
    expect(await waiting).toMatch(/hang up|ECONNRESET|ECONNREFUSED|ENOENT/);
  });
});
