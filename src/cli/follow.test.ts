import { describe, expect, it } from 'vitest';
import { admission, kinds } from '#api/kinds.ts';
import type { Agent, Task, Team } from '#api/types.ts';
import { localClient } from '#client/local.ts';
import { UnavailableError } from '#lib/errors.ts';
import type { JsonObject } from '#lib/json.ts';
import { newAgent, newTask, newTeam } from '../../test/support/controllers.ts';
import { memoryStore } from '../../test/support/memory-store.ts';
import { type FollowView, followTasks } from './follow.ts';

function setUp() {
  const store = memoryStore({ kinds, admission });
  const client = localClient(store);
  const stop = new AbortController();
  const seen: string[] = [];
  const over: number[] = [];
  let onOver = () => {};
  const view: FollowView = {
    changed: (_board, { before, after }) => {
      const object = after ?? before;
      seen.push(`${object?.kind} ${object?.metadata.name} ${after?.status?.phase ?? (after ? 'new' : 'gone')}`);
    },
    said: (line) => seen.push(line),
    over: (_board, code) => {
      over.push(code);
      onOver();
    },
  };
  const setStatus = async (name: string, status: JsonObject) => {
    const now = await client.get<Task>({ kind: 'Task', namespace: 'default', name });
    await client.updateStatus<Task>({ ...now, status: { ...now.status, ...status } as Task['status'] & object });
  };
  const whenOver = () =>
    new Promise<void>((resolve) => {
      onOver = resolve;
    });
  return { store, client, stop, seen, over, view, setStatus, whenOver, common: { client, view, signal: stop.signal, settleMs: 0 } };
}

describe('followTasks', () => {
  it('shows what happens to its own teams only, and ends with 0 when all succeeded', async () => {
    const { client, seen, over, setStatus, common, store } = setUp();
    const applied = [await client.create<Team>(newTeam('a', {})), await client.create<Task>(newTask('a-one'))];
    await client.create<Task>(newTask('b-one', { team: 'b' }));
    const following = followTasks({ ...common, applied });
    await setStatus('b-one', { phase: 'Failed' });
    await setStatus('a-one', { phase: 'Running', owner: 'a-worker' });
    await setStatus('a-one', { phase: 'Succeeded' });
    expect(await following).toEqual({ board: expect.any(Map), code: 0, isUnfinished: false });
    expect(over).toEqual([0]);
    expect(seen.filter((line) => line.startsWith('Task'))).toEqual(['Task a-one new', 'Task a-one Running', 'Task a-one Succeeded']);
    expect(store.watcherCount).toBe(0);
  });

  it('ends with 1 when one failed', async () => {
    const { client, setStatus, common } = setUp();
    const following = followTasks({ ...common, applied: [await client.create<Task>(newTask('a-one'))] });
    await setStatus('a-one', { phase: 'Failed', reason: 'MaxAttempts' });
    expect(await following).toEqual({ board: expect.any(Map), code: 1, isUnfinished: false });
  });

  it('ends when it is interrupted, and says that it was not over', async () => {
    const { client, common, stop, over } = setUp();
    const applied = [
      await client.create<Team>(newTeam('a', { tasks: [{ name: 'x', command: 'true' }] })),
      await client.create<Agent>(newAgent('x')),
    ];
    const following = followTasks({ ...common, applied });
    stop.abort();
    expect(await following).toEqual({ board: expect.any(Map), code: 1, isUnfinished: true });
    expect(over).toEqual([]);
  });

  it('ends when the team itself cannot go on', async () => {
    const { client, common } = setUp();
    const team = await client.create<Team>(newTeam('a', { repo: { path: '/srv/a.git' } }));
    const following = followTasks({ ...common, applied: [team, await client.create<Task>(newTask('a-one'))] });
    const ready = {
      type: 'Ready',
      status: 'False',
      reason: 'NotSupportedYet',
      message: 'no',
      lastTransitionTime: '2026-01-02T03:04:05Z',
    } as const;
    await client.updateStatus<Team>({ ...team, status: { conditions: [ready] } });
    expect(await following).toEqual({ board: expect.any(Map), code: 1, isUnfinished: false });
  });

  it('gives what looks hopeless the time to recover', async () => {
    const { client, setStatus, common, whenOver } = setUp();
    const applied = [await client.create<Task>(newTask('a-one'))];
    const agent = await client.create<Agent>(newAgent('a-worker'));
    await client.updateStatus<Agent>({ ...agent, status: { phase: 'Failed' } });
    const isOver = whenOver();
    const following = followTasks({ ...common, applied, settleMs: 60_000 });
    const failed = await client.get<Agent>({ kind: 'Agent', namespace: 'default', name: 'a-worker' });
    await client.updateStatus<Agent>({ ...failed, status: { phase: 'Ready' } });
    await setStatus('a-one', { phase: 'Succeeded' });
    await isOver;
    expect(await following).toEqual({ board: expect.any(Map), code: 0, isUnfinished: false });
  });

  it('stays when it is told to, shows what comes later, and gives the result of the end', async () => {
    const { client, setStatus, common, whenOver, seen, stop, over } = setUp();
    const applied = [await client.create<Task>(newTask('a-one'))];
    const isOver = whenOver();
    const following = followTasks({ ...common, applied, stays: true });
    await setStatus('a-one', { phase: 'Succeeded' });
    await isOver;
    await client.create<Task>(newTask('a-two'));
    await setStatus('a-two', { phase: 'Failed' });
    await new Promise((resolve) => setImmediate(resolve));
    stop.abort();
    expect(await following).toEqual({ board: expect.any(Map), code: 1, isUnfinished: false });
    expect(seen).toContain('Task a-two Failed');
    expect(over).toEqual([0]);
  });

  it('ends with the failure of a watch, and leaves none behind', async () => {
    const { client, common, store } = setUp();
    const applied = [await client.create<Task>(newTask('a-one'))];
    const broken: typeof client = {
      ...client,
      watch: (kind, options) => {
        if (kind === 'Agent') throw new UnavailableError('the daemon has ended');
        return client.watch(kind, options);
      },
    };
    await expect(followTasks({ ...common, client: broken, applied })).rejects.toThrow('the daemon has ended');
    expect(store.watcherCount).toBe(0);
  });
});
