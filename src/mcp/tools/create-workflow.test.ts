/** Workflows as an operator writes and follows them, against the real API. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Task } from '#api/types.ts';
import { newTeam } from '../../../test/support/controllers.ts';
import { openWorkBench, type WorkBench } from '../work/work-bench.fixture.ts';

let here: WorkBench;
beforeEach(async () => {
  here = await openWorkBench();
  await here.client.create(newTeam('a', { roles: [{ name: 'coder' }, { name: 'tester' }] }));
});
afterEach(() => here.end());

const names = async () => (await here.client.list<Task>('Task')).items.map(({ metadata }) => metadata.name);
const STEPS = [
  { name: 'build', agent: 'coder', command: 'seq 3' },
  { name: 'check', agent: 'tester', command: 'wc -l', depends_on: ['build'] },
  { name: 'other', agent: 'coder', command: 'true' },
  { name: 'ship', agent: 'coder', prompt: 'Ship it.', depends_on: ['check'] },
];
const WORKFLOW = { name: 'flow', team: 'a', steps: STEPS };
const words = ({ steps }: { steps: { step: string; status: string }[] }) => steps.map(({ step, status }) => `${step} ${status}`);
const state = async (input: object = {}) => {
  const answer = await here.answer('workflow_status', { workflow_id: 'a-flow', ...input });
  return { ...answer, ...(answer['state'] as { status: string; steps: { step: string; status: string }[] }) };
};

describe('create_workflow', () => {
  it('writes one task per step and says where they are', async () => {
    expect(await here.answer('create_workflow', WORKFLOW)).toEqual({
      workflow_id: 'a-flow',
      steps: ['build', 'check', 'other', 'ship'].map((step) => ({ step, task_id: `a-flow-${step}`, status: 'pending' })),
    });
    expect(await names()).toEqual(['a-flow-build', 'a-flow-check', 'a-flow-other', 'a-flow-ship']);
  });

  it('writes those first that wait for others, so that nothing starts too early', async () => {
    const seen: string[] = [];
    const leaving = new AbortController();
    const watching = (async () => {
      for await (const { object } of here.client.watch<Task>('Task', { signal: leaving.signal })) seen.push(object.metadata.name);
    })();
    await here.answer('create_workflow', WORKFLOW);
    await vi.waitFor(() => expect(seen).toHaveLength(4));
    leaving.abort();
    await watching;
    expect(seen.indexOf('a-flow-ship')).toBeLessThan(seen.indexOf('a-flow-check'));
    expect(seen.indexOf('a-flow-check')).toBeLessThan(seen.indexOf('a-flow-build'));
  });

  it('changes nothing when it is called again, and completes what is only half there', async () => {
    await here.answer('create_workflow', WORKFLOW);
    const before = (await here.client.list<Task>('Task')).items.map(({ metadata }) => metadata.resourceVersion);
    await here.answer('create_workflow', WORKFLOW);
    expect((await here.client.list<Task>('Task')).items.map(({ metadata }) => metadata.resourceVersion)).toEqual(before);
    await here.client.delete({ kind: 'Task', namespace: 'default', name: 'a-flow-build' });
    await here.answer('create_workflow', WORKFLOW);
    expect(await names()).toContain('a-flow-build');
    const other = { ...WORKFLOW, steps: [{ name: 'build', agent: 'coder', command: 'seq 4' }] };
    expect((await here.call('create_workflow', other)).error).toMatchObject({
      code: 'AlreadyExists',
      hint: expect.stringContaining('another name'),
    });
  });

  it.each([
    { steps: [...STEPS, { name: 'last', agent: 'nobody', command: 'true' }], code: 'Invalid', words: 'has no agent or role' },
    { steps: [...STEPS, STEPS[0]], code: 'Invalid', words: 'two steps build' },
    { steps: [{ ...STEPS[0], depends_on: ['ship'] }, ...STEPS.slice(1)], code: 'Invalid', words: 'ship' },
    { steps: [{ ...STEPS[0], dependsOn: ['ship'] }], code: 'Invalid', words: 'steps[0].dependsOn' },
    { steps: [{ ...STEPS[0], command: 'echo {{tasks.x.result.stdout}}' }, ...STEPS.slice(1)], code: 'Invalid', words: 'dependsOn' },
    { steps: [], code: 'Invalid', words: 'steps' },
  ])('writes nothing when one step is wrong: $words', async ({ steps, code, words: said }) => {
    const { error } = await here.call('create_workflow', { ...WORKFLOW, steps });
    expect(error).toMatchObject({ code, message: expect.stringContaining(said) });
    expect(await names()).toEqual([]);
  });

  it('refuses a team that is not there', async () => {
    const { error } = await here.call('create_workflow', { ...WORKFLOW, team: 'b' });
    expect(error).toMatchObject({ code: 'NotFound', hint: expect.stringContaining('team_list') });
  });
});

describe('workflow_status', () => {
  it('tells those apart that wait from those that are skipped', async () => {
    await here.answer('create_workflow', WORKFLOW);
    await here.setTask('a-flow-build', { phase: 'Failed', reason: 'MaxAttempts' });
    await here.setTask('a-flow-check', { phase: 'Blocked', reason: 'DependencyFailed' });
    await here.setTask('a-flow-ship', { phase: 'Blocked', reason: 'DependencyFailed' });
    await here.setTask('a-flow-other', { phase: 'Running', owner: 'a-coder' });
    const running = await state();
    expect(words(running)).toEqual(['build failed', 'check skipped', 'other in_progress', 'ship skipped']);
    expect(running.status).toBe('running');
    const waiting = state({ wait_seconds: 60 });
    await here.setTask('a-flow-other', { phase: 'Succeeded' });
    expect(await waiting).toMatchObject({ status: 'failed', completed: 1, total: 4 });
  });

  it('waits for the end, with a word about how far it is', async () => {
    await here.answer('create_workflow', { ...WORKFLOW, steps: STEPS.slice(0, 2) });
    const waiting = state({ wait_seconds: 60 });
    await here.setTask('a-flow-build', { phase: 'Succeeded' });
    await here.setTask('a-flow-check', { phase: 'Succeeded' });
    expect(await waiting).toMatchObject({ status: 'completed', completed: 2 });
    expect(await waiting).not.toHaveProperty('timed_out');
  });

  it('says that the time was over, and that there is no such workflow', async () => {
    await here.answer('create_workflow', WORKFLOW);
    expect(await state({ wait_seconds: 1 })).toMatchObject({ status: 'running', timed_out: true });
    const { error } = await here.call('workflow_status', { workflow_id: 'a-float' });
    expect(error).toMatchObject({ code: 'NotFound', hint: expect.stringContaining('create_workflow') });
  });
});
