import { describe, expect, it } from 'vitest';
import type { Agent, Task } from '#api/types.ts';
import { conditionOf, newTask } from '../../test/support/controllers.ts';
import { OK, ONE, pulled, running, setUp } from './controller.fixture.ts';
import type { Verification } from './verifier.ts';

describe('spec.retry', () => {
  it('tries a failed task once more, with all its attempts, and lets those go on that waited for it', async () => {
    const { client, look, lookAt, task, run, edit, attempts, pass, tell } = await running({ maxAttempts: 1 });
    await client.create<Task>(newTask('a-two', { dependsOn: ['one'] }));
    run.end({ ...OK, exitCode: 1 });
    await look();
    await lookAt('a-two');
    expect([task()?.status?.reason, task('a-two')?.status?.reason]).toEqual(['MaxAttempts', 'DependencyFailed']);
    await edit({ retry: 1 });
    await look();
    expect(task()?.status).toMatchObject({ phase: 'Pending', reason: 'Retried', failures: 0, retries: 1, attempt: 1 });
    expect(tell()).toContain('a-two');
    await lookAt('a-two');
    expect(task('a-two')?.status?.reason).toBe('DependenciesPending');
    await look();
    await look();
    attempts.runs[1]?.end(OK);
    await look();
    expect(task()?.status).toMatchObject({ phase: 'Succeeded', attempt: 2, fencingToken: 2 });
    await lookAt('a-two');
    expect(task('a-two')?.status?.phase).toBe('Claimed');
    const before = task();
    pass(1);
    await look();
    await look();
    expect(task()).toBe(before);
  });

  it('that a task was made with asks for nothing', async () => {
    const { look, task, run } = await running({ maxAttempts: 1, retry: 3 });
    run.end({ ...OK, exitCode: 1 });
    await look();
    await look();
    expect(task()?.status).toMatchObject({ phase: 'Failed', reason: 'MaxAttempts', retries: 3 });
  });
});

it('says when everything that a task waited for has succeeded', async () => {
  const { client, look, lookAt, run, ctx } = await running();
  await client.create<Task>(newTask('a-two', { dependsOn: ['one'] }));
  await lookAt('a-two');
  run.end(OK);
  await look();
  await lookAt('a-two');
  expect(ctx.recorded.filter(({ reason }) => reason === 'TaskUnblocked')).toEqual([
    { type: 'Normal', object: 'a-two', reason: 'TaskUnblocked', message: 'everything it waited for has succeeded: one' },
  ]);
});

describe('ttlSecondsAfterFinished', () => {
  it('deletes a finished task on time, but none that others wait for', async () => {
    const { client, look, lookAt, task, run, pass } = await running({ ttlSecondsAfterFinished: 60 });
    await client.create<Task>(newTask('a-two', { dependsOn: ['one'], assignTo: 'nobody' }));
    await lookAt('a-two');
    run.end(OK);
    await look();
    expect(await look()).toEqual({ requeueAfterMs: 60_000 });
    pass(60_000);
    expect(await look()).toEqual({ requeueAfterMs: 10_000 });
    expect(task()).toBeDefined();
    await client.delete({ kind: 'Task', namespace: 'default', name: 'a-two' });
    await lookAt('a-two');
    await look();
    await look();
    expect(task()).toBeUndefined();
  });

  it('does not run tasks of a team’s own list over and over', async () => {
    const { look, task, run, client, pass } = await running({ ttlSecondsAfterFinished: 1 });
    const ownerReferences = [{ apiVersion: 'agentiso.dev/v1alpha1', kind: 'Team', name: 'a', uid: 'u', controller: true }];
    const now = task() as Task;
    await client.update<Task>({ ...now, metadata: { ...now.metadata, ownerReferences } });
    run.end(OK);
    await look();
    pass(10_000);
    expect(await look()).toEqual({});
    expect(task()).toBeDefined();
  });
});

/** Three tasks of this team took 10 s each. */
async function withPace(spec: Parameters<typeof pulled>[0] = {}) {
  const world = await pulled(spec, { stuckFloorMs: 0 });
  for (const name of ['a-p1', 'a-p2', 'a-p3']) {
    const made = await world.client.create<Task>(newTask(name));
    await world.client.updateStatus<Task>({ ...made, status: { phase: 'Succeeded', result: { elapsedSeconds: 10 } } });
  }
  const me = world.as('a-worker');
  const uid = world.get<Agent>('Agent', 'a-worker')?.metadata.uid;
  const later = async (ms: number) => {
    world.pass(ms);
    world.attempts.agentsSeenMs.set(`${uid}/run-1`, world.ctx.now().getTime());
    return world.look();
  };
  await world.book.update(me, ONE, { status: 'in_progress' });
  await world.look();
  world.notices.news();
  return { ...world, me, later };
}

describe('a task that gets nowhere', () => {
  it('is marked after twice the average, told to the lead, asked about, and unmarked by a word of progress', async () => {
    const { later, look, task, notices, book, me, ctx } = await withPace();
    expect(await later(19_000)).toEqual({ requeueAfterMs: 1_000 });
    expect(conditionOf(task(), 'Stuck')).toBeUndefined();
    await later(1_000);
    const why = 'no progress for 20 s; tasks of this team take 10 s on average';
    expect(conditionOf(task(), 'Stuck')).toBe(`True NoProgress: ${why}`);
    await look();
    await look();
    expect(notices.news()).toEqual([
      `task_update lead: Task one on worker seems to be stuck: ${why}.`,
      `nudge worker: How is task one getting on? ${why}.`,
    ]);
    expect(ctx.recorded.filter(({ reason }) => reason === 'Stuck')).toHaveLength(1);
    await later(100_000);
    expect(task()?.status?.phase).toBe('Running');
    await book.update(me, ONE, { progress: 'nearly' });
    await look();
    expect(conditionOf(task(), 'Stuck')).toBe('False Progress: a-worker is getting on');
    await book.complete(me, ONE, {});
    await look();
    expect(task()?.status?.phase).toBe('Succeeded');
  });

  it('is given to somebody else after another minute if stuckPolicy says so', async () => {
    const { later, task, notices } = await withPace({ stuckPolicy: 'Reassign' });
    await later(20_000);
    await later(30_000);
    expect(await later(29_000)).toEqual({ requeueAfterMs: 1_000 });
    await later(1_000);
    expect(task()?.status).toMatchObject({ phase: 'Pending', reason: 'Stuck', failures: 1 });
    expect(notices.news().at(-1)).toMatch(/^task_update worker: Task one is no longer yours: it made no progress/);
    await later(0);
    expect(conditionOf(task(), 'Stuck')).toBe('False NotRunning: ');
  });

  it('goes to another agent if there is one', async () => {
    const { look, attempts, run, pass, client, task, readyAgent, ctx, controller } = await running({ stuckPolicy: 'Reassign' });
    for (const name of ['a-p1', 'a-p2', 'a-p3']) {
      const made = await client.create<Task>(newTask(name));
      await client.updateStatus<Task>({ ...made, status: { phase: 'Succeeded', result: { elapsedSeconds: 20 } } });
    }
    await readyAgent('a-other', { maxConcurrentTasks: 1 });
    const uid = task()?.metadata.uid;
    for (let round = 0; round < 10; round++) {
      pass(10_000);
      attempts.seenMs.set(`${uid}/1`, ctx.now().getTime());
      await look(controller);
    }
    expect([task()?.status?.reason, run.isRevoked]).toEqual(['Stuck', true]);
    pass(1_000);
    await look();
    expect(task()?.status?.owner).toBe('a-other');
  });
});

describe('running tasks that name the same files', () => {
  it('are marked, both of them, until one has ended', async () => {
    const { client, look, lookAt, task, run, attempts, tell } = await running({ files: ['src/**'] });
    await client.create<Task>(newTask('a-two', { files: ['src/api/x.ts', 'docs/*'] }));
    await client.create<Task>(newTask('a-three', { files: ['README.md'] }));
    for (const name of ['a-two', 'a-two', 'a-three', 'a-three']) await lookAt(name);
    expect(tell()).not.toContain('a-three');
    for (const name of ['a-one', 'a-two', 'a-three']) await lookAt(name);
    expect(['a-one', 'a-two', 'a-three'].map((name) => conditionOf(task(name), 'FileOverlap'))).toEqual([
      'True FilesOverlap: may touch the same files as a-two',
      'True FilesOverlap: may touch the same files as a-one',
      undefined,
    ]);
    run.end(OK);
    await look();
    expect(tell()).toEqual(['a-two']);
    await look();
    await lookAt('a-two');
    expect(['a-one', 'a-two'].map((name) => conditionOf(task(name), 'FileOverlap'))).toEqual(['False NotRunning: ', 'False NoOverlap: ']);
    expect(attempts.runs).toHaveLength(3);
  });
});

function verifying() {
  const asked: string[] = [];
  const forgotten: string[] = [];
  const answers: (Verification | undefined)[] = [];
  const verifier = {
    asked,
    forgotten,
    answers,
    async verify(task: Task, agent: Agent) {
      asked.push(`${agent.metadata.name} ${task.status?.attempt}`);
      return answers.shift();
    },
    forget: async (uid: string) => void forgotten.push(uid),
    wake: () => () => {},
  };
  const world = setUp({ verifier });
  return { ...world, verifier };
}

describe('verify', () => {
  const passed = { attempt: 1, passed: true, commit: 'c0ffee', commands: [{ command: 'make test', exitCode: 0, output: 'ok' }] };

  it('decides, after exit 0, whether the task has succeeded; its result is acknowledged meanwhile', async () => {
    const { client, readyAgent, look, task, attempts, verifier } = verifying();
    await readyAgent('a-worker');
    await client.create<Task>(newTask('a-one', { verify: ['make test'] }));
    await look();
    await look();
    attempts.runs[0]?.end(OK);
    await look();
    expect(task()?.status).toMatchObject({ phase: 'Running', reason: 'Verifying', result: { stdout: 'hi\n' } });
    expect(conditionOf(task(), 'Verified')).toBe('Unknown Verifying: the work of attempt 1 is being checked');
    expect(await look()).toEqual({ requeueAfterMs: 10_000 });
    expect(attempts.accepted).toHaveLength(1);
    verifier.answers.push(passed);
    await look();
    expect(task()?.status).toMatchObject({ phase: 'Succeeded', verification: { ...passed } });
    expect(conditionOf(task(), 'Verified')).toBe('True Passed: all 1 commands passed');
    await look();
    expect([verifier.asked, verifier.forgotten]).toEqual([['a-worker 1', 'a-worker 1'], [task()?.metadata.uid]]);
  });

  it('that fails is a failed attempt, of a claim by the book as well', async () => {
    const { client, readyAgent, look, task, book, as, verifier, pass } = verifying();
    await readyAgent('a-worker');
    await client.create<Task>(newTask('a-one', { prompt: 'x', verify: ['make test'], maxAttempts: 2 }));
    await look();
    await book.claim(as('a-worker'), ONE);
    expect(await book.complete(as('a-worker'), ONE, { result: 'done' })).toBe('in_progress');
    expect(await book.complete(as('a-worker'), ONE, { result: 'done' })).toBe('in_progress');
    verifier.answers.push({ ...passed, passed: false, commands: [{ command: 'make test', exitCode: 2, output: 'no' }] });
    await look();
    expect(conditionOf(task(), 'Ready')).toBe('False VerifyFailed: attempt 1 of 2 did not pass verification: make test exited with 2');
    expect(conditionOf(task(), 'Verified')).toBe('False VerifyFailed: make test exited with 2');
    await expect(book.complete(as('a-worker'), ONE, {})).rejects.toMatchObject({ code: 'FenceLost' });
    expect(await look()).toEqual({ requeueAfterMs: 1_000 });
    pass(1_000);
    await look();
    expect(task()?.status?.reason).toBe('OpenForClaim');
  });
});
