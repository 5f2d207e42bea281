/** Tokens, money and time: set aside at the claim, counted in every team above, given back at the end; and what becomes of whom they do not suffice for. */
import { describe, expect, it } from 'vitest';
import type { Task, Team } from '#api/types.ts';
import type { JsonObject } from '#lib/json.ts';
import { conditionOf, newTask, newTeam } from '../../test/support/controllers.ts';
import { OK, ONE, setUp } from './controller.fixture.ts';
import { fakeMeter } from './meter.fixture.ts';

/** A team with one agent that takes many tasks. */
async function withBudget(budget: JsonObject, deps: Parameters<typeof setUp>[0] = {}) {
  const { meter, count } = fakeMeter();
  const world = setUp({ meter, ...deps });
  await world.client.create<Team>(newTeam('a', { budget }));
  await world.readyAgent('a-worker', { maxConcurrentTasks: 64 });
  const team = (name = 'a') => world.get<Team>('Team', name);
  const spending = (name = 'a') => {
    const { used, reserved, remaining } = team(name)?.status?.spending ?? {};
    return { used, reserved, remaining };
  };
  const task = (name: string) => world.get<Task>('Task', name);
  const add = async (name: string, spec: JsonObject = {}) => {
    await world.client.create<Task>(newTask(name, spec));
    await world.lookAt(name);
    await world.lookAt(name);
    return task(name)?.status;
  };
  const change = async (name: string, more: JsonObject) => {
    const now = team(name) as Team;
    await world.client.update<Team>({ ...now, spec: { ...now.spec, budget: { ...now.spec.budget, ...more } } });
  };
  return { ...world, count, team, spending, task, add, change };
}

describe('a claim', () => {
  it('sets aside what the Task may use, and gives back what it has not used', async () => {
    const { add, spending, task, count, attempts, lookAt } = await withBudget({ tokens: 1_000, usd: '1' });
    const status = await add('a-one', { budget: { tokens: 400, usd: '0.25' } });
    expect([status?.phase, status?.budget?.reserved]).toEqual(['Running', { tokens: 400, usd: '0.25' }]);
    expect(spending()).toEqual({
      used: { tokens: 0, usd: '0', seconds: 0 },
      reserved: { tokens: 400, usd: '0.25', seconds: 0 },
      remaining: { tokens: 600, usd: '0.75' },
    });
    count(task('a-one'), 150, 30_000);
    await lookAt('a-one');
    expect(task('a-one')?.status?.budget?.used).toMatchObject({ tokens: 150, usd: '0.03' });
    attempts.runs[0]?.end(OK);
    await lookAt('a-one');
    await lookAt('a-one');
    expect(task('a-one')?.status).toMatchObject({ phase: 'Succeeded', budget: { used: { tokens: 150, usd: '0.03' } } });
    expect(task('a-one')?.status?.budget?.reserved).toBeUndefined();
    expect(spending()).toMatchObject({
      used: { tokens: 150, usd: '0.03' },
      reserved: { tokens: 0 },
      remaining: { tokens: 850, usd: '0.97' },
    });
  });

  it('that does not fit waits, lets smaller ones go first, and goes on when something is given back', async () => {
    const { add, task, attempts, lookAt, tell } = await withBudget({ tokens: 1_000 });
    await add('a-one', { budget: { tokens: 600 } });
    const waiting = await add('a-two', { budget: { tokens: 600 } });
    expect([waiting?.phase, waiting?.reason, waiting?.attempt ?? 0]).toEqual(['Pending', 'BudgetExhausted', 0]);
    expect(conditionOf(task('a-two'), 'Ready')).toContain('400 tokens are left, and it needs 600 tokens');
    expect((await add('a-three', { budget: { tokens: 300 } }))?.phase).toBe('Running');
    attempts.runs[0]?.end(OK);
    await lookAt('a-one');
    await lookAt('a-one');
    expect(tell()).toContain('a-two');
    await lookAt('a-two');
    expect(task('a-two')?.status?.phase).toBe('Claimed');
  });

  it('goes on when the budget is raised', async () => {
    const { add, change, tell, lookAt, task } = await withBudget({ tokens: 100 });
    await add('a-one', { budget: { tokens: 600 } });
    tell();
    expect(tell()).not.toContain('a-one');
    await change('a', { tokens: 600 });
    expect(tell()).toContain('a-one');
    await lookAt('a-one');
    expect(task('a-one')?.status?.phase).toBe('Claimed');
  });

  it('counts in every team above, and waits for the one that is short', async () => {
    const world = await withBudget({ tokens: 500 });
    await world.client.create<Team>(newTeam('below', { parent: 'a', budget: { maxAgents: 1, seconds: 900 } }));
    await world.readyAgent('below-worker', { team: 'below' });
    await world.add('below-one', { team: 'below', budget: { tokens: 400, seconds: 60 } });
    expect(world.spending('a')).toMatchObject({ reserved: { tokens: 400, seconds: 60 }, remaining: { tokens: 100 } });
    expect(world.spending('below')).toMatchObject({ reserved: { tokens: 400, seconds: 60 }, remaining: { seconds: 840 } });
    expect((await world.add('a-one', { budget: { tokens: 200 } }))?.reason).toBe('BudgetExhausted');
    world.count(world.task('below-one'), 70);
    world.attempts.runs[0]?.end(OK);
    await world.lookAt('below-one');
    await world.lookAt('below-one');
    expect(world.spending('a')).toMatchObject({ used: { tokens: 70 }, reserved: { tokens: 0 }, remaining: { tokens: 430 } });
    expect(world.spending('below')).toMatchObject({ used: { tokens: 70 }, reserved: { tokens: 0 } });
  });

  it('by the book is held to the same', async () => {
    const { add, book, as, spending, lookAt, task } = await withBudget({ tokens: 1_000 });
    await add('a-one', { prompt: 'do it', budget: { tokens: 900 } });
    await add('a-two', { prompt: 'do it', budget: { tokens: 900 } });
    expect(await book.claim(as('a-worker'), ONE)).toMatchObject({ claimed: true });
    expect(spending()).toMatchObject({ reserved: { tokens: 900 }, remaining: { tokens: 100 } });
    await expect(book.claim(as('a-worker'), { ...ONE, task: 'two' })).rejects.toMatchObject({ reason: 'BudgetExhausted' });
    await book.release(as('a-worker'), ONE);
    await lookAt('a-one');
    expect([task('a-one')?.status?.budget?.reserved, spending().remaining]).toEqual([undefined, { tokens: 1_000 }]);
    expect(await book.claim(as('a-worker'), { ...ONE, task: 'two' })).toMatchObject({ claimed: true });
  });

  it('is one of many at once, and the limit is never passed in any version', async () => {
    const world = await withBudget({ tokens: 1_000 });
    await world.client.create<Team>(newTeam('below', { parent: 'a', budget: { maxAgents: 1, tokens: 700 } }));
    await world.readyAgent('below-worker', { team: 'below', maxConcurrentTasks: 64 });
    const overdrawn: unknown[] = [];
    world.store.watch('Team', {}, ({ object }) => {
      const { spec, status } = object as Team;
      const { used, reserved } = status?.spending ?? {};
      if ((used?.tokens ?? 0) + (reserved?.tokens ?? 0) > (spec.budget.tokens ?? 0)) overdrawn.push(status?.spending);
    });
    const names = Array.from({ length: 24 }, (_, index) => (index % 2 === 0 ? `a-t${index}` : `below-t${index}`));
    for (const name of names) {
      await world.client.create<Task>(newTask(name, { team: name.startsWith('a-') ? 'a' : 'below', budget: { tokens: 150 } }));
      await world.lookAt(name);
    }
    // Some have lost the race for the team's next version: they come again, as the runtime lets them.
    for (let round = 0; round < 5; round++) await Promise.allSettled(names.map((name) => world.reconcile(world.controller, 'Task', name)));
    const claimed = names.filter((name) => world.task(name)?.status?.owner !== undefined);
    expect(overdrawn).toEqual([]);
    expect(claimed).toHaveLength(6);
    expect(world.spending('a')).toMatchObject({ reserved: { tokens: 900 }, remaining: { tokens: 100 } });
    const below = claimed.filter((name) => name.startsWith('below'));
    expect(world.spending('below').reserved?.tokens).toBe(below.length * 150);
  });

  it('of a Task that is deleted is settled, too', async () => {
    const { add, client, controller, reconcile, spending, count, task } = await withBudget({ tokens: 1_000 });
    await add('a-one', { budget: { tokens: 400 } });
    count(task('a-one'), 33);
    await client.delete({ kind: 'Task', namespace: 'default', name: 'a-one' });
    await reconcile(controller, 'Task', 'a-one');
    expect([task('a-one'), spending().remaining]).toEqual([undefined, { tokens: 967 }]);
  });
});

describe('a running Task', () => {
  it('without a budget of its own is given a tenth at a time, while there is some', async () => {
    const { add, task, count, lookAt, spending, attempts, change, tell } = await withBudget({ tokens: 1_000 });
    expect((await add('a-one'))?.budget?.reserved).toEqual({ tokens: 100 });
    count(task('a-one'), 130);
    await lookAt('a-one');
    expect(task('a-one')?.status?.budget?.reserved).toEqual({ tokens: 230 });
    expect(spending()).toMatchObject({ reserved: { tokens: 230 }, remaining: { tokens: 770 } });
    count(task('a-one'), 900);
    await lookAt('a-one');
    expect(conditionOf(task('a-one'), 'Frozen')).toMatch(/^True BudgetExhausted/);
    expect(attempts.runs[0]?.isFrozen).toBe(true);
    await change('a', { tokens: 5_000 });
    expect(tell()).toContain('a-one');
    await lookAt('a-one');
    expect(attempts.runs[0]?.isFrozen).toBe(false);
  });

  it('that has used up its budget is frozen, keeps its lease, and goes on when it may use more', async () => {
    const { add, task, count, lookAt, edit, attempts, pass } = await withBudget({ tokens: 10_000 });
    await add('a-one', { budget: { tokens: 100 }, timeoutSeconds: 60 });
    count(task('a-one'), 120);
    await lookAt('a-one');
    expect(attempts.runs[0]?.isFrozen).toBe(true);
    expect(conditionOf(task('a-one'), 'Frozen')).toMatch(
      /^True BudgetExhausted.*it has used 120 tokens, and its budget.tokens is 100 tokens/,
    );
    // For longer than a lease, with heartbeats that say that it is there.
    for (let step = 0; step < 10; step++) {
      pass(10_000);
      attempts.seenMs.set(`${task('a-one')?.metadata.uid}/1`, Date.parse('2026-01-02T03:04:05Z') + (step + 1) * 10_000);
      await lookAt('a-one');
    }
    expect(task('a-one')?.status).toMatchObject({ phase: 'Running', attempt: 1 });
    await edit({ budget: { tokens: 500 } });
    await lookAt('a-one');
    expect(attempts.runs[0]?.isFrozen).toBe(false);
    expect(conditionOf(task('a-one'), 'Frozen')).toMatch(/^False Thawed/);
    expect(task('a-one')?.status?.budget).toMatchObject({ reserved: { tokens: 500 }, frozenSeconds: 100 });
    attempts.runs[0]?.end(OK);
    await lookAt('a-one');
    await lookAt('a-one');
    expect(task('a-one')?.status?.phase).toBe('Succeeded');
  });

  it('is not said to be frozen while its guest cannot be told', async () => {
    const { add, task, count, lookAt, attempts } = await withBudget({});
    await add('a-one', { budget: { tokens: 100 } });
    count(task('a-one'), 120);
    attempts.isReachable = false;
    await lookAt('a-one');
    expect(conditionOf(task('a-one'), 'Frozen')).toBeUndefined();
    attempts.isReachable = true;
    await lookAt('a-one');
    expect(conditionOf(task('a-one'), 'Frozen')).toMatch(/^True/);
  });

  it('is looked at when its time is over, and the time it stood still is not counted', async () => {
    const { add, task, lookAt, pass, edit, attempts, spending, look } = await withBudget({ seconds: 1_000 });
    await add('a-one', { budget: { seconds: 8 } });
    expect((await look())?.requeueAfterMs).toBeLessThanOrEqual(8_000);
    pass(8_000);
    await lookAt('a-one');
    expect(attempts.runs[0]?.isFrozen).toBe(true);
    pass(15_000);
    await edit({ budget: { seconds: 20 } });
    await lookAt('a-one');
    expect(attempts.runs[0]?.isFrozen).toBe(false);
    pass(2_000);
    attempts.runs[0]?.end(OK);
    await lookAt('a-one');
    await lookAt('a-one');
    expect(task('a-one')?.status?.budget?.used?.seconds).toBe(10);
    expect(spending()).toMatchObject({ used: { seconds: 10 }, remaining: { seconds: 990 } });
  });

  it('that ends while it stands still is not charged for the standing', async () => {
    const { add, lookAt, pass, edit, spending } = await withBudget({ seconds: 1_000 });
    await add('a-one', { budget: { seconds: 8 } });
    pass(8_000);
    await lookAt('a-one');
    pass(500_000);
    await edit({ cancelled: true });
    await lookAt('a-one');
    await lookAt('a-one');
    expect(spending()).toMatchObject({ used: { seconds: 8 }, reserved: { seconds: 0 } });
  });

  it('keeps what it has used over its attempts', async () => {
    const { add, task, count, lookAt, pass, attempts, spending } = await withBudget({ tokens: 1_000 });
    await add('a-one', { budget: { tokens: 300 } });
    count(task('a-one'), 100);
    attempts.runs[0]?.end({ ...OK, exitCode: 1 });
    await lookAt('a-one');
    await lookAt('a-one');
    expect(spending()).toMatchObject({ used: { tokens: 100 }, reserved: { tokens: 0 } });
    pass(5_000);
    await lookAt('a-one');
    await lookAt('a-one');
    expect(spending()).toMatchObject({ used: { tokens: 100 }, reserved: { tokens: 200 } });
    count(task('a-one'), 50);
    attempts.runs[1]?.end(OK);
    await lookAt('a-one');
    await lookAt('a-one');
    expect([task('a-one')?.status?.budget?.used?.tokens, spending().used?.tokens]).toEqual([150, 150]);
  });
});
