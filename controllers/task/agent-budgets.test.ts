/** A budget of an agent's own: set aside, settled and given back as that of a team, and nobody waits for it who could go to somebody else. */
import { describe, expect, it } from 'vitest';
import type { Agent, Task, Team } from '#api/types.ts';
import type { JsonObject } from '#lib/json.ts';
import { conditionOf, newTask, newTeam } from '../../test/support/controllers.ts';
import { Budgets } from './budgets.ts';
import { OK, ONE, setUp } from './controller.fixture.ts';
import { fakeMeter } from './meter.fixture.ts';

/** A team without limits; its agent `a-worker` has some. */
async function withAgent(budget: JsonObject, teamBudget: JsonObject = {}) {
  const { meter, count } = fakeMeter();
  const world = setUp({ meter });
  await world.client.create<Team>(newTeam('a', { budget: teamBudget }));
  await world.readyAgent('a-worker', { maxConcurrentTasks: 64, budget });
  const agent = (name = 'a-worker') => world.get<Agent>('Agent', name) as Agent;
  const spending = (name = 'a-worker') => {
    const { used, reserved, remaining } = agent(name).status?.spending ?? {};
    return { used: used?.tokens, reserved: reserved?.tokens, remaining };
  };
  const task = (name: string) => world.get<Task>('Task', name);
  const add = async (name: string, spec: JsonObject = {}) => {
    await world.client.create<Task>(newTask(name, spec));
    await world.lookAt(name);
    await world.lookAt(name);
    return task(name)?.status;
  };
  const end = async (name: string, run: number) => {
    world.attempts.runs[run]?.end(OK);
    await world.lookAt(name);
    await world.lookAt(name);
  };
  const raise = (more: JsonObject) => world.client.update<Agent>({ ...agent(), spec: { ...agent().spec, budget: more } });
  return { ...world, count, agent, spending, task, add, end, raise };
}

describe('the budget of an agent', () => {
  it('is set aside at the claim beside that of its team, and what is not used is given back', async () => {
    const { add, task, count, spending, end, get } = await withAgent({ tokens: 1_000 }, { tokens: 5_000 });
    expect((await add('a-one', { budget: { tokens: 400 } }))?.budget?.reserved).toEqual({ tokens: 400 });
    expect(spending()).toEqual({ used: 0, reserved: 400, remaining: { tokens: 600 } });
    count(task('a-one'), 150);
    await end('a-one', 0);
    expect(spending()).toEqual({ used: 150, reserved: 0, remaining: { tokens: 850 } });
    expect(get<Team>('Team', 'a')?.status?.spending).toMatchObject({ used: { tokens: 150 }, remaining: { tokens: 4_850 } });
  });

  it('freezes what runs when it is used up, and lets it go on when it is raised', async () => {
    const { add, task, count, lookAt, attempts, raise, tell, end, spending } = await withAgent({ tokens: 100 });
    expect((await add('a-one'))?.budget?.reserved).toEqual({ tokens: 10 });
    count(task('a-one'), 120);
    await lookAt('a-one');
    expect(attempts.runs[0]?.isFrozen).toBe(true);
    expect(conditionOf(task('a-one'), 'Frozen')).toMatch(/^True BudgetExhausted.*the budget.tokens of agent a-worker is 100 tokens/);
    // More than was set aside is gone: nobody else gets it.
    expect(spending()).toEqual({ used: 0, reserved: 120, remaining: { tokens: 0 } });
    expect((await add('a-two'))?.reason).toBe('BudgetExhausted');
    tell();
    expect(tell()).toEqual([]);
    await raise({ tokens: 200 });
    expect(tell()).toContain('a-one');
    await lookAt('a-one');
    expect(attempts.runs[0]?.isFrozen).toBe(false);
    await end('a-one', 0);
    expect(spending()).toEqual({ used: 120, reserved: 0, remaining: { tokens: 80 } });
  });

  it('that is used up sends Tasks to others, and keeps only those that nobody else may have', async () => {
    const { add, task, readyAgent, raise, tell, lookAt, count, end } = await withAgent({ tokens: 100 });
    await add('a-one', { budget: { tokens: 100 } });
    count(task('a-one'), 100);
    await end('a-one', 0);
    const waiting = await add('a-two', { assignTo: 'a-worker' });
    expect([waiting?.phase, waiting?.reason]).toEqual(['Pending', 'BudgetExhausted']);
    expect((await add('a-three'))?.reason).toBe('BudgetExhausted');
    tell();
    await readyAgent('a-other', { maxConcurrentTasks: 1 });
    expect(tell()).toContain('a-three');
    await lookAt('a-three');
    expect(task('a-three')?.status?.owner).toBe('a-other');
    // Everybody who can be paid is busy: it keeps its turn.
    expect((await add('a-four'))?.reason).toBe('AgentsBusy');
    await raise({ tokens: 1_000 });
    expect(tell()).toEqual(expect.arrayContaining(['a-two', 'a-four']));
    for (const name of ['a-two', 'a-four']) await lookAt(name);
    expect(['a-two', 'a-four'].map((name) => task(name)?.status?.owner)).toEqual(['a-worker', 'a-worker']);
  });

  it('holds for what the agent claims by itself', async () => {
    const { add, book, as, spending } = await withAgent({ tokens: 100 });
    await add('a-one', { prompt: 'do it', budget: { tokens: 90 } });
    await add('a-two', { prompt: 'do it', budget: { tokens: 90 } });
    expect(await book.claim(as('a-worker'), ONE)).toMatchObject({ claimed: true });
    expect(spending()).toMatchObject({ reserved: 90 });
    await expect(book.claim(as('a-worker'), { ...ONE, task: 'two' })).rejects.toMatchObject({ reason: 'BudgetExhausted' });
  });

  it('is given back by a Task that goes to somebody else, or is deleted', async () => {
    const { add, task, count, attempts, lookAt, spending, client, reconcile, controller, readyAgent, edit } = await withAgent({
      tokens: 100,
    });
    await add('a-one', { budget: { tokens: 60 } });
    count(task('a-one'), 20);
    attempts.runs[0]?.end({ ...OK, exitCode: 1 });
    await readyAgent('a-other', { budget: { tokens: 500 } });
    await edit({ assignTo: 'a-other' });
    await lookAt('a-one');
    await lookAt('a-one');
    expect(spending()).toEqual({ used: 20, reserved: 0, remaining: { tokens: 80 } });
    await add('a-two', { assignTo: 'a-worker', budget: { tokens: 80 } });
    expect(spending()).toMatchObject({ reserved: 80 });
    await client.delete({ kind: 'Task', namespace: 'default', name: 'a-two' });
    await reconcile(controller, 'Task', 'a-two');
    expect(spending()).toEqual({ used: 20, reserved: 0, remaining: { tokens: 80 } });
  });

  it('is given back of a claim that a daemon was killed in the middle of', async () => {
    const world = await withAgent({ tokens: 100 });
    await world.client.create<Task>(newTask('a-one', { budget: { tokens: 60 } }));
    const before = world.task('a-one') as Task;
    // Set aside, and never claimed.
    await new Budgets(world.client).reserve({ ...before, status: {} }, 'a-worker', world.ctx.now());
    expect(world.spending()).toMatchObject({ reserved: 60 });
    await new Budgets(world.client).settle({ ...before, status: {} });
    expect(world.spending()).toEqual({ used: 0, reserved: 0, remaining: { tokens: 100 } });
  });
});
