import { describe, expect, it } from 'vitest';
import type { Agent, Task } from '#api/types.ts';
import { conditionOf, newTask } from '../../test/support/controllers.ts';
import { OK, setUp } from './controller.fixture.ts';

const WHY = 'the branches of other and worker do not fit in a.txt, which it would touch; what else can run goes first';

/** a-two runs; a-one would touch a file in which two branches do not fit. */
async function inConflict() {
  const world = setUp();
  const { client, readyAgent, lookAt } = world;
  await readyAgent('a-worker', { maxConcurrentTasks: 4 });
  await readyAgent('a-other', { maxConcurrentTasks: 4 });
  const setConflicts = async (files: readonly string[]) => {
    const agent = world.get<Agent>('Agent', 'a-worker') as Agent;
    const conflicts = files.length > 0 ? { conflicts: [{ agent: 'other', files: [...files] }] } : {};
    const { conflicts: _, ...status } = agent.status ?? {};
    await client.updateStatus<Agent>({ ...agent, status: { ...status, ...conflicts } });
  };
  await setConflicts(['a.txt', 'b.txt']);
  await client.create<Task>(newTask('a-two'));
  for (let pass = 0; pass < 2; pass++) await lookAt('a-two');
  await client.create<Task>(newTask('a-one', { files: ['a.*'] }));
  expect(await lookAt('a-one')).toEqual({ requeueAfterMs: 30_000 });
  world.tell();
  return { ...world, setConflicts };
}

describe('a task that would touch files in which branches do not fit', () => {
  it('waits while another one runs, and says why, once', async () => {
    const { task, lookAt, ctx } = await inConflict();
    expect(task('a-two')?.status?.phase).toBe('Running');
    const before = task();
    expect(before?.status).toMatchObject({ phase: 'Pending', reason: 'FilesInConflict' });
    expect([conditionOf(before, 'Ready'), conditionOf(before, 'FilesInConflict')]).toEqual([
      `False FilesInConflict: ${WHY}`,
      `True BranchesConflict: ${WHY}`,
    ]);
    await lookAt('a-one');
    expect(task()).toBe(before);
    expect(ctx.recorded.filter(({ reason }) => reason === 'FilesInConflict')).toHaveLength(1);
  });

  it('starts when nothing else can run', async () => {
    const { task, lookAt, attempts, tell } = await inConflict();
    attempts.runs[0]?.end(OK);
    await lookAt('a-two');
    expect(tell()).toContain('a-one');
    await lookAt('a-one');
    expect(task()?.status).toMatchObject({ phase: 'Claimed', attempt: 1 });
    expect(conditionOf(task(), 'FilesInConflict')).toBeUndefined();
  });

  it('starts when the branches fit again', async () => {
    const { task, lookAt, setConflicts, tell } = await inConflict();
    await setConflicts(['b.txt']);
    expect(tell()).toContain('a-one');
    await lookAt('a-one');
    expect(task()?.status).toMatchObject({ phase: 'Claimed' });
  });

  it('starts after ten minutes, whatever runs: that may wait for this one', async () => {
    const { task, lookAt, pass, ctx } = await inConflict();
    pass(9 * 60_000);
    await lookAt('a-one');
    expect(task()?.status?.reason).toBe('FilesInConflict');
    pass(60_000);
    await lookAt('a-one');
    expect(task()?.status).toMatchObject({ phase: 'Claimed' });
    expect(ctx.recorded.map(({ reason }) => reason)).toContain('WaitedLongEnough');
  });

  it('stands in line like the others when it has waited long enough and finds no place', async () => {
    const { task, lookAt, pass, attempts, tell, client, get } = await inConflict();
    pass(600_000);
    for (const name of ['a-worker', 'a-other']) {
      const agent = get<Agent>('Agent', name) as Agent;
      await client.update<Agent>({ ...agent, spec: { ...agent.spec, maxConcurrentTasks: 1 } });
    }
    await client.create<Task>(newTask('a-three', { priority: 1 }));
    for (let round = 0; round < 2; round++) await lookAt('a-three');
    await lookAt('a-one');
    expect(task()?.status).toMatchObject({ phase: 'Pending', reason: 'AgentsBusy' });
    attempts.runs.at(-1)?.end(OK);
    await lookAt('a-three');
    expect(tell()).toContain('a-one');
    await lookAt('a-one');
    expect(task()?.status).toMatchObject({ phase: 'Claimed' });
    expect(task('a-two')?.status?.phase).toBe('Running');
  });

  it('may be claimed by hand all the same: who asks for it knows', async () => {
    const { client, lookAt, book, as, task } = await inConflict();
    await client.create<Task>(newTask('a-open', { prompt: 'mend a.txt', files: ['a.txt'] }));
    await lookAt('a-open');
    expect(task('a-open')?.status?.reason).toBe('OpenForClaim');
    const place = { namespace: 'default', team: 'a', task: 'open' };
    expect(await book.claim(as('a-other'), place)).toMatchObject({ claimed: true });
  });
});
