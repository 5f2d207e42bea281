import { describe, expect, it } from 'vitest';
import type { Task } from '#api/types.ts';
import { AgentisoError, ConflictError, UnavailableError } from '#lib/errors.ts';
import { interceptClient } from '#runtime/testing.ts';
import { conditionOf, newTask } from '../../test/support/controllers.ts';
import { KEY, OK, running, setUp } from './controller.fixture.ts';
import { TASK_FINALIZER } from './controller.ts';

describe('the five standard cases', () => {
  it('converges from empty: claimed on disk first, then handed over, its result on disk before it is acknowledged', async () => {
    const { client, look, task, attempts, woken, readyAgent, ctx } = setUp();
    await readyAgent('a-worker');
    await client.create<Task>(newTask('a-one'));
    expect(await look()).toEqual({ requeueAfterMs: 0 });
    expect(attempts.runs).toEqual([]);
    expect(task()?.metadata.finalizers).toEqual([TASK_FINALIZER]);
    expect(task()?.status).toMatchObject({
      phase: 'Claimed',
      owner: 'a-worker',
      ownerIncarnation: 'run-1',
      attempt: 1,
      fencingToken: 1,
      lease: { holder: 'a-worker@run-1', renewTime: '2026-01-02T03:04:05.000Z' },
    });
    expect(conditionOf(task(), 'Ready')).toBe('True Claimed: attempt 1 on a-worker');
    expect(await look()).toEqual({ requeueAfterMs: 10_000 });
    expect(attempts.runs.map(({ agent, task: { spec } }) => [agent.metadata.name, spec.command])).toEqual([['a-worker', 'true']]);
    expect(task()?.status).toMatchObject({ phase: 'Running', startedAt: '2026-01-02T03:04:05.000Z' });
    attempts.runs[0]?.end(OK);
    expect(woken).toEqual(['a-one']);
    expect(await look()).toEqual({ requeueAfterMs: 0 });
    expect(attempts.accepted).toEqual([]);
    expect(task()?.status).toMatchObject({ phase: 'Succeeded', result: OK, finishedAt: '2026-01-02T03:04:05.000Z', observedGeneration: 1 });
    expect(task()?.status?.lease).toBeUndefined();
    expect(await look()).toEqual({});
    expect(attempts.accepted).toEqual([`${task()?.metadata.uid}/1`]);
    expect(ctx.recorded).toEqual([
      { type: 'Normal', object: 'a-one', reason: 'Succeeded', message: 'attempt 1 exited with 0 after 0.5 s' },
    ]);
  });

  it.each(['Running', 'Succeeded'])('changes nothing on a second pass while it is %s', async (phase) => {
    const { look, task, attempts, run, pass } = await running();
    if (phase === 'Succeeded') {
      run.end(OK);
      await look();
      await look();
    }
    const before = task();
    expect(before?.status?.phase).toBe(phase);
    pass(10_000);
    await look();
    expect(task()).toBe(before);
    expect([attempts.runs.length, attempts.revoked.length]).toEqual([1, 0]);
  });

  it('follows a changed spec: cancelled ends what runs', async () => {
    const { edit, look, task, run } = await running();
    await edit({ cancelled: true });
    await look();
    expect(run.isRevoked).toBe(true);
    expect(task()?.status).toMatchObject({ phase: 'Failed', reason: 'Cancelled' });
    expect(conditionOf(task(), 'Ready')).toBe('False Cancelled: spec.cancelled is true');
  });

  it('tries a failed command again after a pause that doubles, says so meanwhile, and succeeds in the end', async () => {
    const { look, task, attempts, pass, run } = await running();
    run.end({ ...OK, exitCode: 7, stderr: 'oh no' });
    expect(await look()).toEqual({ requeueAfterMs: 0 });
    expect(task()?.status).toMatchObject({
      phase: 'Pending',
      reason: 'AttemptFailed',
      failures: 1,
      result: { exitCode: 7, stderr: 'oh no' },
    });
    expect(conditionOf(task(), 'Ready')).toBe('False AttemptFailed: attempt 1 of 3 exited with 7');
    expect(task()?.status?.owner).toBeUndefined();
    expect(task()?.status?.notes).toEqual([
      { time: '2026-01-02T03:04:05.000Z', author: 'system', text: 'AttemptFailed: attempt 1 of 3 exited with 7' },
    ]);
    expect(await look()).toEqual({ requeueAfterMs: 1_000 });
    pass(1_000);
    await look();
    await look();
    attempts.runs[1]?.end({ ...OK, exitCode: 1 });
    await look();
    expect(await look()).toEqual({ requeueAfterMs: 2_000 });
    pass(2_000);
    await look();
    await look();
    attempts.runs[2]?.end(OK);
    await look();
    expect(task()?.status).toMatchObject({ phase: 'Succeeded', attempt: 3, fencingToken: 3 });
    expect(task()?.status?.reason).toBeUndefined();
  });

  it('ends what runs when it is deleted, and goes only when that has ended', async () => {
    const { client, look, task, attempts, run } = await running();
    attempts.isReachable = false;
    await client.delete(KEY);
    expect(await look()).toEqual({ requeueAfterMs: 1_000 });
    expect(task()?.metadata.deletionTimestamp).toBeDefined();
    attempts.isReachable = true;
    await look();
    expect(run.isRevoked).toBe(true);
    expect(task()).toBeUndefined();
  });
});

describe('a deleted task', () => {
  it('goes when the run of the agent that had it is over, although nobody can be asked', async () => {
    const { client, look, task, attempts, setAgent } = await running();
    attempts.isReachable = false;
    await client.delete(KEY);
    await look();
    await setAgent('a-worker', { phase: 'Starting', incarnation: 'run-2' });
    await look();
    expect(task()).toBeUndefined();
  });

  it('lets the guest forget a result that nobody will read, and frees its place', async () => {
    const { client, look, task, attempts, tell, run, readyAgent } = await running();
    run.end(OK);
    await client.delete(KEY);
    const uid = task()?.metadata.uid;
    await look();
    expect([task(), attempts.outcomes(uid ?? '')]).toEqual([undefined, []]);
    await readyAgent('a-other');
    expect(tell()).not.toContain('a-one');
  });
});

describe('an attempt', () => {
  it('fails the task for good when it was the last', async () => {
    const { look, task, run, ctx } = await running({ maxAttempts: 1 });
    run.end({ ...OK, exitCode: 2 });
    await look();
    expect(task()?.status).toMatchObject({ phase: 'Failed', reason: 'MaxAttempts', owner: 'a-worker' });
    expect(conditionOf(task(), 'Ready')).toBe('False MaxAttempts: attempt 1 of 1 exited with 2');
    expect(ctx.recorded.map(({ reason }) => reason)).toEqual(['MaxAttempts']);
  });

  it.each([
    { name: 'over its time', exitCode: -1, stderr: 'task timed out after 60s', timedOut: true, says: 'timed out after 60 s' },
    { name: 'that did not start', exitCode: -1, stderr: 'exec failed: no such folder', says: 'could not run: exec failed: no such folder' },
    { name: 'ended by a signal', exitCode: 137, stderr: 'x', says: 'exited with 137' },
  ])('$name is told in words', async ({ exitCode, stderr, timedOut = false, says }) => {
    const { look, task, run } = await running({ timeoutSeconds: 60 });
    run.end({ ...OK, exitCode, stderr }, { timedOut });
    await look();
    expect(conditionOf(task(), 'Ready')).toBe(`False AttemptFailed: attempt 1 of 3 ${says}`);
  });

  it('that the guest lost counts', async () => {
    const { look, task, run, attempts } = await running({ maxAttempts: 2 });
    run.lose();
    await look();
    expect(task()?.status).toMatchObject({ phase: 'Pending', reason: 'AttemptLost', failures: 1 });
    expect(conditionOf(task(), 'Ready')).toBe('False AttemptLost: attempt 1 of 2 was lost: its agent ended while it ran');
    await look();
    expect(attempts.accepted).toHaveLength(1);
  });

  it('runs on through a restart of the daemon', async () => {
    const { newController, look, task, attempts, run } = await running();
    const restarted = attempts.restart();
    const next = newController(restarted);
    expect(await look(next)).toEqual({ requeueAfterMs: 10_000 });
    expect(task()?.status).toMatchObject({ phase: 'Running', attempt: 1 });
    run.end(OK);
    await look(next);
    await look(next);
    expect([task()?.status?.phase, attempts.runs.length, attempts.accepted.length]).toEqual(['Succeeded', 1, 1]);
  });

  it('of which only the claim was written is handed over once, by whoever finds the claim', async () => {
    const { client, look, task, newController, attempts, readyAgent } = setUp();
    await readyAgent('a-worker');
    await client.create<Task>(newTask('a-one'));
    await look();
    await look(newController(attempts.restart()));
    await look(newController(attempts.restart()));
    expect([task()?.status?.phase, attempts.runs.map(({ attempt }) => attempt)]).toEqual(['Running', [1]]);
  });

  it('is not handed over when its claim could not be written', async () => {
    const { client, look, task, attempts, controller, readyAgent } = setUp();
    await readyAgent('a-worker', { maxConcurrentTasks: 1 });
    await client.create<Task>(newTask('a-one'));
    const failing = interceptClient(client, (verb) => {
      if (verb === 'updateStatus') throw new UnavailableError('disk full');
    });
    await expect(look(controller, failing)).rejects.toThrow('disk full');
    expect([task()?.status?.phase, attempts.runs]).toEqual([undefined, []]);
    await look();
    await look();
    expect([task()?.status?.attempt, attempts.runs.length]).toEqual([1, 1]);
  });

  it('that the mailbox does not take stays claimed and is tried again', async () => {
    const { client, look, task, attempts, readyAgent } = setUp();
    await readyAgent('a-worker');
    await client.create<Task>(newTask('a-one'));
    await look();
    attempts.failure = new AgentisoError('InboxFull', 'the inbox is full');
    await expect(look()).rejects.toThrow('the inbox is full');
    expect(task()?.status?.phase).toBe('Claimed');
    expect(conditionOf(task(), 'Ready')).toBe('False InboxFull: the inbox is full');
    await look();
    expect([task()?.status?.phase, conditionOf(task(), 'Ready')]).toEqual(['Running', 'True Claimed: attempt 1 on a-worker']);
  });

  it('that no mailbox will ever take fails the task', async () => {
    const { client, look, task, attempts, readyAgent } = setUp();
    await readyAgent('a-worker');
    await client.create<Task>(newTask('a-one'));
    await look();
    attempts.failure = new AgentisoError('TooLarge', 'a message has 300000 bytes');
    await look();
    expect(task()?.status).toMatchObject({ phase: 'Failed', reason: 'TooLarge' });
  });

  it('has its outcome offered until that is written, and acknowledged until that has worked', async () => {
    const { client, look, task, attempts, controller, run } = await running();
    run.end(OK);
    const failing = interceptClient(client, (verb) => {
      if (verb === 'updateStatus') throw new ConflictError('somebody was faster');
    });
    await look(controller, failing);
    expect([task()?.status?.phase, attempts.accepted]).toEqual(['Running', []]);
    await look();
    attempts.failure = new UnavailableError('disk full');
    expect(await look()).toEqual({ requeueAfterMs: 1_000 });
    expect(conditionOf(task(), 'Ready')).toBe('True Finished: succeeded');
    await look();
    expect([task()?.status?.phase, attempts.accepted.length]).toEqual(['Succeeded', 1]);
  });

  it('is Ready when it has succeeded: who waits for objects without knowing their kind, as Helm and Flux do, knows only that condition', async () => {
    const { look, task, run } = await running();
    expect(conditionOf(task(), 'Ready')).toMatch(/^True Claimed/);
    run.end(OK);
    await look();
    expect([task()?.status?.phase, conditionOf(task(), 'Ready')]).toEqual(['Succeeded', 'True Finished: succeeded']);
  });

  it('whose result is on disk and was offered again after a restart is acknowledged, and nothing else', async () => {
    const { newController, look, task, attempts, run, ctx } = await running();
    run.end(OK);
    await look();
    const before = task();
    await look(newController(attempts.restart()));
    expect(task()).toBe(before);
    expect([attempts.accepted.length, ctx.recorded.map(({ reason }) => reason)]).toEqual([1, ['Succeeded']]);
  });
});

describe('a waiting task', () => {
  it('says what it waits for, and is looked at again when that changes', async () => {
    const { client, look, task, tell, readyAgent } = setUp();
    await client.create<Task>(newTask('a-one', { dependsOn: ['zero'] }));
    await look();
    expect(task()?.status).toMatchObject({ phase: 'Blocked', reason: 'DependencyNotFound', blockedBy: ['zero'] });
    expect(conditionOf(task(), 'Ready')).toBe('False DependencyNotFound: waits for zero');
    const zero = await client.create<Task>(newTask('a-zero'));
    expect(tell()).toEqual(['a-one']);
    await client.updateStatus<Task>({ ...zero, status: { phase: 'Succeeded' } });
    expect(tell()).toEqual(['a-one']);
    await look();
    expect(task()?.status).toMatchObject({ phase: 'Pending', reason: 'NoAgent' });
    expect(task()?.status?.blockedBy).toBeUndefined();
    await readyAgent('a-worker');
    expect(tell()).toEqual(['a-one']);
    await look();
    expect([task()?.status?.phase, tell()]).toEqual(['Claimed', []]);
  });

  it('gets no agent whose status is from before: not ready is not ready', async () => {
    const { client, look, task, readyAgent, setAgent } = setUp();
    await client.create<Task>(newTask('a-one'));
    await readyAgent('a-worker');
    await setAgent('a-worker', { phase: 'Starting' });
    await look();
    expect(task()?.status).toMatchObject({ phase: 'Pending', reason: 'AgentNotReady' });
    await setAgent('a-worker', { phase: 'Ready' });
    await look();
    expect(task()?.status).toMatchObject({ phase: 'Claimed', attempt: 1 });
  });

  it('never gets a place that another took in the same moment', async () => {
    const { client, controller, reconcile, readyAgent, task, tell } = setUp();
    await readyAgent('a-worker', { maxConcurrentTasks: 2 });
    const names = Array.from({ length: 6 }, (_, index) => `a-t${index}`);
    for (const name of names) await client.create<Task>(newTask(name));
    tell();
    await Promise.all(names.map((name) => reconcile(controller, 'Task', name)));
    expect(names.filter((name) => task(name)?.status?.phase === 'Claimed')).toEqual(['a-t0', 'a-t1']);
  });
});
