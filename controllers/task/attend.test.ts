import { describe, expect, it } from 'vitest';
import type { Agent, Task } from '#api/types.ts';
import { conditionOf, newTask } from '../../test/support/controllers.ts';
import { OK, running, setUp, WORKER } from './controller.fixture.ts';

const ranOn = ({ runs }: { readonly runs: readonly { readonly agent: Agent; readonly attempt: number }[] }) =>
  runs.map(({ agent, attempt }) => `${agent.metadata.name} ${attempt}`);

describe('a lease', () => {
  it('is renewed by heartbeats that name the attempt, and ends 30 s after the last of them', async () => {
    const { look, task, attempts, pass, run, ctx, setAgent } = await running();
    const uid = task()?.metadata.uid ?? '';
    for (let round = 0; round < 6; round++) {
      pass(10_000);
      attempts.seenMs.set(`${uid}/1`, ctx.now().getTime());
      await look();
    }
    expect(task()?.status?.phase).toBe('Running');
    attempts.seenMs.clear();
    attempts.isReachable = false;
    pass(29_000);
    expect(await look()).toEqual({ requeueAfterMs: 1_000 });
    await setAgent('a-worker', { phase: 'Starting', incarnation: 'run-1' }, 'Exited');
    pass(1_000);
    await look();
    expect(task()?.status).toMatchObject({ phase: 'Pending', reason: 'LeaseExpired', failures: 1 });
    expect(conditionOf(task(), 'Ready')).toBe(
      'False LeaseExpired: attempt 1 of 3 was given up: no sign of it from agent a-worker for 30 s',
    );
    expect([attempts.revoked, run.isRevoked]).toEqual([[`${uid}/1`], false]);
  });

  it('that is over frees nothing while its holder lives and cannot be asked: it may still run there', async () => {
    const { look, task, attempts, pass, setAgent, readyAgent } = await running();
    attempts.isReachable = false;
    await readyAgent('a-other');
    for (let round = 0; round < 10; round++) {
      pass(10_000);
      await look();
    }
    expect([task()?.status?.phase, attempts.runs.length, attempts.revoked]).toEqual(['Running', 1, []]);
    await setAgent('a-worker', { phase: 'Starting', incarnation: 'run-1' }, 'Exited');
    await look();
    expect(task()?.status).toMatchObject({ phase: 'Pending', reason: 'LeaseExpired' });
    pass(1_000);
    await look();
    await look();
    expect(ranOn(attempts)).toEqual(['a-worker 1', 'a-other 2']);
  });

  it('that is over goes on when its holder is heard again', async () => {
    const { look, task, attempts, pass, ctx, run } = await running();
    attempts.isReachable = false;
    pass(31_000);
    await look();
    attempts.isReachable = true;
    attempts.seenMs.set(`${task()?.metadata.uid}/1`, ctx.now().getTime());
    pass(1_000);
    await look();
    run.end(OK);
    await look();
    expect(task()?.status).toMatchObject({ phase: 'Succeeded', attempt: 1 });
  });

  it('that its holder, which is heard, does not name any more is over at once', async () => {
    const { look, task, attempts, pass, ctx, run } = await running();
    pass(30_000);
    attempts.agentsSeenMs.set(`${run.agent.metadata.uid}/run-1`, ctx.now().getTime());
    await look();
    expect(task()?.status).toMatchObject({ phase: 'Pending', reason: 'LeaseExpired' });
    expect(run.isRevoked).toBe(true);
  });

  it('that is over waits for what its holder says from then on: its last words may be older than the attempt', async () => {
    const { look, task, attempts, pass, ctx, run } = await running();
    const holder = `${run.agent.metadata.uid}/run-1`;
    pass(1_000);
    // Of a guest that has not begun yet, and is cut off right after it.
    attempts.agentsSeenMs.set(holder, ctx.now().getTime());
    pass(29_000);
    await look();
    expect([task()?.status?.phase, run.isRevoked, attempts.revoked]).toEqual(['Running', false, []]);
    pass(2_000);
    attempts.agentsSeenMs.set(holder, ctx.now().getTime());
    attempts.seenMs.set(`${task()?.metadata.uid}/1`, ctx.now().getTime());
    await look();
    run.end(OK);
    await look();
    expect(task()?.status).toMatchObject({ phase: 'Succeeded', attempt: 1 });
  });

  it('goes on while its holder is held up, and has its full time afterwards', async () => {
    const { look, task, setAgent, pass } = await running();
    await setAgent('a-worker', { phase: 'Working', incarnation: 'run-1' }, 'HeldUp');
    for (let round = 0; round < 10; round++) {
      pass(10_000);
      await look();
    }
    await setAgent('a-worker', { phase: 'Working', incarnation: 'run-1' });
    pass(29_000);
    await look();
    expect(task()?.status).toMatchObject({ phase: 'Running', attempt: 1 });
    await setAgent('a-worker', { phase: 'Failed', incarnation: 'run-1' }, 'Exited');
    pass(1_000);
    await look();
    expect(task()?.status).toMatchObject({ phase: 'Pending', reason: 'LeaseExpired' });
  });

  it('that ends with the last attempt fails the task', async () => {
    const { look, task, pass, setAgent } = await running({ maxAttempts: 1 });
    await setAgent('a-worker', { phase: 'Failed', incarnation: 'run-1' }, 'Exited');
    pass(30_000);
    await look();
    expect(task()?.status).toMatchObject({ phase: 'Failed', reason: 'MaxAttempts' });
    expect(task()?.status?.lease).toBeUndefined();
  });

  it('begins anew with the daemon', async () => {
    const { look, task, attempts, newController, pass, setAgent } = await running();
    await setAgent('a-worker', { phase: 'Failed', incarnation: 'run-1' }, 'Exited');
    pass(3_600_000);
    const next = newController(attempts.restart());
    await look(next);
    expect(task()?.status?.phase).toBe('Running');
    pass(30_000);
    await look(next);
    expect(task()?.status?.reason).toBe('LeaseExpired');
  });

  it('that is over voids the token: the late result is refused, attempt 2 runs elsewhere', async () => {
    const { look, task, attempts, pass, run, ctx, readyAgent, setAgent } = await running();
    attempts.isReachable = false;
    await readyAgent('a-other');
    await setAgent('a-worker', { phase: 'Failed' });
    pass(30_000);
    await look();
    pass(1_000);
    await look();
    await look();
    expect(ranOn(attempts)).toEqual(['a-worker 1', 'a-other 2']);
    const before = task();
    run.end({ ...OK, stdout: 'late' });
    await look();
    expect(task()).toBe(before);
    expect(ctx.recorded.at(-1)).toMatchObject({
      reason: 'FenceLost',
      message: 'attempt 1 with token 1 came too late: its result is dropped',
    });
    expect(attempts.accepted).toHaveLength(1);
    attempts.runs[1]?.end({ ...OK, stdout: 'in time' });
    await look();
    expect(task()?.status).toMatchObject({ phase: 'Succeeded', result: { stdout: 'in time' } });
  });

  it('waits for what the next run of its agent has to say', async () => {
    const { look, task, attempts, pass, run, setAgent } = await running();
    await setAgent('a-worker', { phase: 'Starting', incarnation: 'run-2' });
    pass(20_000);
    await look();
    expect([task()?.status?.phase, attempts.revoked]).toEqual(['Running', []]);
    await setAgent('a-worker', { phase: 'Ready', incarnation: 'run-2' });
    run.end(OK);
    await look();
    expect(task()?.status?.phase).toBe('Succeeded');
  });
});

it('refuses a result whose token is not the present one', async () => {
  const { look, task, run, ctx, attempts } = await running();
  const before = task();
  run.end(OK, { fencingToken: 7 });
  await look();
  expect(task()).toBe(before);
  expect([ctx.recorded.map(({ reason }) => reason), attempts.accepted.length]).toEqual([['FenceLost'], 1]);
});

describe('a stop of the daemon', () => {
  it.each(['the agent still says so', 'only the memory of the start says so'])('costs no attempt: %s', async (how) => {
    const { look, task, attempts, newController, run, setAgent, pass } = await running({ maxAttempts: 1 });
    const restarted = attempts.restart();
    if (how.startsWith('the agent')) await setAgent('a-worker', { phase: 'Stopped' }, 'DaemonStopped');
    else restarted.stoppedIncarnations.add('run-1');
    const next = newController(restarted);
    await look(next);
    expect(task()?.status).toMatchObject({ phase: 'Running', reason: 'Interrupted' });
    await setAgent('a-worker', { phase: 'Ready', incarnation: 'run-2' });
    run.lose();
    // Another crash in between: the Task remembers.
    const last = newController(attempts.restart());
    await look(last);
    expect(task()?.status).toMatchObject({ phase: 'Pending', reason: 'Interrupted' });
    expect([task()?.status?.failures, task()?.status?.notes?.at(-1)?.text]).toEqual([
      undefined,
      'Interrupted: the daemon was stopped while this attempt ran',
    ]);
    await look(last);
    await look(last);
    attempts.runs[1]?.end({ ...OK, exitCode: 3 });
    await look(last);
    expect(conditionOf(task(), 'Ready')).toBe('False MaxAttempts: attempt 2 of 2 exited with 3');
    pass(1);
  });

  it('costs no attempt when the agent never comes back either, and loses no result that was there before', async () => {
    const { look, task, attempts, newController, run, pass } = await running();
    const restarted = attempts.restart();
    restarted.stoppedIncarnations.add('run-1');
    const next = newController(restarted);
    await look(next);
    pass(30_000);
    await look(next);
    expect(task()?.status).toMatchObject({ phase: 'Pending', reason: 'Interrupted' });
    const other = await running();
    other.attempts.stoppedIncarnations.add('run-1');
    await other.look();
    other.run.end(OK);
    await other.look();
    expect([other.task()?.status?.phase, other.task()?.status?.reason, run.isRevoked]).toEqual(['Succeeded', undefined, true]);
  });
});

describe('an agent', () => {
  it('that is deleted gives its task back at once, uncounted, when nothing runs there any more', async () => {
    const { client, look, task, attempts, readyAgent } = await running();
    await client.delete(WORKER);
    await readyAgent('a-other');
    expect(await look()).toEqual({ requeueAfterMs: 0 });
    expect(conditionOf(task(), 'Ready')).toBe('False AgentGone: agent a-worker was deleted');
    expect(task()?.status?.failures).toBeUndefined();
    await look();
    await look();
    expect(attempts.runs.map(({ agent }) => agent.metadata.name)).toEqual(['a-worker', 'a-other']);
  });

  it('that is on its way out may finish what it has begun, for as long as it is there', async () => {
    const { look, task, attempts, setAgent, run } = await running();
    attempts.isReachable = false;
    await setAgent('a-worker', { phase: 'Stopping' }, 'Stopping');
    expect(await look()).toEqual({ requeueAfterMs: 10_000 });
    expect([task()?.status?.phase, attempts.revoked]).toEqual(['Running', []]);
    await setAgent('a-worker', { phase: 'Stopped' }, 'Stopped');
    await look();
    expect([task()?.status?.reason, run.isRevoked]).toEqual(['AgentGone', false]);
  });
});

it('is not handed to an agent that is on its way out by the time the claim is on disk', async () => {
  const { client, look, task, attempts, readyAgent, setAgent } = setUp();
  await readyAgent('a-worker');
  await client.create<Task>(newTask('a-one'));
  await look();
  await setAgent('a-worker', { phase: 'Stopping' }, 'Stopping');
  await look();
  expect([task()?.status?.phase, task()?.status?.reason, attempts.runs]).toEqual(['Pending', 'AgentGone', []]);
});

describe('a cancelled task', () => {
  it('keeps asking while the agent lives and cannot be reached', async () => {
    const { edit, look, task, attempts, setAgent } = await running();
    attempts.isReachable = false;
    await edit({ cancelled: true });
    expect(await look()).toEqual({ requeueAfterMs: 1_000 });
    expect(task()?.status?.phase).toBe('Running');
    await setAgent('a-worker', { phase: 'Failed' });
    await look();
    expect(task()?.status).toMatchObject({ phase: 'Failed', reason: 'Cancelled' });
    expect(attempts.revoked).toHaveLength(2);
  });

  it('keeps a result that was faster', async () => {
    const { edit, look, task, run } = await running();
    run.end(OK);
    await edit({ cancelled: true });
    await look();
    expect(task()?.status).toMatchObject({ phase: 'Failed', reason: 'Cancelled', result: { stdout: 'hi\n' } });
  });

  it('that has not started never runs', async () => {
    const { client, look, task, attempts, readyAgent } = setUp();
    await readyAgent('a-worker');
    await client.create<Task>(newTask('a-one', { cancelled: true }));
    await look();
    expect([task()?.status?.reason, attempts.runs]).toEqual(['Cancelled', []]);
  });
});

it('is taken from an agent that assignTo no longer means, and goes to the one it does', async () => {
  const { edit, look, task, attempts, run, readyAgent } = await running();
  await readyAgent('a-other');
  await edit({ assignTo: 'worker' });
  await look();
  expect(run.isRevoked).toBe(false);
  await edit({ assignTo: 'other' });
  await look();
  expect([run.isRevoked, task()?.status?.reason, task()?.status?.failures]).toEqual([true, 'Reassigned', undefined]);
  await look();
  await look();
  expect(attempts.runs.map(({ agent, attempt }) => [agent.metadata.name, attempt])).toEqual([
    ['a-worker', 1],
    ['a-other', 2],
  ]);
});
