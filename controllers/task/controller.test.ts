import { describe, expect, it } from 'vitest';
import type { Agent, Task } from '#api/types.ts';
import { ConflictError, UnavailableError } from '#lib/errors.ts';
import type { JsonObject } from '#lib/json.ts';
import { interceptClient } from '#runtime/testing.ts';
import { bench, conditionOf, newAgent, newTask } from '../../test/support/controllers.ts';
import { type CommandResult, TASK_FINALIZER, taskController } from './controller.ts';

const OK: CommandResult = { exitCode: 0, stdout: 'hi\n', stderr: '', truncated: false, elapsedSeconds: 0.5 };
const KEY = { kind: 'Task', namespace: 'default', name: 'a-one' };

/** A guest whose commands end when the test says so. */
function setUp() {
  const world = bench();
  const started: {
    task: Task;
    agent: Agent;
    signal: AbortSignal;
    end: (result: CommandResult) => Promise<void>;
    lose: (why: string) => Promise<void>;
  }[] = [];
  const woken: string[] = [];
  /** Agents whose status says Ready and whose workspace is gone. */
  const dead = new Set<string>();
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
  const newController = () =>
    taskController({
      client: world.client,
      isLive: async ({ metadata }) => !dead.has(metadata.name),
      run: (agent, task, signal) =>
        new Promise((resolve, reject) => {
          signal.addEventListener('abort', () => reject(new Error('aborted')));
          if (signal.aborted) reject(new Error('aborted'));
          const end = (result: CommandResult) => {
            resolve(result);
            return settle();
          };
          const lose = (why: string) => {
            reject(new Error(why));
            return settle();
          };
          started.push({ agent, task, signal, end, lose });
        }),
    });
  const controller = newController();
  controller.wakes?.[0]?.(({ name }) => void woken.push(name));
  const task = (name = 'a-one') => world.get<Task>('Task', name);
  const look = (using = controller, client = world.client) => world.reconcile(using, 'Task', 'a-one', { client });
  const readyAgent = async (name: string, spec: JsonObject = {}) => {
    const agent = await world.client.create<Agent>(newAgent(name, spec));
    const condition = {
      type: 'Ready',
      status: 'True' as const,
      reason: 'Running',
      message: '',
      lastTransitionTime: '2026-01-02T03:04:05Z',
    };
    return world.client.updateStatus<Agent>({ ...agent, status: { phase: 'Ready', incarnation: 'run-1', conditions: [condition] } });
  };
  return { ...world, controller, newController, started, dead, woken, settle, task, look, readyAgent };
}

async function running(spec: JsonObject = {}) {
  const world = setUp();
  await world.readyAgent('a-worker');
  await world.client.create<Task>(newTask('a-one', spec));
  await world.look();
  await world.look();
  return world;
}

describe('the five standard cases', () => {
  it('converges from empty: claimed on disk first, then started, then its result kept', async () => {
    const { client, look, task, started, woken, readyAgent, ctx } = setUp();
    await readyAgent('a-worker');
    await client.create<Task>(newTask('a-one'));
    expect(await look()).toEqual({ requeueAfterMs: 0 });
    expect(started).toEqual([]);
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
    expect(await look()).toEqual({});
    expect(started.map(({ agent, task: { spec } }) => [agent.metadata.name, spec.command])).toEqual([['a-worker', 'true']]);
    expect(task()?.status).toMatchObject({ phase: 'Running', startedAt: '2026-01-02T03:04:05.000Z' });
    await started[0]?.end(OK);
    expect(woken).toEqual(['a-one']);
    await look();
    expect(task()?.status).toMatchObject({ phase: 'Succeeded', result: OK, finishedAt: '2026-01-02T03:04:05.000Z', observedGeneration: 1 });
    expect(task()?.status?.lease).toBeUndefined();
    expect(ctx.recorded).toEqual([
      { type: 'Normal', object: 'a-one', reason: 'Succeeded', message: 'attempt 1 exited with 0 after 0.5 s' },
    ]);
  });

  it.each(['Running', 'Succeeded'])('changes nothing on a second pass while it is %s', async (phase) => {
    const { look, task, started, pass } = await running();
    if (phase === 'Succeeded') {
      await started[0]?.end(OK);
      await look();
    }
    const before = task();
    expect(before?.status?.phase).toBe(phase);
    pass(60_000);
    expect(await look()).toEqual({});
    expect(task()).toBe(before);
    expect(started).toHaveLength(1);
  });

  it('follows a changed spec: cancelled ends what runs', async () => {
    const { client, look, task, started, settle } = await running();
    const now = task() as Task;
    await client.update<Task>({ ...now, spec: { ...now.spec, cancelled: true } });
    await look();
    expect(started[0]?.signal.aborted).toBe(true);
    await settle();
    await look();
    expect(task()?.status).toMatchObject({ phase: 'Failed', reason: 'Cancelled' });
    expect(conditionOf(task(), 'Ready')).toBe('False Cancelled: spec.cancelled is true');
  });

  it('tries a failed command again after a pause that doubles, says so meanwhile, and succeeds in the end', async () => {
    const { look, task, started, pass } = await running();
    await started[0]?.end({ ...OK, exitCode: 7, stderr: 'oh no' });
    expect(await look()).toEqual({ requeueAfterMs: 0 });
    expect(task()?.status).toMatchObject({ phase: 'Pending', reason: 'AttemptFailed', result: { exitCode: 7, stderr: 'oh no' } });
    expect(conditionOf(task(), 'Ready')).toBe('False AttemptFailed: attempt 1 of 3 exited with 7');
    expect(task()?.status?.owner).toBeUndefined();
    expect(task()?.status?.notes).toEqual([
      { time: '2026-01-02T03:04:05.000Z', author: 'system', text: 'AttemptFailed: attempt 1 of 3 exited with 7' },
    ]);
    expect(await look()).toEqual({ requeueAfterMs: 1_000 });
    pass(1_000);
    await look();
    await look();
    await started[1]?.end({ ...OK, exitCode: 1 });
    await look();
    expect(await look()).toEqual({ requeueAfterMs: 2_000 });
    pass(2_000);
    await look();
    await look();
    await started[2]?.end(OK);
    await look();
    expect(task()?.status).toMatchObject({ phase: 'Succeeded', attempt: 3, fencingToken: 3 });
    expect(task()?.status?.reason).toBeUndefined();
  });

  it('ends what runs when it is deleted, and goes only when that has ended', async () => {
    const { client, look, task, started, settle, woken } = await running();
    await client.delete(KEY);
    expect(await look()).toEqual({ requeueAfterMs: 1_000 });
    expect(started[0]?.signal.aborted).toBe(true);
    expect(task()?.metadata.deletionTimestamp).toBeDefined();
    await settle();
    expect(woken).toEqual(['a-one']);
    await look();
    expect(task()).toBeUndefined();
  });
});

describe('a task', () => {
  it('fails for good after its last attempt', async () => {
    const { look, task, started, ctx } = await running({ maxAttempts: 1 });
    await started[0]?.end({ ...OK, exitCode: 2 });
    await look();
    expect(task()?.status).toMatchObject({ phase: 'Failed', reason: 'MaxAttempts' });
    expect(conditionOf(task(), 'Ready')).toBe('False MaxAttempts: attempt 1 of 1 exited with 2');
    expect(ctx.recorded.map(({ reason }) => reason)).toEqual(['MaxAttempts']);
  });

  it('counts an agent that was lost as a failed attempt', async () => {
    const { look, task, started } = await running();
    await started[0]?.lose('connection closed');
    await look();
    expect(conditionOf(task(), 'Ready')).toBe('False AttemptFailed: attempt 1 of 3 lost its agent: connection closed');
  });

  it('is interrupted when it says Running but this process never started it, and goes on at once', async () => {
    const { newController, look, task, started } = await running();
    const restarted = newController();
    expect(await look(restarted)).toEqual({ requeueAfterMs: 0 });
    expect(task()?.status).toMatchObject({ phase: 'Pending', reason: 'Interrupted', attempt: 1 });
    expect(conditionOf(task(), 'Ready')).toBe('False Interrupted: the daemon that ran this attempt is gone');
    await look(restarted);
    await look(restarted);
    expect(task()?.status).toMatchObject({ phase: 'Running', attempt: 2, fencingToken: 2 });
    expect(started).toHaveLength(2);
  });

  it('of which only the claim was written is not started twice', async () => {
    const { client, look, task, newController, started, readyAgent } = setUp();
    await readyAgent('a-worker');
    await client.create<Task>(newTask('a-one'));
    await look();
    await look(newController());
    expect([task()?.status?.reason, started]).toEqual(['Interrupted', []]);
  });

  it('does not start when its claim could not be written', async () => {
    const { client, look, task, started, controller, readyAgent } = setUp();
    await readyAgent('a-worker');
    await client.create<Task>(newTask('a-one'));
    const failing = interceptClient(client, (verb) => {
      if (verb === 'updateStatus') throw new UnavailableError('disk full');
    });
    await expect(look(controller, failing)).rejects.toThrow('disk full');
    expect([task()?.status?.phase, started]).toEqual([undefined, []]);
    await look();
    await look();
    expect([task()?.status?.attempt, started.length]).toEqual([1, 1]);
  });

  it('keeps its outcome until that is written', async () => {
    const { client, look, task, started, controller } = await running();
    await started[0]?.end(OK);
    const failing = interceptClient(client, (verb) => {
      if (verb === 'updateStatus') throw new ConflictError('somebody was faster');
    });
    await look(controller, failing);
    expect(task()?.status?.phase).toBe('Running');
    await look();
    expect([task()?.status?.phase, started.length]).toEqual(['Succeeded', 1]);
  });

  it('goes to another agent when the one that claimed it is gone before it starts', async () => {
    const { client, look, task, started, readyAgent } = setUp();
    await readyAgent('a-worker');
    await client.create<Task>(newTask('a-one'));
    await look();
    await client.delete({ kind: 'Agent', namespace: 'default', name: 'a-worker' });
    await readyAgent('a-other');
    expect(await look()).toEqual({ requeueAfterMs: 0 });
    expect(conditionOf(task(), 'Ready')).toBe('False AgentGone: agent a-worker was deleted before the attempt began');
    await look();
    await look();
    expect(started.map(({ agent }) => agent.metadata.name)).toEqual(['a-other']);
  });

  it('says what it waits for, and is looked at again when anything of its team changes', async () => {
    const { client, controller, look, task, readyAgent } = setUp();
    await client.create<Task>(newTask('a-one', { dependsOn: ['zero'] }));
    await look();
    expect(task()?.status).toMatchObject({ phase: 'Blocked', reason: 'DependencyNotFound', blockedBy: ['zero'] });
    expect(conditionOf(task(), 'Ready')).toBe('False DependencyNotFound: waits for zero');
    const zero = await client.create<Task>(newTask('a-zero'));
    expect(controller.watches?.find(({ kind }) => kind === 'Task')?.toKeys(zero)).toEqual([KEY]);
    await client.updateStatus<Task>({ ...zero, status: { phase: 'Succeeded' } });
    await look();
    expect(task()?.status).toMatchObject({ phase: 'Pending', reason: 'NoAgent' });
    expect(task()?.status?.blockedBy).toBeUndefined();
    const agent = await readyAgent('a-worker');
    expect(controller.watches?.find(({ kind }) => kind === 'Agent')?.toKeys(agent)).toEqual([KEY]);
    await look();
    expect(controller.watches?.find(({ kind }) => kind === 'Agent')?.toKeys(agent)).toEqual([]);
  });

  it('that is cancelled before it starts never runs', async () => {
    const { client, look, task, started, readyAgent } = setUp();
    await readyAgent('a-worker');
    await client.create<Task>(newTask('a-one', { cancelled: true }));
    await look();
    expect([task()?.status?.reason, started]).toEqual(['Cancelled', []]);
  });
});

it('gives nothing to an agent whose status is from before a restart', async () => {
  const { client, look, task, readyAgent, dead } = setUp();
  await client.create<Task>(newTask('a-one'));
  await readyAgent('a-worker');
  dead.add('a-worker');
  await look();
  expect(task()?.status).toMatchObject({ phase: 'Pending', reason: 'AgentNotReady' });
  dead.clear();
  await look();
  expect(task()?.status).toMatchObject({ phase: 'Claimed', attempt: 1 });
});
