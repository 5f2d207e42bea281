import { describe, expect, it } from 'vitest';
import type { Agent, Task } from '#api/types.ts';
import { conditionOf, newTask } from '../../test/support/controllers.ts';
import { OK, ONE, PEOPLE, setUp } from './controller.fixture.ts';

/** A command that is assigned, or a prompt that is pulled; either way nothing starts before its plan is approved. */
async function claimed(how: 'Assigned' | 'Pulled', spec = {}) {
  const world = setUp();
  await world.readyAgent('a-worker');
  await world.client.create<Task>(newTask('a-one', { planRequired: true, ...(how === 'Pulled' ? { prompt: 'do it' } : {}), ...spec }));
  await world.look();
  if (how === 'Pulled') await world.book.claim(world.as('a-worker'), ONE);
  await world.look();
  const uid = world.get<Agent>('Agent', 'a-worker')?.metadata.uid;
  /** Time passes, and the agent lives through it. */
  const live = async (ms: number) => {
    for (let left = ms; left > 0; left -= 10_000) {
      world.pass(Math.min(left, 10_000));
      world.attempts.agentsSeenMs.set(`${uid}/run-1`, world.ctx.now().getTime());
      await world.look();
    }
  };
  const submit = async (plan: string) => {
    const answer = await world.book.submitPlan(world.as('a-worker'), ONE, plan);
    await world.look();
    return answer;
  };
  const decide = async (approved: boolean, feedback?: string) => {
    const answer = await world.book.decidePlan(PEOPLE, ONE, { approved, ...(feedback !== undefined && { feedback }) });
    await world.look();
    return answer;
  };
  return { ...world, live, submit, decide };
}

describe.each(['Assigned', 'Pulled'] as const)('the plan of a task that was %s', (how) => {
  it('is asked for, submitted to the lead, approved, and only then the work starts', async () => {
    const { task, notices, attempts, submit, decide, book, as, look } = await claimed(how);
    expect(task()?.status).toMatchObject({ phase: 'Claimed', claim: how });
    expect(conditionOf(task(), 'PlanApproved')).toBe('False PlanNeeded: a-worker is to submit a plan');
    const [asked] = notices.news();
    expect(asked).toMatch(/^task_update worker: Task one is yours, and needs a plan first/);
    await expect(book.update(as('a-worker'), ONE, { status: 'in_progress' })).rejects.toMatchObject({
      code: how === 'Pulled' ? 'Forbidden' : 'Conflict',
    });
    await expect(book.complete(as('a-worker'), ONE, {})).rejects.toMatchObject({ code: how === 'Pulled' ? 'Forbidden' : 'Conflict' });
    expect(await submit('first this, then that')).toEqual({ round: 1 });
    expect(await submit('first this, then that')).toEqual({ round: 1 });
    await expect(submit('or something else')).rejects.toMatchObject({ code: 'Conflict' });
    expect(conditionOf(task(), 'PlanApproved')).toBe('Unknown PlanSubmitted: round 1 of 3 waits for the lead');
    expect(notices.news()).toEqual(['plan_submission lead: Plan of worker for task one, round 1 of 3:']);
    expect(attempts.runs).toEqual([]);
    await expect(book.decidePlan(as('a-worker'), ONE, { approved: true })).rejects.toMatchObject({ code: 'Forbidden' });
    expect(await decide(true, 'go')).toBe('approved');
    expect(conditionOf(task(), 'PlanApproved')).toBe('True Approved: approved by orchestrator');
    expect(notices.news()).toEqual(['plan_approval worker: The plan of task one is approved. go']);
    expect([...notices.told.values()].at(-1)?.metadata).toMatchObject({ approved: 'true', round: '1' });
    await expect(decide(true)).rejects.toMatchObject({ code: 'Conflict' });
    if (how === 'Assigned') {
      attempts.runs[0]?.end(OK);
      await look();
    } else {
      await book.update(as('a-worker'), ONE, { status: 'in_progress' });
      await book.complete(as('a-worker'), ONE, {});
    }
    expect([task()?.status?.phase, notices.news()]).toEqual(['Succeeded', []]);
  });

  it('is refused, and the third refusal is the last', async () => {
    const { task, notices, submit, decide, attempts } = await claimed(how);
    notices.news();
    for (const round of [1, 2]) {
      expect(await submit(`try ${round}`)).toEqual({ round });
      expect(await decide(false, `no ${round}`)).toBe('refused');
      expect(conditionOf(task(), 'PlanApproved')).toBe(`False PlanRefused: round ${round} of 3 was refused by orchestrator: no ${round}`);
      expect(notices.news().at(-1)).toBe(`plan_approval worker: The plan of task one was refused: no ${round}. Submit another one.`);
    }
    await submit('try 3');
    expect(await decide(false)).toBe('failed');
    expect(task()?.status).toMatchObject({ phase: 'Failed', reason: 'PlanRejected', plan: { round: 3, text: 'try 3', feedback: '' } });
    expect(notices.news().at(-1)).toBe('plan_approval worker: The plan of task one was refused for the last time: no reason given');
    expect(attempts.runs).toEqual([]);
  });

  it('that does not come within 10 minutes blocks the task, also over a restart; retry lets it go on', async () => {
    const { task, live, newController, attempts, look, pass, notices, edit, book } = await claimed(how);
    await live(599_000);
    expect(task()?.status?.phase).toBe('Claimed');
    notices.news();
    pass(1_000);
    await look(newController(attempts.restart()));
    expect(task()?.status).toMatchObject({ phase: 'Blocked', reason: 'PlanTimeout' });
    expect([task()?.status?.owner, task()?.status?.failures]).toEqual([undefined, undefined]);
    expect(notices.news()).toEqual([
      'task_update worker: Task one is no longer yours: a-worker has submitted no plan within 10 minutes. Stop working on it; a result would be refused.',
    ]);
    await look();
    expect(task()?.status?.phase).toBe('Blocked');
    await expect(book.decidePlan(PEOPLE, ONE, { approved: true })).rejects.toMatchObject({
      code: 'Conflict',
      hint: /agentiso retry a-one/,
    });
    await edit({ retry: 1 });
    await look();
    expect(task()?.status).toMatchObject({ phase: 'Pending', reason: 'Retried', retries: 1, failures: 0 });
    await look();
    expect(task()?.status?.phase).toBe(how === 'Assigned' ? 'Claimed' : 'Pending');
  });

  it('that is not answered within 10 minutes blocks it too; a late approval lets it go on', async () => {
    const { task, live, submit, decide, look, attempts, book, as } = await claimed(how);
    await live(300_000);
    await submit('slowly');
    await live(599_999);
    expect(task()?.status?.phase).toBe('Claimed');
    await live(1);
    expect(conditionOf(task(), 'Ready')).toBe('False PlanTimeout: nobody has answered the plan of round 1 within 10 minutes');
    expect(await decide(true)).toBe('approved');
    await look();
    if (how === 'Pulled') await book.claim(as('a-worker'), ONE);
    await look();
    expect([task()?.status?.attempt, attempts.runs.length]).toEqual([2, how === 'Assigned' ? 1 : 0]);
    expect(conditionOf(task(), 'PlanApproved')).toMatch(/^True/);
  });

  it('of an owner that is gone is not counted as a round, and the next owner is asked anew', async () => {
    const { task, submit, setAgent, look, book, as, pass, notices } = await claimed(how);
    await submit('mine');
    await setAgent('a-worker', { phase: 'Ready', incarnation: 'run-2' });
    await look();
    expect(task()?.status?.reason).toBe('AttemptLost');
    pass(1_000);
    await look();
    if (how === 'Pulled') await book.claim(as('a-worker', 'run-2'), ONE);
    await look();
    expect(conditionOf(task(), 'PlanApproved')).toMatch(/^False PlanNeeded/);
    expect(notices.news().at(-1)).toMatch(/needs a plan first/);
    expect(await book.submitPlan(as('a-worker', 'run-2'), ONE, 'ours')).toEqual({ round: 1 });
  });
});

it('a plan of the lead itself is for people, and not its own to approve', async () => {
  const { client, look, book, as, notices, readyAgent } = setUp();
  await readyAgent('a-lead');
  await client.create<Task>(newTask('a-one', { planRequired: true, prompt: 'do it' }));
  await look();
  await book.claim(as('a-lead'), ONE);
  await book.submitPlan(as('a-lead'), ONE, 'as I like');
  await look();
  expect(notices.news().at(-1)).toBe('plan_submission orchestrator: Plan of lead for task one, round 1 of 3:');
  await expect(book.decidePlan(as('a-lead'), ONE, { approved: true })).rejects.toMatchObject({ code: 'Forbidden' });
});

it('the lead decides plans of others', async () => {
  const { book, as, submit, readyAgent, task } = await claimed('Pulled');
  await readyAgent('a-lead');
  await submit('so');
  expect(await book.decidePlan(as('a-lead'), ONE, { approved: false, feedback: 'not so' })).toBe('refused');
  expect(task()?.status?.plan).toMatchObject({ round: 1, feedback: 'not so' });
});

/** What the agent's controller says of its workspace. */
const holding = async (world: Awaited<ReturnType<typeof claimed>>, status?: string, reason = 'PlanPhase') => {
  const agent = world.get<Agent>('Agent', 'a-worker') as Agent;
  const others = (agent.status?.conditions ?? []).filter(({ type }) => type !== 'PlanHold');
  const hold = { type: 'PlanHold', status, reason, message: '', lastTransitionTime: '2026-01-02T03:04:05Z' };
  const conditions = status === undefined ? others : [...others, hold];
  await world.client.updateStatus<Agent>({ ...agent, status: { ...agent.status, conditions } } as Agent);
  await world.look();
};

describe('a plan whose agent cannot write before it is approved', () => {
  it.each([
    [undefined, 'PlanPhase', undefined],
    ['Unknown', 'Holding', undefined],
    ['Unknown', 'FilesOpen', false],
    ['False', 'Unsupported', false],
    ['True', 'PlanPhase', true],
  ])('says so once it is known: %s %s, %s', async (status, reason, want) => {
    const world = await claimed('Assigned');
    await holding(world, status, reason);
    expect(world.task()?.status?.plan?.enforced).toBe(want);
  });

  it.each(['Assigned', 'Pulled'] as const)('begins, and is told of it, when the workspace can be written to: %s', async (how) => {
    const world = await claimed(how);
    await holding(world, 'True');
    await world.submit('so and so');
    expect(world.task()?.status?.plan).toMatchObject({ round: 1, enforced: true });
    world.notices.news();
    expect(await world.decide(true)).toBe('approved');
    await world.look();
    expect([world.notices.news(), world.attempts.runs.length]).toEqual([[], 0]);
    await holding(world);
    expect(world.notices.news()).toEqual(['plan_approval worker: The plan of task one is approved.']);
    expect(world.attempts.runs).toHaveLength(how === 'Assigned' ? 1 : 0);
    expect(world.task()?.status?.plan).toMatchObject({ enforced: true });
  });

  it('lets another task of its agent begin when it can write', async () => {
    const world = await claimed('Assigned');
    await holding(world, 'True');
    await world.client.create<Task>(newTask('a-two'));
    const phase = async () => {
      await world.look();
      for (let pass = 0; pass < 3; pass++) await world.reconcile(world.controller, 'Task', 'a-two');
      return world.get<Task>('Task', 'a-two')?.status?.phase;
    };
    expect(await phase()).toBe('Claimed');
    expect(world.attempts.runs).toEqual([]);
    await holding(world, 'False', 'SharedWorkspace');
    expect(await phase()).toBe('Running');
    expect(world.task()?.status?.plan?.enforced).toBe(false);
  });
});
