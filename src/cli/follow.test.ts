import { describe, expect, it } from 'vitest';
import { admission, kinds } from '#api/kinds.ts';
import type { Agent, Task, Team } from '#api/types.ts';
import { localClient } from '#client/local.ts';
import type { JsonObject } from '#lib/json.ts';
import { newAgent, newTask, newTeam } from '../../test/support/controllers.ts';
import { memoryStore } from '../../test/support/memory-store.ts';
import type { CommandContext } from './command.ts';
import { followTasks, isOver } from './follow.ts';

const task = (name: string, phase?: string, rest: JsonObject = {}) =>
  ({
    kind: 'Task',
    metadata: { name: `a-${name}` },
    spec: { team: 'a' },
    status: { ...(phase ? { phase } : {}), ...rest },
  }) as unknown as Task;
const agent = (name: string, phase: string) =>
  ({ kind: 'Agent', metadata: { name }, spec: { team: 'a' }, status: { phase } }) as unknown as Agent;
const blocked = (name: string, reason: string, blockedBy: string[] = []) => task(name, 'Blocked', { reason, blockedBy });

describe('isOver', () => {
  it.each<{ name: string; board: (Task | Agent)[]; expected: number; want: boolean }>([
    { name: 'nothing is there yet', board: [], expected: 1, want: false },
    { name: 'a team without tasks runs on', board: [agent('x', 'Ready')], expected: 0, want: false },
    { name: 'not all tasks are there', board: [task('x', 'Succeeded')], expected: 2, want: false },
    { name: 'a task runs', board: [task('x', 'Succeeded'), task('y', 'Running')], expected: 2, want: false },
    { name: 'a task has said nothing', board: [task('x')], expected: 1, want: false },
    { name: 'all have ended', board: [task('x', 'Succeeded'), task('y', 'Failed')], expected: 2, want: true },
    {
      name: 'the rest waits for one that failed',
      board: [task('x', 'Failed'), blocked('y', 'DependencyFailed', ['x'])],
      expected: 2,
      want: true,
    },
    { name: 'one waits for what does not exist', board: [blocked('y', 'DependencyNotFound', ['gone'])], expected: 1, want: true },
    { name: 'a circle', board: [blocked('x', 'DependencyCycle', ['y']), blocked('y', 'DependencyCycle', ['x'])], expected: 2, want: true },
    {
      name: 'one waits for one that waits for what does not exist',
      board: [blocked('x', 'DependencyNotFound', ['gone']), blocked('y', 'DependenciesPending', ['x'])],
      expected: 2,
      want: true,
    },
    {
      name: 'one waits for one that runs',
      board: [task('x', 'Running'), blocked('y', 'DependenciesPending', ['x'])],
      expected: 2,
      want: false,
    },
    {
      name: 'one does not know yet that it may go',
      board: [task('x', 'Succeeded'), blocked('y', 'DependenciesPending', ['x'])],
      expected: 2,
      want: false,
    },
    { name: 'every agent has failed', board: [task('x', 'Pending'), agent('y', 'Failed')], expected: 1, want: true },
    { name: 'one agent is left', board: [task('x', 'Pending'), agent('y', 'Failed'), agent('z', 'Ready')], expected: 1, want: false },
    { name: 'every agent failed before the tasks came', board: [agent('y', 'Failed')], expected: 1, want: true },
  ])('$name: $want', ({ board, expected, want }) => {
    expect(isOver(new Map(board.map((object) => [`${object.kind}/${object.metadata.name}`, object])), expected)).toBe(want);
  });
});

it('looks at each blocked task once, however many ways lead to it', () => {
  const layers = Array.from({ length: 40 }, (_, layer) =>
    ['x', 'y'].map((side) =>
      blocked(`${side}${layer}`, 'DependenciesPending', layer === 0 ? ['first'] : [`x${layer - 1}`, `y${layer - 1}`]),
    ),
  );
  const board = [task('first', 'Running'), ...layers.flat()];
  expect(isOver(new Map(board.map((each) => [each.metadata.name, each])), board.length)).toBe(false);
});

describe('followTasks', () => {
  function setUp() {
    const store = memoryStore({ kinds, admission });
    const client = localClient(store);
    const stop = new AbortController();
    const said = { out: '', err: '' };
    const context = {
      signal: stop.signal,
      out: (text: string) => {
        said.out += text;
      },
      err: (text: string) => {
        said.err += text;
      },
    } as CommandContext;
    const setStatus = async (name: string, status: JsonObject) => {
      const now = await client.get<Task>({ kind: 'Task', namespace: 'default', name });
      await client.updateStatus<Task>({ ...now, status: { ...now.status, ...status } as Task['status'] & object });
    };
    return { client, stop, said, context, setStatus };
  }

  it('prints what happens and the result of its own teams only, and ends with 0 when all succeeded', async () => {
    const { client, said, context, setStatus } = setUp();
    const applied = [await client.create<Team>(newTeam('a', {})), await client.create<Task>(newTask('a-one'))];
    await client.create<Task>(newTask('b-one', { team: 'b' }));
    const following = followTasks(client, applied, context);
    await setStatus('b-one', { phase: 'Failed' });
    await setStatus('a-one', { phase: 'Running', owner: 'a-worker' });
    await setStatus('a-one', { phase: 'Running', owner: 'a-worker', startedAt: '2026-01-02T03:04:05Z' });
    const result = { exitCode: 0, stdout: 'hello', stderr: 'careful\n', truncated: false, elapsedSeconds: 1.5 };
    await setStatus('a-one', { phase: 'Succeeded', result });
    expect(await following).toBe(0);
    expect(said).toEqual({ out: 'hello\n', err: 'task/a-one Running on a-worker\ntask/a-one Succeeded in 1.5 s\ncareful\n' });
  });

  it('ends with 1 when one failed, and says why', async () => {
    const { client, said, context, setStatus } = setUp();
    const applied = [await client.create<Task>(newTask('a-one'))];
    const following = followTasks(client, applied, context);
    const ready = {
      type: 'Ready',
      status: 'False',
      reason: 'MaxAttempts',
      message: 'attempt 3 of 3 exited with 7',
      lastTransitionTime: '2026-01-02T03:04:05Z',
    };
    await setStatus('a-one', { phase: 'Failed', reason: 'MaxAttempts', conditions: [ready] });
    expect(await following).toBe(1);
    expect(said.err).toBe('task/a-one Failed: attempt 3 of 3 exited with 7\n');
  });

  it('ends when it is interrupted', async () => {
    const { client, context, stop } = setUp();
    const following = followTasks(
      client,
      [await client.create<Team>(newTeam('a', {})), await client.create<Agent>(newAgent('x'))],
      context,
    );
    stop.abort();
    expect(await following).toBe(1);
  });

  it('ends, with the reason, when the team itself cannot go on', async () => {
    const { client, said, context } = setUp();
    const team = await client.create<Team>(newTeam('a', { repo: { path: '/srv/a.git' } }));
    const following = followTasks(client, [team, await client.create<Task>(newTask('a-one'))], context);
    const message = 'this version does not act on spec.repo; remove it to start the team';
    const ready = {
      type: 'Ready',
      status: 'False' as const,
      reason: 'NotSupportedYet',
      message,
      lastTransitionTime: '2026-01-02T03:04:05Z',
    };
    await client.updateStatus<Team>({ ...team, status: { conditions: [ready] } });
    expect(await following).toBe(1);
    expect(said.err).toContain(`team/a ${message}`);
  });
});
