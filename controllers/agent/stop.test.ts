/** A stop in good order: asked once, answered or not, over at the deadline. */
import { describe, expect, it } from 'vitest';
import type { Agent } from '#api/types.ts';
import { STOP_REQUEST_ANNOTATION } from '#client/stop-request.ts';
import { UnavailableError } from '#lib/errors.ts';
import type { Notice, Notices } from '#relay/notices.ts';
import { running } from './agent.fixture.ts';

const BUSY = { runningTasks: [{ taskUid: 't', attempt: 1 }] };

/** Notices as they are said; a second one with the same key is the first again. */
function noticeBoard(): Notices & { readonly said: Map<string, Notice>; readonly withdrawn: string[] } {
  const said = new Map<string, Notice>();
  const withdrawn: string[] = [];
  return {
    said,
    withdrawn,
    tell: async (notice) => void said.set(notice.key, said.get(notice.key) ?? notice),
    withdraw: async ({ key }) => void withdrawn.push(key),
  };
}

async function busy(notices: Notices = noticeBoard()) {
  const world = await running();
  const { client, sessions, agent, id, newController } = world;
  sessions.beat(id, BUSY);
  let controller = newController({ notices });
  const set = async (desiredState: 'Running' | 'Stopped', annotations: Record<string, string> = {}) => {
    const now = agent() as Agent;
    await client.update<Agent>({
      ...now,
      metadata: { ...now.metadata, annotations: { ...now.metadata.annotations, ...annotations } },
      spec: { ...now.spec, desiredState },
    });
  };
  const answer = async (shutdown: object) => {
    const now = agent() as Agent;
    await client.updateStatus<Agent>({ ...now, status: { ...now.status, shutdown: { ...now.status?.shutdown, ...shutdown } } });
  };
  return {
    ...world,
    set,
    answer,
    look: () => world.look(controller),
    restart: () => {
      controller = newController({ notices });
    },
  };
}

describe('a busy agent that is to stop', () => {
  it('has until 5 s before the end of its grace period to finish its tasks', async () => {
    const { driver, agent, look, pass, set, id } = await busy();
    await set('Stopped');
    await look();
    expect(agent()?.status?.phase).toBe('Stopping');
    pass(24_000);
    await look();
    expect(driver.calls).toHaveLength(1);
    pass(1_000);
    await look();
    expect(driver.calls.at(-1)).toBe(`stop ${id}`);
    await look();
    expect(agent()?.status?.phase).toBe('Stopped');
  });

  it('ends as soon as the last one is done', async () => {
    const { driver, sessions, look, set, id } = await busy();
    await set('Stopped');
    await look();
    sessions.beat(id);
    await look();
    expect(driver.calls.at(-1)).toBe(`stop ${id}`);
  });

  it('is asked once, with reason and deadline, also by a daemon that has just begun', async () => {
    const notices = noticeBoard();
    const { agent, look, set, pass, restart, id } = await busy(notices);
    const mark = { from: 'lead', reason: 'enough', generation: (agent()?.metadata.generation ?? 0) + 1 };
    await set('Stopped', { [STOP_REQUEST_ANNOTATION]: JSON.stringify(mark) });
    await look();
    expect(agent()?.status?.shutdown).toEqual({ requestedAt: '2026-01-02T03:04:05.000Z', deadline: '2026-01-02T03:04:35.000Z' });
    expect(notices.said.size).toBe(0);
    for (let i = 0; i < 3; i++) {
      pass(1_000);
      restart();
      await look();
    }
    const key = `stop/${id}/2026-01-02T03:04:05.000Z`;
    expect([...notices.said]).toEqual([
      [
        key,
        {
          namespace: 'default',
          team: 'a',
          to: 'one',
          type: 'shutdown_request',
          content: expect.stringContaining('lead wants this agent to stop: enough'),
          metadata: { reason: 'enough', deadline: '2026-01-02T03:04:35.000Z', requested_by: 'lead' },
          key,
        },
      ],
    ]);
    pass(30_000);
    await look();
    await look();
    expect([agent()?.status?.phase, notices.withdrawn]).toEqual(['Stopped', [key]]);
  });

  it('that is killed ends at once and is asked nothing', async () => {
    const notices = noticeBoard();
    const { agent, driver, look, set, id } = await busy(notices);
    const mark = { from: 'orchestrator', reason: '', generation: (agent()?.metadata.generation ?? 0) + 1, isImmediate: true };
    await set('Stopped', { [STOP_REQUEST_ANNOTATION]: JSON.stringify(mark) });
    await look();
    expect(driver.calls.at(-1)).toBe(`stop ${id}`);
    await look();
    expect([agent()?.status?.phase, notices.said.size]).toEqual(['Stopped', 0]);
  });

  it('ends at once when it agrees, and the answer is kept', async () => {
    const { driver, agent, look, set, answer, id } = await busy();
    await set('Stopped');
    await look();
    await answer({ answer: 'Accepted', reason: 'done here' });
    await look();
    expect(driver.calls.at(-1)).toBe(`stop ${id}`);
    await look();
    expect(agent()?.status).toMatchObject({ phase: 'Stopped', shutdown: { answer: 'Accepted', reason: 'done here' } });
    const stopped = agent();
    await look();
    expect(agent()).toBe(stopped);
  });

  it('is asked anew in its next run, and what it said in this one is gone', async () => {
    const notices = noticeBoard();
    const { agent, look, set, answer, pass, sessions, id } = await busy(notices);
    await set('Stopped');
    await look();
    await look();
    await answer({ answer: 'Accepted', reason: 'done here' });
    await look();
    await look();
    pass(60_000);
    await set('Running');
    await look();
    sessions.beat(id, BUSY);
    await look();
    expect(agent()?.status).toMatchObject({ phase: 'Working', incarnation: 'run-2', shutdown: { answer: 'Accepted' } });
    pass(1_000);
    await set('Stopped');
    await look();
    await look();
    expect(agent()?.status?.shutdown).toEqual({ requestedAt: '2026-01-02T03:05:06.000Z', deadline: '2026-01-02T03:05:36.000Z' });
    expect([agent()?.status?.phase, notices.said.size]).toEqual(['Stopping', 2]);
  });

  it.each(['Refused', 'Deferred'] as const)('ends at its deadline all the same when it answers %s', async (word) => {
    const { driver, agent, look, set, answer, pass, id } = await busy();
    await set('Stopped');
    await look();
    await answer({ answer: word, reason: 'no' });
    pass(24_900);
    await look();
    expect(driver.calls).toHaveLength(1);
    pass(100);
    await look();
    expect(driver.calls.at(-1)).toBe(`stop ${id}`);
    expect(agent()?.status?.shutdown).toMatchObject({ answer: word, reason: 'no' });
  });

  it('hears that it may go on after all, and is asked anew the next time', async () => {
    const notices = noticeBoard();
    const { agent, driver, look, set, pass } = await busy(notices);
    await set('Stopped');
    await look();
    await look();
    await set('Running');
    await look();
    expect([agent()?.status?.phase, agent()?.status?.shutdown, notices.withdrawn.length]).toEqual(['Working', undefined, 1]);
    pass(60_000);
    await set('Stopped');
    await look();
    await look();
    expect([notices.said.size, driver.calls.length]).toEqual([2, 1]);
    expect(agent()?.status?.shutdown?.requestedAt).toBe('2026-01-02T03:05:05.000Z');
  });

  it('is busy also with a task that has just been assigned and is in no heartbeat yet', async () => {
    const { agent, newController, look, sessions, client, id } = await running();
    sessions.beat(id);
    let assigned = 1;
    const controller = newController({ assignedTasks: () => assigned });
    const now = agent() as Agent;
    await client.update<Agent>({ ...now, spec: { ...now.spec, desiredState: 'Stopped' } });
    await look(controller);
    await look(controller);
    expect(agent()?.status?.phase).toBe('Stopping');
    assigned = 0;
    await look(controller);
    await look(controller);
    expect(agent()?.status?.phase).toBe('Stopped');
  });

  it('is busy also with tasks that it has pulled itself', async () => {
    const { agent, newController, look, sessions, client, id } = await running();
    sessions.beat(id);
    let pulled = 1;
    const controller = newController({ pulledTasks: () => pulled });
    const now = agent() as Agent;
    await client.update<Agent>({ ...now, spec: { ...now.spec, desiredState: 'Stopped' } });
    await look(controller);
    await look(controller);
    expect(agent()?.status?.phase).toBe('Stopping');
    pulled = 0;
    await look(controller);
    await look(controller);
    expect(agent()?.status?.phase).toBe('Stopped');
  });

  it('does not live on because nobody can write it a message', async () => {
    const fail = () => Promise.reject(new UnavailableError('the disk is full'));
    const { agent, look, set, pass } = await busy({ tell: fail, withdraw: fail });
    await set('Stopped');
    for (const ms of [0, 1_000, 30_000, 0]) {
      pass(ms);
      await look();
    }
    expect(agent()?.status?.phase).toBe('Stopped');
  });
});

it('an idle agent ends at once, without a word', async () => {
  const notices = noticeBoard();
  const { agent, newController, client, look, driver, id } = await running();
  const controller = newController({ notices });
  const now = agent() as Agent;
  await client.update<Agent>({ ...now, spec: { ...now.spec, desiredState: 'Stopped' } });
  await look(controller);
  expect(driver.calls.at(-1)).toBe(`stop ${id}`);
  await look(controller);
  expect([agent()?.status?.phase, agent()?.status?.shutdown, notices.said.size]).toEqual(['Stopped', undefined, 0]);
});

it.each(['no json', '{"generation":1}', 'null'])('takes no stop request of somebody else for its own: %s', async (mark) => {
  const notices = noticeBoard();
  const { look, set } = await busy(notices);
  await set('Stopped', { [STOP_REQUEST_ANNOTATION]: mark });
  await look();
  await look();
  expect([...notices.said.values()][0]?.metadata).toMatchObject({ requested_by: 'orchestrator', reason: 'spec.desiredState is Stopped' });
});
