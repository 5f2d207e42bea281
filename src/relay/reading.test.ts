/** What people read of all inboxes, and hear as it happens. Nothing that is read changes anything. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { FiledMessage, MessageQuery } from './post.ts';
import { OPERATOR_OF, type RelayWorld, relayWorld } from './relay.fixture.ts';

const lines = (filed: readonly FiledMessage[]) => filed.map(({ inbox, message, state }) => `${inbox} ${message.content} ${state}`);
const read = async ({ post }: RelayWorld, query: Partial<MessageQuery> = {}) =>
  lines(await post.read(OPERATOR_OF, { namespace: 'default', limit: 100, ...query }));

/** Every copy in another state. */
async function someMail() {
  const world = await relayWorld();
  const { send, write, mailbox, pass, relay } = world;
  await send('a/lead', { to: 'coder', content: 'seen', requestId: 'r' });
  pass(1_000);
  await relay.notices.tell({ namespace: 'default', team: 'a', to: 'coder', type: 'text', content: 'dead', key: 'k' });
  for (const content of ['delivered', 'accepted']) {
    pass(1_000);
    await send('a/lead', { to: 'coder', content });
  }
  pass(1_000);
  const coder = await mailbox('a/coder');
  const [first, second] = coder.read({ after: 0, limit: 2 });
  await coder.markDelivered(3);
  await coder.ack([first?.message_id ?? '']);
  await coder.giveUp([second?.message_id ?? '']);
  await send('child/coder', { to: 'lead', content: 'question', type: 'request' });
  pass(1_000);
  await write('coder', { content: 'last' });
  await coder.append({ namespace: 'default', team: 'a', from: 'system', to: 'coder', message_type: 'task_assignment', content: '{}' });
  return world;
}

it('shows every copy with its state, newest last, and no assignment', async () => {
  const world = await someMail();
  expect(await read(world)).toEqual([
    'a/coder seen Seen',
    'a/coder dead DeadLetter',
    'a/coder delivered Delivered',
    'a/coder accepted Accepted',
    'child/orchestrator question Accepted',
    'a/coder last Accepted',
  ]);
});

it.each<[name: string, query: Partial<MessageQuery>, found: string[]]>([
  ['a team', { team: 'child' }, ['question']],
  ['an inbox of a team', { team: 'a', inbox: 'coder' }, ['seen', 'dead', 'delivered', 'accepted', 'last']],
  ['the lead of a team without one', { team: 'child', inbox: 'lead' }, ['question']],
  ['the lead of every team', { inbox: 'lead' }, ['question']],
  ['people everywhere', { inbox: 'orchestrator' }, ['question']],
  ['a sender', { from: 'orchestrator' }, ['last']],
  ['a type', { type: 'request' }, ['question']],
  ['a request', { requestId: 'r' }, ['seen']],
  ['what nobody has seen', { unseen: true }, ['delivered', 'accepted', 'question', 'last']],
  ['the newest, filtered before they are counted', { inbox: 'coder', from: 'lead', limit: 2 }, ['delivered', 'accepted']],
  ['another namespace', { namespace: 'elsewhere' }, []],
])('finds %s', async (_name, query, found) => {
  const world = await someMail();
  expect((await read(world, query)).map((line) => line.split(' ')[1])).toEqual(found);
});

it('says what is not there', async () => {
  const world = await someMail();
  await expect(read(world, { team: 'nowhere' })).rejects.toMatchObject({ code: 'NotFound' });
  await expect(read(world, { team: 'a', inbox: 'nobody' })).rejects.toMatchObject({ code: 'NotFound' });
});

it('lets an agent read its own inbox and no other', async () => {
  const { post, as } = await someMail();
  const query = { namespace: 'default', limit: 100 };
  expect(lines(await post.read(as('child/coder'), query))).toEqual([]);
  expect(await post.read(as('a/coder'), { ...query, team: 'child' })).toHaveLength(5);
  for (const inbox of ['tester', 'lead', 'orchestrator']) {
    await expect(post.read(as('a/coder'), { ...query, inbox }), inbox).rejects.toMatchObject({ code: 'Forbidden' });
  }
});

it('changes no byte of any mailbox by reading and following', async () => {
  const world = await someMail();
  const { post, folder, ownerOf, mailbox } = world;
  const bytes = () => ['a/coder', 'child/orchestrator'].map((name) => readFileSync(join(folder, 'mail', `${ownerOf(name)}.jsonl`), 'utf8'));
  const [before, state] = [bytes(), (await mailbox('a/coder')).state];
  for (let i = 0; i < 3; i++) await read(world);
  const stop = new AbortController();
  for await (const _ of post.follow(OPERATOR_OF, { namespace: 'default' }, stop.signal)) stop.abort();
  expect(bytes()).toEqual(before);
  expect((await mailbox('a/coder')).state).toEqual(state);
});

it('is acknowledged by whom it was written to', async () => {
  const { post, as, send, mailbox } = await relayWorld();
  const { messageId } = await send('child/coder', { to: 'lead' });
  const people = { namespace: 'default', team: 'child', inbox: 'lead' };
  await expect(post.acknowledge(as('child/coder'), people, [messageId])).rejects.toMatchObject({ code: 'Forbidden' });
  expect(await post.acknowledge(OPERATOR_OF, people, [messageId, 'unknown'])).toEqual({ unknown: ['unknown'] });
  expect((await mailbox('child/orchestrator')).state.unacked).toBe(0);
  const { messageId: other } = await send('a/coder', { to: 'lead' });
  const lead = { namespace: 'default', team: 'a', inbox: 'lead' };
  await expect(post.acknowledge(OPERATOR_OF, lead, [other])).rejects.toMatchObject({ code: 'Forbidden' });
  expect(await post.acknowledge(as('a/lead'), lead, [other])).toEqual({ unknown: [] });
});

/** Collects what is followed until the test ends. */
function following({ post }: RelayWorld, query: Omit<MessageQuery, 'limit' | 'namespace'> = {}): string[] {
  const stop = new AbortController();
  const heard: string[] = [];
  const done = (async () => {
    for await (const filed of post.follow(OPERATOR_OF, { namespace: 'default', ...query }, stop.signal)) heard.push(...lines([filed]));
  })();
  onTestFinished(async () => {
    stop.abort();
    await done;
  });
  return heard;
}

it('is heard as it happens, after what was there, each step once', async () => {
  const world = await relayWorld();
  const { send, mailbox, mail, ownerOf, client, addTeam, addAgent } = world;
  await send('a/lead', { to: 'coder', content: 'before' });
  const heard = following(world);
  await vi.waitFor(() => expect(heard).toEqual(['a/coder before Accepted']));
  const { messageId } = await send('a/lead', { to: 'coder', content: 'now' });
  const coder = await mailbox('a/coder');
  await coder.markDelivered(2);
  await coder.ack([messageId]);
  await addTeam('young');
  await addAgent('young', 'worker');
  await send('young/worker', { to: 'lead', content: 'new here' });
  await client.update({ ...world.agent('a/coder'), metadata: { ...world.agent('a/coder').metadata, finalizers: ['x/y'] } });
  await client.delete({ kind: 'Agent', namespace: 'default', name: 'a-coder' });
  await mail.remove(ownerOf('a/coder'));
  await vi.waitFor(() =>
    expect(heard.slice(1)).toEqual([
      'a/coder now Accepted',
      'a/coder before Delivered',
      'a/coder now Delivered',
      'a/coder now Seen',
      'young/orchestrator new here Accepted',
      'a/coder before DeadLetter',
      'a/lead your text to coder was given up: the recipient is gone Accepted',
    ]),
  );
});

it('gives what comes while it begins exactly once', async () => {
  const world = await relayWorld();
  const { send } = world;
  const sends = Array.from({ length: 20 }, (_, i) => send('a/lead', { to: 'coder', content: `${i}` }));
  const heard = following(world, { inbox: 'coder' });
  await Promise.all(sends);
  await send('a/lead', { to: 'tester', content: 'not asked for' });
  await send('a/lead', { to: 'coder', content: 'end' });
  await vi.waitFor(() => expect(heard.at(-1)).toBe('a/coder end Accepted'));
  expect(heard.map((line) => line.split(' ')[1])).toEqual([...Array.from({ length: 20 }, (_, i) => `${i}`), 'end']);
});

it('leaves nothing behind when the listener goes', async () => {
  const world = await relayWorld();
  const stop = new AbortController();
  const iterator = world.post.follow(OPERATOR_OF, { namespace: 'default' }, stop.signal)[Symbol.asyncIterator]();
  const waiting = iterator.next();
  stop.abort();
  expect(await waiting).toEqual({ done: true, value: undefined });
});
