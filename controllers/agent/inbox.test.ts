/** The inbox in the status: with real mail, and no more writes than it is worth. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { Agent } from '#api/types.ts';
import { silentLogger } from '#lib/log.ts';
import { openMail } from '#mail/open-mail.ts';
import { Activity } from '#relay/activity.ts';
import { bench, conditionOf, newAgent } from '../../test/support/controllers.ts';
import { fakeDriver } from '../../test/support/fake-driver.ts';
import { fakeSessions } from '../../test/support/fake-sessions.ts';
import { agentController } from './controller.ts';
import type { AgentDeps } from './deps.ts';

async function withMail() {
  const folder = mkdtempSync(join(tmpdir(), 'agentiso-inbox-'));
  const world = bench();
  const agent = () => world.get<Agent>('Agent', 'a-one') as Agent;
  const mail = openMail({ directory: folder, log: silentLogger, clock: { now: world.ctx.now } });
  const agentByUid = (uid: string) => (agent()?.metadata.uid === uid ? agent() : undefined);
  const activity = new Activity({ mail, agentByUid, log: silentLogger, clock: { now: world.ctx.now }, timing: { everyMs: 20 } });
  onTestFinished(async () => {
    activity.close();
    await mail.close();
    rmSync(folder, { recursive: true });
  });
  const driver = fakeDriver();
  const controller = agentController({
    driverFor: () => driver,
    newIncarnation: () => 'run-1',
    workspaceChanges: () => () => {},
    sessions: fakeSessions(() => 0),
    placeOf: async () => ({ team: 1, egress: false }),
    surroundingsOf: async () => ({ httpAddress: null, agentToken: 'a', teamToken: null, peers: {} }),
    hostEnv: () => undefined,
    forward: async () => [],
    parentTeamOf: async () => null,
    writeCard: async () => {},
    graceMsOf: async () => 30_000,
    forget: async ({ metadata }) => mail.remove(metadata.uid),
    monotonicMs: () => 0,
    inbox: activity,
  } satisfies AgentDeps);
  const { metadata } = await world.client.create<Agent>(newAgent('a-one'));
  const look = () => world.reconcile(controller, 'Agent', 'a-one');
  await look();
  const mailbox = await mail.open(metadata.uid);
  const draft = { namespace: 'default', team: 'a', from: 'two', to: 'one', message_type: 'text' as const };
  const woken = vi.fn();
  for (const wake of controller.wakes ?? []) onTestFinished(wake(woken));
  return {
    ...world,
    agent,
    mail,
    mailbox,
    activity,
    look,
    woken,
    uid: metadata.uid,
    write: (content: string) => mailbox.append({ ...draft, content }),
  };
}

it('has a mailbox from the first look on', async () => {
  const { agent, look } = await withMail();
  expect(agent().status).toMatchObject({
    messagesPending: 0,
    mailbox: { nextSeq: 1, ackedSeq: 0, unacked: 0, oldestUnackedAt: null, deadLetters: 0 },
  });
  expect(conditionOf(agent(), 'InboxFull')).toBeUndefined();
  await look();
  const before = agent();
  await look();
  expect(agent()).toBe(before);
});

it('shows what waits, that the inbox is full, and that it has room again', async () => {
  const { agent, mailbox, write, look, woken } = await withMail();
  for (let i = 0; i < 100; i++) await write(`${i}`);
  await vi.waitFor(async () => {
    await look();
    expect(agent().status?.mailbox).toEqual({
      nextSeq: 101,
      ackedSeq: 0,
      unacked: 100,
      oldestUnackedAt: '2026-01-02T03:04:05.000Z',
      deadLetters: 0,
    });
  });
  expect(woken.mock.calls.length).toBeLessThan(50);
  expect(woken).toHaveBeenCalledWith(expect.objectContaining({ kind: 'Agent', name: 'a-one' }));
  expect(agent().status?.messagesPending).toBe(100);
  expect(conditionOf(agent(), 'InboxFull')).toMatch(/^True TooManyUnacked: 100 messages/);
  const ids = mailbox.read({ after: 0, limit: 2 }).map(({ message_id }) => message_id);
  await mailbox.ack(ids.slice(0, 1));
  await mailbox.giveUp(ids.slice(1));
  await vi.waitFor(async () => {
    await look();
    expect(agent().status?.mailbox).toMatchObject({ ackedSeq: 2, unacked: 98, deadLetters: 1 });
  });
  expect(conditionOf(agent(), 'InboxFull')).toBe('False HasRoom: ');
});

it('keeps what the agent last said through a restart of the daemon, and forgets the inbox with the agent', async () => {
  const { agent, activity, client, look, uid, mail } = await withMail();
  activity.onProgress(uid, 'half way');
  await vi.waitFor(async () => {
    await look();
    expect(agent().status?.progress).toEqual({ text: 'half way', time: '2026-01-02T03:04:05.000Z' });
  });
  expect(agent().status?.lastActivity).toBe('2026-01-02T03:04:05.000Z');
  activity.forget(uid);
  await look();
  expect(agent().status?.progress?.text).toBe('half way');
  await client.delete({ kind: 'Agent', namespace: 'default', name: 'a-one' });
  await vi.waitFor(async () => {
    await look();
    expect(agent()).toBeUndefined();
  });
  expect(await mail.owners()).toEqual([]);
});

it('goes on with what it showed before when the mailbox cannot be read', async () => {
  const { agent, mail, activity, look, uid } = await withMail();
  await mail.close();
  activity.forget(uid);
  await look();
  expect(agent().status?.mailbox?.nextSeq).toBe(1);
});
