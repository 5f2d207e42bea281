/** What guests may ask of the host: each verb reaches the room that answers it, as the agent at the other end of the connection. */
import { expect, it } from 'vitest';
import { AgentisoError } from '#lib/errors.ts';
import { relayToHost } from '#protocol/relay.ts';
import type { Vault } from '#vault/vault.ts';
import type { Principal } from './principal.ts';
import { relayWorld } from './relay.fixture.ts';
import type { TaskBook } from './task-book.ts';

const context = { signal: new AbortController().signal };

async function guests() {
  const world = await relayWorld();
  const desk = world.desk();
  const message = (who: string, params: Parameters<typeof desk.teamMessage>[1]) => desk.teamMessage(world.ownerOf(who), params, context);
  const receive = (who: string, after = 0, limit = 100) => desk.teamReceive(world.ownerOf(who), { after, limit }, context);
  return { ...world, desk: () => desk, message, receive };
}

it('has an answer to every verb of the protocol', async () => {
  const { desk } = await guests();
  const verbs = Object.keys(relayToHost).filter((verb) => verb !== 'ping' && verb !== 'heartbeat');
  expect(Object.keys(desk()).sort()).toEqual(verbs.sort());
});

it('takes mail and answers in the words of the protocol', async () => {
  const { message, receive } = await guests();
  const one = await message('a/lead', { to: 'coder', content: 'hello', request_id: 'r', metadata: { a: 'b' } });
  expect(relayToHost.teamMessage.result(one, 'result')).toEqual({ message_id: expect.any(String), state: 'Accepted', delivered: false });
  const all = await message('a/lead', { to: '*', content: 'all', reply_to: undefined as never });
  expect(relayToHost.teamMessage.result(all, 'result')).toMatchObject({ accepted: ['coder', 'tester'], failed: [] });
  const { messages, nextSeq } = await receive('a/coder');
  expect([messages[0], nextSeq]).toMatchObject([
    { from: 'lead', request_id: 'r', metadata: { a: 'b' }, from_incarnation: 'run-of-a/lead' },
    3,
  ]);
  await expect(message('a/coder', { to: 'lead', content: 'x', reply_to: 'no-such-id' })).rejects.toMatchObject({ code: 'NotFound' });
  await expect(message('a/coder', { to: 'tester', content: 'x', from: 'lead' })).rejects.toMatchObject({ code: 'Forbidden' });
});

it('hands mail out again until it is acked, and says which ids it does not know', async () => {
  const { message, receive, desk, ownerOf, mailbox } = await guests();
  const { message_id } = await message('a/lead', { to: 'coder', content: 'x' });
  for (let i = 0; i < 2; i++) expect((await receive('a/coder')).messages).toHaveLength(1);
  expect(await desk().teamAck(ownerOf('a/coder'), { storedSeq: 1, seen: [] }, context)).toEqual({ unknown: [] });
  const acked = await desk().teamAck(ownerOf('a/coder'), { storedSeq: 1, seen: [message_id, 'no-such-id'] }, context);
  expect(acked).toEqual({ unknown: ['no-such-id'] });
  expect((await mailbox('a/coder')).state).toMatchObject({ deliveredSeq: 1, unacked: 0 });
});

it('writes what a guest has stored and what its agent has seen by one write, and tells of both in this order', async () => {
  const { message, desk, ownerOf, mailbox, mail } = await guests();
  const { message_id } = await message('a/lead', { to: 'coder', content: 'x' });
  const box = await mailbox('a/coder');
  const told: unknown[] = [];
  const stop = mail.onChange(({ state, messages }) => told.push([state, messages.map(({ content }) => content), box.state.unacked]));
  await desk().teamAck(ownerOf('a/coder'), { storedSeq: 1, seen: [message_id] }, context);
  // When the first is told, the second is on disk as well.
  expect(told).toEqual([
    ['Delivered', ['x'], 0],
    ['Seen', ['x'], 0],
  ]);
  stop();
});

it('answers no more than a frame holds, and the rest when asked again', async () => {
  const { message, receive } = await guests();
  const content = 'x'.repeat(250_000);
  for (let i = 0; i < 20; i++) await message('a/lead', { to: 'coder', content });
  const first = await receive('a/coder');
  expect(Buffer.byteLength(JSON.stringify(first))).toBeLessThan(4_000_000);
  const rest = await receive('a/coder', first.messages.length);
  expect(first.messages.length + rest.messages.length).toBe(20);
});

it('knows nobody who is gone, and no run that is over', async () => {
  const { desk, ownerOf } = await guests();
  await expect(desk().teamReceive('no-such-uid', { after: 0, limit: 1 }, context)).rejects.toMatchObject({ code: 'FenceLost' });
  const former = { ...context, incarnation: 'an-older-run' };
  await expect(desk().teamMessage(ownerOf('a/coder'), { to: 'lead', content: 'x' }, former)).rejects.toMatchObject({ code: 'FenceLost' });
  await expect(desk().teamReceive(ownerOf('a/coder'), { after: 0, limit: 1 }, former)).rejects.toMatchObject({ code: 'FenceLost' });
  await expect(desk().listAgents(ownerOf('a/coder'), {}, former)).rejects.toMatchObject({ code: 'FenceLost' });
});

/** Answers everything, and says what it was asked. */
function asked(answers: Readonly<Record<string, unknown>>) {
  const calls: unknown[][] = [];
  const target = new Proxy({} as Record<string, unknown>, {
    get:
      (_, name: string) =>
      (...args: unknown[]) => {
        calls.push([name, ...args.map((arg) => ((arg as Principal | undefined)?.kind === 'agent' ? 'the caller' : arg))]);
        return answers[name];
      },
  });
  return { calls, target };
}

it('asks the book about tasks of the own team, and about no other', async () => {
  const { relay, ownerOf } = await guests();
  const { calls, target } = asked({
    createTask: Promise.resolve({ name: 'task-001' }),
    openRequests: [],
    request: Promise.resolve({ requestId: 'r-1' }),
    claim: Promise.resolve({ claimed: false, message: 'lost', winner: 'tester' }),
    release: Promise.resolve('pending'),
    complete: Promise.resolve('completed'),
    update: Promise.resolve('blocked'),
    submitPlan: Promise.resolve({ round: 1 }),
    decidePlan: Promise.resolve('approved'),
  });
  const desk = relay.deskFor({ book: target as unknown as TaskBook, vault: {} as Vault });
  const uid = ownerOf('a/coder');
  const place = { namespace: 'default', team: 'a' };
  const answers = [
    await desk.taskCreate(uid, { title: 'Build', command: 'make', timeoutSeconds: 7 }, context),
    await desk.openRequests(uid, {}, context),
    await desk.requestTask(uid, { description: 'help', context: 'c' }, context),
    await desk.claimRequest(uid, { request_id: 'r-1' }, context),
    await desk.releaseTask(uid, { task: 't' }, context),
    await desk.completeTask(uid, { task: 't', attempt: 1, result: 'done' }, context),
    await desk.updateTask(uid, { task: 't', status: 'blocked', reason: 'why' }, context),
    await desk.submitPlan(uid, { task: 't', plan: 'p' }, context),
    await desk.approvePlan(uid, { task: 't', approved: true, feedback: 'f' }, context),
  ];
  expect(answers).toEqual([
    { task: 'task-001' },
    { requests: [] },
    { request_id: 'r-1', status: 'open' },
    { claimed: false, message: 'lost', winner: 'tester' },
    { status: 'pending' },
    { status: 'completed' },
    { status: 'blocked' },
    { round: 1 },
    { status: 'approved' },
  ]);
  const task = { ...place, task: 't' };
  expect(calls).toEqual([
    ['createTask', 'the caller', { ...place, title: 'Build', command: 'make', assignTo: 'coder', timeoutSeconds: 7 }],
    ['openRequests', 'default', 'a', 'the caller', 10],
    ['request', 'the caller', { ...place, description: 'help', context: 'c', timeoutSeconds: 30 }],
    ['claim', 'the caller', { ...place, task: 'r-1' }],
    ['release', 'the caller', task],
    ['complete', 'the caller', task, { attempt: 1, result: 'done' }],
    ['update', 'the caller', task, { status: 'blocked', reason: 'why' }],
    ['submitPlan', 'the caller', task, 'p'],
    ['decidePlan', 'the caller', task, { approved: true, feedback: 'f' }],
  ]);
});

it('opens the vault with the eyes of the own team, and passes refusals on', async () => {
  const { relay, ownerOf } = await guests();
  const note = { path: 'notes/x.md', content: 'x', version: '1', frontmatter: {} };
  const { calls, target } = asked({
    read: Promise.resolve(note),
    write: Promise.reject(new AgentisoError('Conflict', 'stale')),
    search: Promise.resolve({ hits: [], isCut: true }),
    list: Promise.resolve({ entries: [], isCut: false }),
  });
  const desk = relay.deskFor({ book: {} as TaskBook, vault: target as unknown as Vault });
  const uid = ownerOf('a/coder');
  expect(await desk.vaultRead(uid, { path: 'notes/x.md' }, context)).toEqual(note);
  const stale = { path: 'notes/x.md', content: 'y', mode: 'append' as const, if_version: '0' };
  await expect(desk.vaultWrite(uid, stale, context)).rejects.toMatchObject({ code: 'Conflict' });
  expect(await desk.vaultSearch(uid, { pattern: 'a.b', is_regex: true, limit: 3 }, context)).toEqual({ hits: [], is_cut: true });
  expect(await desk.vaultList(uid, { recursive: true }, context)).toEqual({ entries: [], is_cut: false });
  const scope = { namespace: 'default', team: 'a' };
  expect(calls).toEqual([
    ['read', scope, 'notes/x.md'],
    ['write', scope, 'notes/x.md', 'y', { mode: 'append', ifVersion: '0' }],
    ['search', scope, { pattern: 'a.b', isRegex: true, limit: 3 }, context.signal],
    ['list', scope, { recursive: true }],
  ]);
});

it('tells who is there and what is left', async () => {
  const { desk, ownerOf } = await guests();
  const { agents } = await desk().listAgents(ownerOf('twin/coder'), {}, context);
  expect(relayToHost.listAgents.result({ agents }, 'result').agents.map(({ team, name }) => `${team}/${name}`)).toContain('a/lead');
  const budget = await desk().getBudget(ownerOf('a/coder'), {}, context);
  expect(relayToHost.getBudget.result(budget, 'result')).toEqual(budget);
  const made = await desk().createSubTeam(ownerOf('a/lead'), { name: 'docs', roles: [{ name: 'writer' }] }, context);
  expect(relayToHost.createSubTeam.result(made, 'result')).toMatchObject({ success: true, team_name: 'docs', member_count: 1 });
});

it('goes on behind what an agent has, where the journal of its mailbox was lost', async () => {
  const { desk, message, receive, ownerOf } = await guests();
  await message('a/lead', { to: 'coder', content: 'after the loss' });
  const { messages } = await receive('a/coder', 7);
  expect(messages).toMatchObject([{ seq: 8, content: 'after the loss' }]);
  await expect(desk().teamAck(ownerOf('a/coder'), { storedSeq: 8, seen: [] }, context)).resolves.toEqual({ unknown: [] });
  await desk().teamAck(ownerOf('a/tester'), { storedSeq: 5, seen: [] }, context);
  await message('a/lead', { to: 'tester', content: 'next' });
  expect((await receive('a/tester', 5)).messages).toMatchObject([{ seq: 6, content: 'next' }]);
});
