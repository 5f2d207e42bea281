import { describe, expect, it } from 'vitest';
import type { Agent, Task } from '#api/types.ts';
import type { TaskResult } from '#protocol/control.ts';
import { bench, newAgent, newTask } from '../../../test/support/controllers.ts';
import { toAssignment, toOutcome } from './attempt-messages.ts';

const agent = newAgent('a-one') as Agent;

type Result = NonNullable<NonNullable<Task['status']>['result']>;

async function world(...finished: readonly (readonly [string, Result])[]) {
  const { client } = bench();
  const asked: string[] = [];
  for (const [name, result] of finished) {
    const task = await client.create<Task>(newTask(name));
    await client.updateStatus<Task>({ ...task, status: { phase: 'Succeeded', result } });
  }
  const counting = {
    get: ((key) => {
      asked.push(key.name);
      return client.get(key);
    }) as typeof client.get,
  };
  return { asked, create: (spec: object) => client.create<Task>(newTask('a-next', { ...spec })), client: counting };
}

describe('an assignment', () => {
  it('of a task without references asks for no other task', async () => {
    const { create, client, asked } = await world(['a-one', { stdout: 'x' }]);
    const task = await create({ command: 'echo {{ x }}', env: { V: 'v' }, workdir: '/workspace/sub', timeoutSeconds: 7 });
    expect(await toAssignment(task, agent, { client })).toEqual({
      taskUid: task.metadata.uid,
      taskName: 'a-next',
      attempt: 0,
      fencingToken: 0,
      command: 'echo {{ x }}',
      timeoutMs: 7_000,
      workdir: '/workspace/sub',
      env: { V: 'v', AGENTISO_TASK: 'a-next', AGENTISO_ATTEMPT: '0' },
    });
    expect(asked).toEqual([]);
  });

  it('carries the outputs it refers to, by short and full name', async () => {
    const { create, client } = await world(['a-one', { stdout: "it's\n", exitCode: 0 }], ['two', { stderr: 'err' }]);
    const command = `echo '{{tasks.one.result.stdout}}' {{tasks.a-one.result.exitCode}}`;
    const task = await create({ dependsOn: ['one', 'two'], command, env: { V: '<{{tasks.two.result.stderr}}>' } });
    expect(await toAssignment(task, agent, { client })).toMatchObject({
      command: `echo ''"\${AGENTISO_REF_0}"'' "\${AGENTISO_REF_1}"`,
      env: { AGENTISO_REF_0: "it's\n", AGENTISO_REF_1: '0', V: '<err>' },
    });
  });

  it.each([
    ['is gone', [], 'Invalid', 'MissingInput'],
    ['has more output than its Task holds', [['a-one', { stdout: 'x', truncated: true }]], 'TooLarge', 'TooLarge'],
    ['has a zero byte in its output', [['a-one', { stdout: '\0' }]], 'Invalid', 'BadInput'],
  ] as const)('is refused when the task it refers to %s', async (_name, finished, code, reason) => {
    const { create, client } = await world(...finished);
    const task = await create({ dependsOn: ['one'], command: 'echo {{tasks.one.result.stdout}}' });
    await expect(toAssignment(task, agent, { client })).rejects.toMatchObject({ code, reason });
  });

  it('does not take the output of a task of another team', async () => {
    const { client } = bench();
    const other = await client.create<Task>(newTask('one', { team: 'b' }));
    await client.updateStatus<Task>({ ...other, status: { phase: 'Succeeded', result: { stdout: 'secret' } } });
    const task = await client.create<Task>(newTask('a-next', { dependsOn: ['one'], command: 'echo {{tasks.one.result.stdout}}' }));
    await expect(toAssignment(task, agent, { client })).rejects.toMatchObject({ reason: 'MissingInput' });
  });
});

describe('an outcome', () => {
  const reported: TaskResult = {
    taskUid: 't',
    taskName: 'a-t',
    attempt: 2,
    fencingToken: 3,
    isLost: false,
    exitCode: 0,
    stdout: 'out',
    stderr: '',
    stdoutTruncated: false,
    stderrTruncated: false,
    timedOut: false,
    elapsedMs: 1_234,
    commit: 'c0ffee',
  };

  it('has the commit, and the artifacts that are kept', () => {
    const artifacts = [{ name: 'stdout.log', path: 'a-t/2/stdout.log', sizeBytes: 5 }];
    expect(toOutcome('agent', reported, artifacts)).toMatchObject({
      attempt: 2,
      result: { commit: 'c0ffee', artifacts, truncated: false },
    });
    expect(toOutcome('agent', { ...reported, isLost: true }, artifacts)).not.toHaveProperty('result');
  });

  it.each([1, 2, 3, 4])('is cut between characters, at whatever byte of one the limit is (%i)', (offset) => {
    const { result } = toOutcome('agent', { ...reported, stdout: `${'x'.repeat(offset)}${'漢🙂'.repeat(20_000)}` });
    expect(result?.truncated).toBe(true);
    expect(result?.stdout).not.toContain('\ufffd');
    expect(Buffer.byteLength(result?.stdout ?? '')).toBeLessThan(64 * 1024 + 100);
  });
});
