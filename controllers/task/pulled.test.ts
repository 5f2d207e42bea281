import { describe, expect, it } from 'vitest';
import type { Agent } from '#api/types.ts';
import { conditionOf, START } from '../../test/support/controllers.ts';
import { ONE, PEOPLE, pulled, WORKER } from './controller.fixture.ts';

describe('a pulled claim', () => {
  it('stands for as long as the run of its owner gives signs of life, and after 30 s of silence until its workspace has ended', async () => {
    const { look, task, attempts, pass, ctx, get, book, as, readyAgent, setAgent } = await pulled();
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
    // Silent, and alive as far as is known: a command of it may still run.
    expect(await look()).toEqual({ requeueAfterMs: 1_000 });
    expect(task()?.status?.phase).toBe('Claimed');
    pass(60_000);
    await look();
    expect(task()?.status?.phase).toBe('Claimed');
    // Heard again, in time.
    attempts.agentsSeenMs.set(`${uid}/run-1`, ctx.now().getTime());
    expect(await look()).toEqual({ requeueAfterMs: 10_000 });
    pass(30_000);
    await look();
    expect(task()?.status?.phase).toBe('Claimed');
    await setAgent('a-worker', { phase: 'Failed', incarnation: 'run-1' }, 'Exited');
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
    const { look, task, attempts, newController, pass, setAgent } = await pulled({ timeoutSeconds: 1_800 });
    pass(1_200_000);
    const next = newController(attempts.restart());
    expect(await look(next)).toEqual({ requeueAfterMs: 10_000 });
    pass(30_000);
    expect(await look(next)).toEqual({ requeueAfterMs: 1_000 });
    await setAgent('a-worker', { phase: 'Failed', incarnation: 'run-1' });
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

  it('ends with its time: the agent hears of it, a result is refused, and the next attempt is open', async () => {
    const { look, task, attempts, pass, ctx, get, book, as, notices } = await pulled({ timeoutSeconds: 60 });
    const uid = get<Agent>('Agent', 'a-worker')?.metadata.uid;
    const later = async (ms: number) => {
      pass(ms);
      attempts.agentsSeenMs.set(`${uid}/run-1`, ctx.now().getTime());
      return look();
    };
    await later(40_000);
    await book.update(as('a-worker'), ONE, { status: 'in_progress' });
    notices.news();
    expect(await later(55_000)).toEqual({ requeueAfterMs: 5_000 });
    await later(5_000);
    expect(task()?.status).toMatchObject({ phase: 'Pending', reason: 'AttemptFailed', failures: 1 });
    expect(conditionOf(task(), 'Ready')).toBe('False AttemptFailed: attempt 1 of 3 timed out after 60 s');
    expect(notices.news()).toEqual([
      'task_update worker: Task one is no longer yours: its time is over (timeoutSeconds 60). Stop working on it; a result would be refused.',
    ]);
    await expect(book.complete(as('a-worker'), ONE, { attempt: 1 })).rejects.toMatchObject({ code: 'FenceLost' });
    await later(1_000);
    expect(await book.claim(as('a-worker'), ONE)).toMatchObject({ claimed: true, attempt: 2 });
  });

  it('begins to count its time when its plan is approved', async () => {
    const { look, task, attempts, pass, ctx, get, book, as } = await pulled({ timeoutSeconds: 60, planRequired: true });
    const uid = get<Agent>('Agent', 'a-worker')?.metadata.uid;
    const later = async (ms: number) => {
      pass(ms);
      attempts.agentsSeenMs.set(`${uid}/run-1`, ctx.now().getTime());
      await look();
    };
    await book.submitPlan(as('a-worker'), ONE, 'first this, then that');
    await later(300_000);
    await book.decidePlan(PEOPLE, ONE, { approved: true });
    await later(59_000);
    expect(task()?.status?.phase).toBe('Claimed');
    await later(1_000);
    expect(task()?.status?.reason).toBe('AttemptFailed');
  });

  it('says when it ends: with the claim, and when its holder falls silent', async () => {
    const { look, task, attempts, pass, ctx, get } = await pulled();
    const uid = get<Agent>('Agent', 'a-worker')?.metadata.uid;
    const at = (ms: number) => new Date(START.getTime() + ms).toISOString();
    expect(task()?.status?.lease).toMatchObject({ renewTime: at(0), expires: at(30_000) });
    const before = task();
    for (let round = 0; round < 3; round++) {
      pass(10_000);
      attempts.agentsSeenMs.set(`${uid}/run-1`, ctx.now().getTime());
      await look();
    }
    expect(task()).toBe(before);
    pass(20_000);
    await look();
    expect(task()?.status?.lease).toMatchObject({ holder: 'a-worker@run-1', renewTime: at(30_000), expires: at(60_000) });
    const silent = task();
    pass(5_000);
    await look();
    expect(task()).toBe(silent);
  });
});
