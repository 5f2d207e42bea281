/** Tasks as an operator gives, reads, ends and retries them: what stands in the objects afterwards. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Agent, Task, Team } from '#api/types.ts';
import { newAgent, newTask, newTeam } from '../../../test/support/controllers.ts';
import { openWorkBench, type WorkBench } from '../work/work-bench.fixture.ts';

let here: WorkBench;
beforeEach(async () => {
  here = await openWorkBench();
  await here.client.create(newTeam('a', { roles: [{ name: 'coder' }] }));
  await here.client.create<Agent>(newAgent('a-coder', { team: 'a' }));
});
afterEach(() => here.end());

const task = (name: string) => here.client.get<Task>({ kind: 'Task', namespace: 'default', name });
const names = async () => (await here.client.list<Task>('Task')).items.map(({ metadata }) => metadata.name);
const assign = (input: object) => here.answer('assign_task', { team: 'a', title: 'Count', command: 'true', ...input });

describe('assign_task', () => {
  it('writes what was asked for as a Task, with the next number for a name', async () => {
    const answer = await assign({ agent: 'coder', command: 'seq 3', priority: 'high', depends_on: ['x'], env: { A: 'b' } });
    expect(answer).toMatchObject({ task_id: 'a-task-001', status: 'pending', team: 'a' });
    const { spec } = await task('a-task-001');
    expect(spec).toMatchObject({
      team: 'a',
      title: 'Count',
      assignTo: 'coder',
      command: 'seq 3',
      priority: 2,
      dependsOn: ['x'],
      env: { A: 'b' },
    });
    expect(await assign({ task_timeout_seconds: 7, max_attempts: 1, plan_required: true })).toMatchObject({ task_id: 'a-task-002' });
    expect((await task('a-task-002')).spec).toMatchObject({ timeoutSeconds: 7, maxAttempts: 1, planRequired: true });
    expect(await assign({ name: 'count' })).toMatchObject({ task_id: 'a-count' });
  });

  it('never gives a number twice, and none that others take at the same moment', async () => {
    const team = await here.client.get<Team>({ kind: 'Team', namespace: 'default', name: 'a' });
    await here.client.update<Team>({ ...team, metadata: { ...team.metadata, annotations: { 'agentiso.dev/last-task': '41' } } });
    const made = await Promise.all([1, 2, 3].map(() => assign({})));
    expect(made.map(({ task_id }) => task_id).sort()).toEqual(['a-task-042', 'a-task-043', 'a-task-044']);
  });

  it('waits until the end and gives what came of it', async () => {
    const waiting = assign({ name: 'one', wait: true });
    await vi.waitFor(() => task('a-one'));
    await here.setTask('a-one', { phase: 'Running', owner: 'a-coder', attempt: 1 });
    await vi.waitFor(() => expect(here.progress).toContain('task a-one: in_progress, attempt 1 by a-coder'));
    const result = { exitCode: 3, stdout: 'out\n', stderr: 'err\n', elapsedSeconds: 1.5, sourceMessageId: 'm1', truncated: false };
    await here.setTask('a-one', { phase: 'Failed', reason: 'MaxAttempts', result });
    expect(await waiting).toMatchObject({
      task_id: 'a-one',
      status: 'failed',
      reason: 'MaxAttempts',
      output: 'out\n',
      error: 'err\n',
      exit_code: 3,
      duration_ms: 1_500,
      source_message_id: 'm1',
      hint: expect.stringContaining('retry_task'),
    });
    expect((await here.answer('get_task_result', { task_id: 'one', team: 'a' }))['output']).toBe('out\n');
  });

  it('says that the time was over, and leaves the task alone', async () => {
    const answer = await assign({ name: 'one', wait: true, timeout_seconds: 1 });
    expect(answer).toMatchObject({ task_id: 'a-one', status: 'pending', timed_out: true });
    expect((await task('a-one')).metadata.deletionTimestamp).toBeUndefined();
  });

  it('says that a task has gone while it was waited for', async () => {
    const waiting = here.call('assign_task', { team: 'a', title: 'x', command: 'true', name: 'one', wait: true });
    await vi.waitFor(() => task('a-one'));
    await here.client.delete({ kind: 'Task', namespace: 'default', name: 'a-one' });
    expect((await waiting).error).toMatchObject({ code: 'NotFound' });
  });

  it('needs no title', async () => {
    expect(await here.answer('assign_task', { team: 'a', prompt: 'think' })).toMatchObject({ task_id: 'a-task-001', status: 'pending' });
  });

  it('gives a task that is there to another agent or role', async () => {
    await assign({ name: 'one', agent: 'coder' });
    await here.client.create<Agent>(newAgent('a-other', { team: 'a' }));
    expect(await here.answer('assign_task', { team: 'a', task: 'one', agent: 'other' })).toMatchObject({
      task_id: 'a-one',
      status: 'pending',
    });
    expect((await task('a-one')).spec).toMatchObject({ assignTo: 'other', title: 'Count', command: 'true' });
    await here.answer('assign_task', { team: 'a', task: 'a-one', role: 'coder' });
    expect((await task('a-one')).spec.assignTo).toBe('coder');
    expect(await names()).toEqual(['a-one']);
  });

  it.each([
    { input: { agent: 'nobody' }, code: 'NotFound', words: 'team a has no agent or role nobody', hint: 'team_status' },
    { input: { task: 'none', agent: 'coder' }, code: 'NotFound', words: 'no task none in team a', hint: 'list' },
    { input: {}, code: 'Invalid', words: 'which agent or role', field: 'agent' },
    { input: { agent: 'coder', command: 'false' }, code: 'Invalid', words: 'keeps what it says', field: 'command' },
    { input: { agent: 'coder', role: 'coder' }, code: 'Invalid', words: 'not both', field: 'role' },
    { input: { task: 'done', agent: 'coder' }, code: 'Conflict', words: 'already ended: Succeeded', hint: 'get_task_result' },
  ])('leaves a task as it is: $words', async ({ input, code, words, hint, field }) => {
    await assign({ name: 'one', role: 'coder' });
    await assign({ name: 'done', role: 'coder' });
    await here.setTask('a-done', { phase: 'Succeeded' });
    const { error } = await here.call('assign_task', { team: 'a', task: 'one', ...input });
    expect(error).toMatchObject({ code, message: expect.stringContaining(words), ...(field && { field }) });
    if (hint) expect(error?.hint).toContain(hint);
    expect((await task('a-one')).spec).toMatchObject({ assignTo: 'coder', command: 'true' });
  });

  it.each([
    { input: { agent: 'nobody' }, code: 'Invalid', words: 'has no agent or role', hint: 'team_status' },
    { input: { agent: 'coder', role: 'coder' }, code: 'Invalid', words: 'not both', field: 'role' },
    { input: { prompt: 'think' }, code: 'Invalid', words: 'either a command or a prompt', field: 'command' },
    { input: { team: 'b' }, code: 'NotFound', words: '"b"', hint: 'team_list' },
    { input: { timeout_seconds: 1_801 }, code: 'Invalid', words: '1800', field: 'timeout_seconds' },
    { input: { priority: 'urgent' }, code: 'Invalid', words: '1 to 5', field: 'priority' },
    { input: { command: 'echo {{tasks.x.result.stdout}}' }, code: 'Invalid', words: 'dependsOn', field: 'spec.command' },
    { input: { prompt: 'x'.repeat(102_401), command: undefined }, code: 'TooLarge', words: '102401', field: 'prompt' },
  ])('refuses $words and makes nothing', async ({ input, code, words, hint, field }) => {
    const { error } = await here.call('assign_task', { team: 'a', title: 'x', command: 'true', ...JSON.parse(JSON.stringify(input)) });
    expect(error).toMatchObject({ code, message: expect.stringContaining(words), ...(field && { field }) });
    expect(error?.hint).toContain(hint ?? '');
    expect(await names()).toEqual([]);
  });
});

describe('cancel_task and retry_task', () => {
  it('change the Task itself', async () => {
    await here.client.create<Task>(newTask('a-one', { team: 'a' }));
    expect(await here.answer('cancel_task', { task_id: 'a-one' })).toEqual({ task_id: 'a-one', was: 'pending', cancelled: true });
    expect((await task('a-one')).spec.cancelled).toBe(true);
    await here.setTask('a-one', { phase: 'Failed', reason: 'Cancelled' });
    expect((await here.call('cancel_task', { task_id: 'a-one' })).error).toMatchObject({ code: 'Conflict' });
    expect(await here.answer('retry_task', { task_id: 'one', team: 'a' })).toEqual({ task_id: 'a-one', was: 'failed', retried: true });
    expect((await task('a-one')).spec).toMatchObject({ retry: 1, cancelled: false });
  });

  it('change the list of the Team that a Task comes from', async () => {
    const team = await here.client.create<Team>(
      newTeam('b', {
        tasks: [
          { name: 'x', command: 'true' },
          { name: 'y', command: 'true' },
        ],
      }),
    );
    const { name, uid } = team.metadata;
    const owner = { apiVersion: team.apiVersion, kind: 'Team', name, uid, controller: true };
    const draft = newTask('b-y', { team: 'b' });
    await here.client.create<Task>({ ...draft, metadata: { ...draft.metadata, ownerReferences: [owner] } });
    await here.answer('cancel_task', { task_id: 'b-y' });
    const { spec } = await here.client.get<Team>({ kind: 'Team', namespace: 'default', name: 'b' });
    expect(spec.tasks?.map(({ cancelled }) => cancelled)).toEqual([false, true]);
    expect((await task('b-y')).spec.cancelled).toBe(false);
  });

  it('refuse what is not there or makes no sense', async () => {
    await here.client.create<Task>(newTask('a-one', { team: 'a' }));
    expect((await here.call('retry_task', { task_id: 'a-one' })).error).toMatchObject({
      code: 'Conflict',
      hint: expect.stringContaining('get_task_result'),
    });
    expect((await here.call('cancel_task', { task_id: 'one' })).error).toMatchObject({
      code: 'NotFound',
      hint: expect.stringContaining('team'),
    });
    expect((await here.call('cancel_task', { task_id: 'a-one' }, { role: 'viewer' })).error).toMatchObject({ code: 'Forbidden' });
    expect((await task('a-one')).spec).toMatchObject({ retry: 0, cancelled: false });
  });
});

describe('approve_plan', () => {
  const waiting = (status: 'Unknown' | 'False', reason: string) => ({
    phase: 'Claimed' as const,
    owner: 'a-coder',
    plan: { round: 1, text: 'first this, then that', submittedAt: '2026-01-02T03:04:05Z' },
    conditions: [{ type: 'PlanApproved', status, reason, message: '', lastTransitionTime: '2026-01-02T03:04:05Z' }],
  });

  it('decides, and the Task says what was decided', async () => {
    await here.client.create<Task>(newTask('a-one', { team: 'a', planRequired: true }));
    await here.setTask('a-one', waiting('Unknown', 'PlanSubmitted'));
    expect(await here.answer('get_task_result', { task_id: 'a-one' })).toMatchObject({
      plan: { text: 'first this, then that', round: 1 },
      hint: expect.stringContaining('approve_plan'),
    });
    expect(await here.answer('approve_plan', { task: 'one', team: 'a', approved: false, feedback: 'smaller' })).toEqual({
      task_id: 'a-one',
      status: 'refused',
    });
    expect((await task('a-one')).status).toMatchObject({ plan: { feedback: 'smaller' } });
  });

  it('needs a reason to refuse, and a plan', async () => {
    await here.client.create<Task>(newTask('a-one', { team: 'a', planRequired: true }));
    const refused = await here.call('approve_plan', { task: 'a-one', approved: false });
    expect(refused.error).toMatchObject({ code: 'Invalid', field: 'feedback' });
    expect((await here.call('approve_plan', { task: 'a-one', approved: true })).error).toMatchObject({ code: 'Conflict' });
  });
});
