import { describe, expect, it } from 'vitest';
import type { Agent } from '#api/types.ts';
import { conditionOf } from '../../test/support/controllers.ts';
import { ONE, pulled, WORKER } from './controller.fixture.ts';

describe('a pulled claim', () => {
  it('stands for as long as the run of its owner gives signs of life, and ends 30 s after the last', async () => {
    const { look, task, attempts, pass, ctx, get, book, as, readyAgent } = await pulled();
    const uid = get<Agent>('Agent', 'a-worker')?.metadata.uid;
    for (let round = 0; round < 6; round++) {
      pass(10_000);
      attempts.agentsSeenMs.set(`${uid}/run-1`, ctx.now().getTime());
      expect(await look()).toEqual({ requeueAfterMs: 10_000 });
    }
    expect(task()?.status?.phase).toBe('Claimed');
    pass(29_999);
    expect(await look()).toEqual({ requeueAfterMs: 1 });
    pass(1);
    await look();
    expect(task()?.status).toMatchObject({ phase: 'Pending', reason: 'LeaseExpired', failures: 1 });
    // Frozen, and back: what it has to say comes too late, and somebody else may have it.
    await expect(book.complete(as('a-worker'), ONE, { attempt: 1 })).rejects.toMatchObject({ code: 'FenceLost' });
    pass(1_000);
    await look();
    await readyAgent('a-other');
    expect(await book.claim(as('a-other'), ONE)).toMatchObject({ claimed: true, attempt: 2, fencing_token: 2 });
    const before = task();
    await expect(book.complete(as('a-worker'), ONE, { attempt: 1 })).rejects.toMatchObject({ code: 'FenceLost' });
    expect(task()).toBe(before);
  });

  it('has a full lease again after a restart of the daemon', async () => {
    const { look, task, attempts, newController, pass } = await pulled();
    pass(3_600_000);
    const next = newController(attempts.restart());
    expect(await look(next)).toEqual({ requeueAfterMs: 10_000 });
    pass(30_000);
    await look(next);
    expect(task()?.status?.reason).toBe('LeaseExpired');
  });

  it('ends at once with the run of its agent: counted when that crashed, not when the daemon stopped it', async () => {
    const crashed = await pulled();
    await crashed.setAgent('a-worker', { phase: 'Starting', incarnation: 'run-2' });
    expect(crashed.tell()).toContain('a-one');
    await crashed.look();
    expect(crashed.task()?.status).toMatchObject({ phase: 'Pending', reason: 'AttemptLost', failures: 1 });
    const ended = await pulled();
    await ended.setAgent('a-worker', { phase: 'Failed', incarnation: 'run-1' }, 'Exited');
    expect(ended.tell()).toContain('a-one');
    await ended.look();
    expect(ended.task()?.status).toMatchObject({ phase: 'Pending', reason: 'AttemptLost', failures: 1 });
    const stopped = await pulled();
    stopped.attempts.stoppedIncarnations.add('run-1');
    await stopped.setAgent('a-worker', { phase: 'Ready', incarnation: 'run-2' });
    await stopped.look();
    expect([stopped.task()?.status?.reason, stopped.task()?.status?.failures]).toEqual(['Interrupted', undefined]);
  });

  it('ends at once with its agent, uncounted', async () => {
    const { client, look, task, attempts } = await pulled();
    await client.delete(WORKER);
    await look();
    expect([task()?.status?.phase, task()?.status?.reason, task()?.status?.failures]).toEqual(['Pending', 'AgentGone', undefined]);
    expect(attempts.revoked).toEqual([]);
  });

  it('is taken away by a change of assignTo or by cancelling, and the agent hears of it once', async () => {
    const { look, task, edit, notices, readyAgent, book, as } = await pulled();
    await readyAgent('a-other');
    notices.news();
    await edit({ assignTo: 'other' });
    await look();
    expect([task()?.status?.reason, task()?.status?.owner]).toEqual(['Reassigned', undefined]);
    const gone = 'Stop working on it; a result would be refused.';
    expect(notices.news()).toEqual([`task_update worker: Task one is no longer yours: assignTo is other now, not a-worker. ${gone}`]);
    await look();
    await book.claim(as('a-other'), ONE);
    await edit({ cancelled: true });
    await look();
    await look();
    expect(conditionOf(task(), 'Ready')).toBe('False Cancelled: spec.cancelled is true');
    expect(notices.news()).toEqual([`task_update other: Task one is no longer yours: spec.cancelled is true. ${gone}`]);
  });
});
