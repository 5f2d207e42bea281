/** What guests may ask of the host, with real mail on disk. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Agent, Task } from '#api/types.ts';
import type { RelayDesk } from '#guest/create-sessions.ts';
import { silentLogger } from '#lib/log.ts';
import type { Mail } from '#mail/mail.ts';
import { openMail } from '#mail/open-mail.ts';
import { bench, newAgent, newTeam } from '../test/support/controllers.ts';
import { createRelayDesk } from './relay-desk.ts';

let folder: string;
let mail: Mail;
let desk: RelayDesk;
let world: ReturnType<typeof bench>;
const uid = new Map<string, string>();
const hints: [uid: string, nextSeq: number][] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agentiso-desk-'));
  mail = openMail({ directory: join(folder, 'mail'), log: silentLogger });
  world = bench();
  const { client, store } = world;
  for (const [team, parent] of [
    ['a', null],
    ['a-b', null],
    ['child', 'a'],
  ] as const) {
    await client.create(newTeam(team, { roles: [{ name: 'coder' }, { name: 'lead' }], ...(parent && { parent }) }));
    for (const name of ['coder', 'lead']) {
      const agent = await client.create<Agent>(newAgent(`${team}-${name}`, { team }));
      uid.set(`${team}/${name}`, agent.metadata.uid);
    }
  }
  desk = createRelayDesk({
    client,
    mail,
    agentByUid: (id) => store.list('Agent').items.find(({ metadata }) => metadata.uid === id) as Agent | undefined,
    hint: (id, nextSeq) => void hints.push([id, nextSeq]),
  });
});

afterEach(async () => {
  hints.length = 0;
  await mail.close();
  await rm(folder, { recursive: true, force: true });
});

const id = (name: string) => uid.get(name) ?? '';
const inbox = async (name: string) =>
  (await desk.teamReceive(id(name), { after: 0, limit: 100 })).messages.map(({ from, to, content }) => `${from} -> ${to}: ${content}`);

it('takes mail for a team mate by either name, and the sender is who asks', async () => {
  await desk.teamMessage(id('a/coder'), { to: 'lead', content: 'one' });
  await desk.teamMessage(id('a/coder'), { to: 'a-lead', content: 'two' });
  expect(await inbox('a/lead')).toEqual(['coder -> lead: one', 'coder -> lead: two']);
  expect(await inbox('a-b/lead')).toEqual([]);
});

it('tells the recipient at once that there is mail', async () => {
  await desk.teamMessage(id('a/coder'), { to: 'lead', content: 'one' });
  await desk.teamMessage(id('a/coder'), { to: 'lead', content: 'two' });
  expect(hints).toEqual([
    [id('a/lead'), 2],
    [id('a/lead'), 3],
  ]);
});

it('lets a team and its direct sub-team talk, and nobody else', async () => {
  await desk.teamMessage(id('a/coder'), { to: 'child/coder', content: 'down' });
  await desk.teamMessage(id('child/coder'), { to: 'a/coder', content: 'up' });
  expect([await inbox('child/coder'), await inbox('a/coder')]).toEqual([['coder -> coder: down'], ['coder -> coder: up']]);
  await expect(desk.teamMessage(id('a/coder'), { to: 'a-b/coder', content: 'x' })).rejects.toMatchObject({ code: 'Forbidden' });
  await expect(desk.teamMessage(id('child/coder'), { to: 'a-b/lead', content: 'x' })).rejects.toMatchObject({ code: 'Forbidden' });
});

it.each(['nobody', 'b-coder', 'child/nobody', '', 'a/'])('knows no agent %j', async (to) => {
  await expect(desk.teamMessage(id('a/coder'), { to, content: 'x' })).rejects.toMatchObject({ code: 'NotFound' });
});

it('refuses mail in another name, but for what a peer handed in to the agent itself, and says who handed it on', async () => {
  await expect(desk.teamMessage(id('a/coder'), { to: 'lead', content: 'x', from: 'lead' })).rejects.toMatchObject({ code: 'Forbidden' });
  await desk.teamMessage(id('a/coder'), { to: 'coder', content: 'hello', from: 'lead' });
  const { messages } = await desk.teamReceive(id('a/coder'), { after: 0, limit: 1 });
  expect(messages).toMatchObject([{ from: 'lead', metadata: { relayed_by: 'coder' } }]);
  await expect(desk.teamMessage(id('a/coder'), { to: 'coder', content: 'x', from: 'a-b/lead' })).rejects.toMatchObject({
    code: 'Forbidden',
  });
});

it('hands mail out again until it is acked, and says which ids it does not know', async () => {
  const { message_id } = await desk.teamMessage(id('a/lead'), { to: 'coder', content: 'x' });
  expect((await desk.teamReceive(id('a/coder'), { after: 0, limit: 10 })).nextSeq).toBe(2);
  expect(await desk.teamAck(id('a/coder'), { storedSeq: 1, seen: [message_id, 'no-such-id'] })).toEqual({ unknown: ['no-such-id'] });
  expect((await mail.open(id('a/coder'))).state).toMatchObject({ deliveredSeq: 1, unacked: 0 });
});

it('makes a Task for the agent that asks', async () => {
  const { task } = await desk.taskCreate(id('a/coder'), { title: 'Build', command: 'make', timeoutSeconds: 7 });
  expect(world.get<Task>('Task', task)?.spec).toMatchObject({ team: 'a', assignTo: 'coder', command: 'make', timeoutSeconds: 7 });
});

it('takes orders from the lead only, and an assignment from no agent', async () => {
  const order = { content: 'x', message_type: 'shutdown_request' as const };
  await desk.teamMessage(id('a/lead'), { to: 'coder', ...order });
  await expect(desk.teamMessage(id('a/coder'), { to: 'lead', ...order })).rejects.toMatchObject({ code: 'Forbidden' });
  const assignment = { to: 'coder', content: '{}', message_type: 'task_assignment' as const };
  await expect(desk.teamMessage(id('a/lead'), assignment)).rejects.toMatchObject({ code: 'Forbidden' });
});

it('answers no more than a frame holds, and the rest when asked again', async () => {
  const content = 'x'.repeat(250_000);
  for (let i = 0; i < 20; i++) await desk.teamMessage(id('a/lead'), { to: 'coder', content });
  const first = await desk.teamReceive(id('a/coder'), { after: 0, limit: 100 });
  expect(Buffer.byteLength(JSON.stringify(first))).toBeLessThan(4_000_000);
  const rest = await desk.teamReceive(id('a/coder'), { after: first.messages.length, limit: 100 });
  expect(first.messages.length + rest.messages.length).toBe(20);
});

it('knows nobody who is gone', async () => {
  await expect(desk.teamReceive('no-such-uid', { after: 0, limit: 1 })).rejects.toMatchObject({ code: 'FenceLost' });
});
