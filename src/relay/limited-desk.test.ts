/** Agents at the relay, over real connections: how fast they may ask, and what stands in the log of calls about it. */
import { expect, it, onTestFinished } from 'vitest';
import { connectRelay } from '#guest/relay.ts';
import type { AuditEntry } from '#lib/audit.ts';
import { AgentisoError } from '#lib/errors.ts';
import { agentTools } from '#protocol/agent-tools.ts';
import { Channel } from '#protocol/channel.ts';
import { GENERATION } from '#protocol/common.ts';
import { ProtocolError } from '#protocol/protocol-error.ts';
import { type RelayToGuest, type RelayToHost, type RelayToHostHandlers, relayToGuest, relayToHost } from '#protocol/relay.ts';
import type { Vault } from '#vault/vault.ts';
import { socketPair } from '../../test/support/socket-pair.ts';
import { createRates } from './create-rates.ts';
import { AGENT_CALLS, limitedDesk } from './limited-desk.ts';
import { relayWorld } from './relay.fixture.ts';
import type { TaskBook } from './task-book.ts';

const MARKER = 'marker-that-nobody-may-write';

interface Answers {
  readonly book?: Partial<TaskBook>;
  readonly vault?: Partial<Vault>;
}

async function limitedRelay(answers: Answers = {}) {
  const world = await relayWorld();
  let now = 0;
  const records: AuditEntry[] = [];
  const rates = createRates({ nowMs: () => now });
  const agentByUid = (uid: string) => ['a/coder', 'a/lead', 'a/tester'].map(world.agent).find(({ metadata }) => metadata.uid === uid);
  const audit = { record: (entry: AuditEntry) => void records.push(entry) };
  const desk = limitedDesk(world.desk(answers), { rates, audit, agentByUid, nowMs: () => now });
  /** A guest's end of a new relay connection of this agent. */
  const connect = async (address: string): Promise<Channel<RelayToHost, RelayToGuest>> => {
    const { near, far, destroy } = await socketPair();
    onTestFinished(destroy);
    const [id, incarnation] = [world.ownerOf(address), `run-of-${address}`];
    const ping = async () => ({ version: '1', generation: GENERATION, uptimeMs: 0 });
    const hello = async () => ({ version: '1', generation: GENERATION, id, incarnation });
    const channel: Channel<RelayToHost, RelayToGuest> = new Channel(far, {
      outgoing: relayToHost,
      incoming: relayToGuest,
      handlers: { ping, hello, messageHint: async () => ({}) },
    });
    const asked = Object.entries(desk).map(([verb, answer]) => {
      const ask = answer as (uid: string, params: unknown, context: object) => Promise<unknown>;
      return [verb, (params: unknown, context: object) => ask(id, params, { ...context, incarnation })];
    });
    const handlers = { ping, heartbeat: async () => ({}), ...Object.fromEntries(asked) } as RelayToHostHandlers;
    await connectRelay(near, { id, incarnation, handlers, signal: AbortSignal.timeout(10_000) });
    return channel;
  };
  const wait = (ms: number) => {
    now += ms;
  };
  return { ...world, limited: desk, records, connect, wait };
}

const refusalOf = async (call: Promise<unknown>): Promise<object> => {
  const error = await call.then(
    () => expect.unreachable('it passed'),
    (refused: unknown) => refused,
  );
  if (!(error instanceof ProtocolError)) throw error;
  return { code: error.code, message: error.message, ...error.details };
};

it('knows the tools of agents by their names and categories', () => {
  const verbs: Readonly<Record<string, keyof typeof AGENT_CALLS>> = { sendMessage: 'teamMessage', checkMessages: 'openRequests' };
  // The guest answers it alone.
  const asked = agentTools.filter(({ verb }) => verb !== 'waitForMessage');
  const calls = asked.map(({ verb }) => AGENT_CALLS[verbs[verb] ?? (verb as keyof typeof AGENT_CALLS)]);
  expect(calls.map((call) => [call?.tool, call?.category])).toEqual(asked.map(({ name, category }) => [name, category]));
});

it('takes fifty messages at once, refuses the next on every connection of that agent, and one more passes 200 ms later', async () => {
  const { connect, wait, inbox } = await limitedRelay();
  const [one, two, other] = await Promise.all([connect('a/coder'), connect('a/coder'), connect('a/lead')]);
  const send = (channel: typeof one, content: string) => channel.call('teamMessage', { to: 'tester', content });
  await Promise.all(Array.from({ length: 50 }, (_, at) => send(at % 2 ? one : two, `${at}`)));
  const refusal = {
    code: 'RateLimited',
    message: 'Rate limit exceeded for team_message operations. Maximum 300 calls per minute. Please wait and retry.',
    hint: 'wait 200 ms and call again',
    retryAfterMs: 200,
  };
  expect(await refusalOf(send(one, 'too much'))).toEqual(refusal);
  expect(await refusalOf(send(two, 'too much'))).toEqual(refusal);
  expect(await one.call('getBudget', {})).toMatchObject({ max_agents: 20 });
  await send(other, 'of another');
  wait(199);
  expect(await refusalOf(send(one, 'too much'))).toMatchObject({ retryAfterMs: 1 });
  wait(1);
  await send(two, 'in time');
  expect(await refusalOf(send(one, 'too much'))).toMatchObject({ retryAfterMs: 200 });
  const got = await inbox('a/tester');
  expect([got.length, got.filter((line) => line.includes('too much'))]).toEqual([52, []]);
});

it('counts each of several messages in one call: each takes its token, and each stands in the log', async () => {
  const { connect, records, inbox } = await limitedRelay();
  const guest = await connect('a/coder');
  const messages = Array.from({ length: 52 }, (_, at) => ({ to: at === 3 ? 'nobody' : 'tester', content: `${MARKER} ${at}` }));
  const { results } = await guest.call('teamMessages', { messages });
  const refused = results.flatMap(({ error }, at) => (error ? [[at, error.code, error.retryAfterMs]] : []));
  expect(refused).toEqual([
    [3, 'NotFound', undefined],
    [50, 'RateLimited', 200],
    [51, 'RateLimited', 200],
  ]);
  expect(results.filter(({ message_id }) => message_id !== undefined)).toHaveLength(49);
  expect(await inbox('a/tester')).toHaveLength(49);
  expect(await refusalOf(guest.call('teamMessage', { to: 'tester', content: 'too much' }))).toMatchObject({ code: 'RateLimited' });
  const sent = records.filter(({ tool }) => tool === 'send_message');
  expect(sent.slice(0, 52).map(({ outcome }) => outcome)).toEqual(results.map(({ error }) => error?.code ?? 'ok'));
  expect(sent[3]).toMatchObject({ who: 'agent:default/a/coder', resource: 'agent/nobody' });
  expect(JSON.stringify(records)).not.toContain(MARKER);
});

it('does not count what the guest does by itself', async () => {
  const { connect, records } = await limitedRelay();
  const guest = await connect('a/coder');
  for (let each = 0; each < 100; each += 1) {
    await guest.call('teamReceive', { after: 0, limit: 10 });
    await guest.call('teamAck', { storedSeq: 0, seen: [] });
    await guest.call('ping', {});
  }
  for (let each = 0; each < 20; each += 1) await guest.call('listAgents', {});
  expect(await refusalOf(guest.call('getBudget', {}))).toMatchObject({ code: 'RateLimited', retryAfterMs: 500 });
  expect(records.map(({ tool, outcome }) => `${tool} ${outcome}`)).toEqual([...Array(20).fill('list_agents ok'), 'get_budget RateLimited']);
});

it('charges a sub-team by its agents, after one has admitted it', async () => {
  const { connect, wait } = await limitedRelay();
  const lead = await connect('a/lead');
  const make = (name: string, count: number) => lead.call('createSubTeam', { name, roles: [{ name: 'dev', count }] });
  expect(await make('docs', 4)).toMatchObject({ member_count: 4 });
  // Of three, four were taken: one to pay back, and one to have.
  expect(await refusalOf(make('more', 1))).toMatchObject({ code: 'RateLimited', retryAfterMs: 24_000 });
  wait(24_000);
  expect(await refusalOf(make('vast', 1_000))).toMatchObject({ code: 'QuotaExceeded' });
  expect(await refusalOf(make('more', 1))).toMatchObject({ code: 'RateLimited', retryAfterMs: 12_000 });
});

it('records who asked for what and how it ended, and nothing of what was said', async () => {
  const no = async () => Promise.reject(new AgentisoError('Forbidden', MARKER));
  const book = { claim: no, complete: no, update: no, submitPlan: no, decidePlan: no, release: no };
  const asked = {
    createTask: async () => ({ name: 'task-001' }),
    request: async () => ({ requestId: 'task-002' }),
    openRequests: () => [],
  };
  const read = async (_scope: unknown, path: string) => ({ path, content: MARKER, version: '1', frontmatter: {} });
  const search = async () => Promise.reject(new TypeError(MARKER));
  const vault = { read, write: no, search, list: async () => ({ entries: [], isCut: false }) };
  const { connect, records, limited, wait } = await limitedRelay({ book: { ...book, ...asked } as Partial<TaskBook>, vault });
  const guest = await connect('a/coder');
  await guest.call('teamMessage', { to: 'lead', content: MARKER, metadata: { secret: MARKER }, request_id: MARKER });
  const calls: Promise<unknown>[] = [
    guest.call('teamMessage', { to: 'lead', content: MARKER, from: 'tester' }),
    guest.call('taskCreate', { title: MARKER, command: MARKER }),
    guest.call('requestTask', { description: MARKER, context: MARKER }),
    guest.call('openRequests', {}),
    guest.call('claimRequest', { request_id: 'task-001' }),
    guest.call('releaseTask', { task: 'task-001' }),
    guest.call('completeTask', { task: 'task-001', result: MARKER, artifacts: [MARKER] }),
    guest.call('updateTask', { task: 'task-001', status: 'failed', reason: MARKER, note: MARKER }),
    guest.call('submitPlan', { task: 'task-001', plan: MARKER }),
    guest.call('approvePlan', { task: 'task-001', approved: true, feedback: MARKER }),
    guest.call('createSubTeam', { name: 'sub', roles: [{ name: 'dev', systemPrompt: MARKER }] }),
    guest.call('vaultRead', { path: 'teams/a/notes/x.md' }),
    guest.call('vaultWrite', { path: 'teams/b/notes/x.md', content: MARKER }),
    guest.call('vaultSearch', { pattern: MARKER, path: 'teams/a' }),
    guest.call('vaultList', {}),
  ];
  await Promise.allSettled(calls);
  const gone = limited.getBudget('uid-of-nobody', {}, { signal: AbortSignal.abort() });
  wait(7);
  await expect(gone).rejects.toMatchObject({ code: 'FenceLost' });
  expect(records.slice(0, -1).map(({ who, mode }) => `${who} ${mode}`)).toEqual(Array(16).fill('agent:default/a/coder agent'));
  expect(records.at(-1)).toMatchObject({ who: 'agent:uid-of-nobody', durationMs: 7 });
  expect(records.map(({ tool, resource = '-', outcome }) => `${tool} ${resource} ${outcome}`).sort()).toEqual(
    [
      'send_message agent/lead ok',
      'send_message agent/lead Forbidden',
      'task_create task/task-001 ok',
      'request_task task/task-002 ok',
      'check_messages - ok',
      'claim_request task/task-001 Forbidden',
      'release_task task/task-001 Forbidden',
      'complete_task task/task-001 Forbidden',
      'update_task task/task-001 Forbidden',
      'submit_plan task/task-001 Forbidden',
      'approve_plan task/task-001 Forbidden',
      'create_sub_team team/sub Invalid',
      'vault_read vault/teams/a/notes/x.md ok',
      'vault_write vault/teams/b/notes/x.md Forbidden',
      'vault_search vault/teams/a Internal',
      'vault_list - ok',
      'get_budget - FenceLost',
    ].sort(),
  );
  expect(JSON.stringify(records)).not.toContain(MARKER);
});
