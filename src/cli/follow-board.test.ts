import { describe, expect, it } from 'vitest';
import type { Agent, Merge, Task, Team } from '#api/types.ts';
import type { JsonObject } from '#lib/json.ts';
import { type Board, boardKey, exitCodeOf, expectedTasks, type Followed, verdictOf } from './follow-board.ts';

const task = (name: string, phase?: string, status: JsonObject = {}, metadata: JsonObject = {}) =>
  ({
    kind: 'Task',
    metadata: { namespace: 'default', name: `a-${name}`, ...metadata },
    spec: { team: 'a' },
    status: { ...(phase ? { phase } : {}), ...status },
  }) as unknown as Task;
const agent = (name: string, phase: string, status: JsonObject = {}, metadata: JsonObject = {}) =>
  ({
    kind: 'Agent',
    metadata: { namespace: 'default', name, ...metadata },
    spec: { team: 'a' },
    status: { phase, ...status },
  }) as unknown as Agent;
const team = (spec: JsonObject, status: JsonObject = {}, generation = 1) =>
  ({ kind: 'Team', metadata: { namespace: 'default', name: 'a', generation }, spec, status }) as unknown as Team;
const blocked = (name: string, reason: string, blockedBy: string[] = []) => task(name, 'Blocked', { reason, blockedBy });
const ofTeam = { ownerReferences: [{ kind: 'Team', name: 'a', uid: '1', controller: true }] };
const boardOf = (objects: readonly Followed[]): Board => new Map(objects.map((object) => [boardKey(object), object]));
const expecting = (...names: string[]) => new Set(names.map((name) => `Task/default/a-${name}`));
const stalled = (observedGeneration: number) => ({
  conditions: [{ type: 'Ready', status: 'False', reason: 'NotSupportedYet', message: 'no', observedGeneration }],
});
const noNetwork = (reason: string) => ({ conditions: [{ type: 'NetworkReady', status: 'False', reason, message: 'no' }] });

describe('verdictOf', () => {
  it.each<{ name: string; board: Followed[]; expected: ReadonlySet<string>; want: string }>([
    { name: 'nothing is there yet', board: [], expected: expecting('x'), want: 'moving' },
    { name: 'a team without tasks runs on', board: [agent('x', 'Ready')], expected: expecting(), want: 'moving' },
    { name: 'not all tasks are there', board: [task('x', 'Succeeded')], expected: expecting('x', 'y'), want: 'moving' },
    { name: 'only an older task is there', board: [task('old', 'Succeeded')], expected: expecting('new'), want: 'moving' },
    { name: 'a task runs', board: [task('x', 'Succeeded'), task('y', 'Running')], expected: expecting('x', 'y'), want: 'moving' },
    { name: 'a task has said nothing', board: [task('x')], expected: expecting('x'), want: 'moving' },
    { name: 'all have ended', board: [task('x', 'Succeeded'), task('y', 'Failed')], expected: expecting('x', 'y'), want: 'done' },
    {
      name: 'a task that the team no longer lists does not count',
      board: [team({ tasks: [{ name: 'x' }] }), task('x', 'Succeeded', {}, ofTeam), task('y', 'Running', {}, ofTeam)],
      expected: expecting('x'),
      want: 'done',
    },
    {
      name: 'the rest waits for one that failed',
      board: [task('x', 'Failed'), blocked('y', 'DependencyFailed', ['x'])],
      expected: expecting('x', 'y'),
      want: 'lost',
    },
    {
      name: 'one waits for what does not exist',
      board: [blocked('y', 'DependencyNotFound', ['gone'])],
      expected: expecting('y'),
      want: 'lost',
    },
    {
      name: 'a circle',
      board: [blocked('x', 'DependencyCycle', ['y']), blocked('y', 'DependencyCycle', ['x'])],
      expected: expecting('x', 'y'),
      want: 'lost',
    },
    {
      name: 'one waits for one that waits for what does not exist',
      board: [blocked('x', 'DependencyNotFound', ['gone']), blocked('y', 'DependenciesPending', ['x'])],
      expected: expecting('x', 'y'),
      want: 'lost',
    },
    {
      name: 'one waits for one that runs',
      board: [task('x', 'Running'), blocked('y', 'DependenciesPending', ['x'])],
      expected: expecting('x', 'y'),
      want: 'moving',
    },
    {
      name: 'one does not know yet that it may go',
      board: [task('x', 'Succeeded'), blocked('y', 'DependenciesPending', ['x'])],
      expected: expecting('x', 'y'),
      want: 'moving',
    },
    { name: 'every agent has failed', board: [task('x', 'Pending'), agent('y', 'Failed')], expected: expecting('x'), want: 'lost' },
    {
      name: 'one agent is left',
      board: [task('x', 'Pending'), agent('y', 'Failed'), agent('z', 'Ready')],
      expected: expecting('x'),
      want: 'moving',
    },
    {
      name: 'no agent can have the network its team asks for',
      board: [task('x', 'Pending'), agent('y', 'Starting', noNetwork('NetworkUnavailable'))],
      expected: expecting('x'),
      want: 'lost',
    },
    {
      name: 'the network of the only agent is not there yet',
      board: [task('x', 'Pending'), agent('y', 'Starting', noNetwork('RulesRejected'))],
      expected: expecting('x'),
      want: 'moving',
    },
    { name: 'every agent failed before the tasks came', board: [agent('y', 'Failed')], expected: expecting('x'), want: 'lost' },
    {
      name: 'an agent failed with the spec it had before',
      board: [agent('y', 'Failed', { observedGeneration: 1 }, { generation: 2 })],
      expected: expecting('x'),
      want: 'moving',
    },
    {
      name: 'every agent has failed, and the team has not looked at its new spec',
      board: [team({}, { observedGeneration: 1 }, 2), agent('y', 'Failed')],
      expected: expecting('x'),
      want: 'moving',
    },
    { name: 'there is no such team', board: [task('x', 'Pending', { reason: 'NoAgent' })], expected: expecting('x'), want: 'lost' },
    {
      name: 'there is no such team, but an agent of it',
      board: [task('x', 'Pending', { reason: 'NoAgent' }), agent('y', 'Starting')],
      expected: expecting('x'),
      want: 'moving',
    },
    { name: 'the team is stalled', board: [team({}, stalled(1))], expected: expecting('x'), want: 'lost' },
    { name: 'the team was stalled before its spec changed', board: [team({}, stalled(1), 2)], expected: expecting('x'), want: 'moving' },
  ])('$name: $want', ({ board, expected, want }) => {
    expect(verdictOf(boardOf(board), expected)).toBe(want);
  });

  it('looks at each blocked task once, however many ways lead to it', () => {
    const layers = Array.from({ length: 40 }, (_, layer) =>
      ['x', 'y'].map((side) =>
        blocked(`${side}${layer}`, 'DependenciesPending', layer === 0 ? ['first'] : [`x${layer - 1}`, `y${layer - 1}`]),
      ),
    );
    expect(verdictOf(boardOf([task('first', 'Running'), ...layers.flat()]), expecting('first'))).toBe('moving');
  });
});

describe('exitCodeOf', () => {
  it.each<{ name: string; board: Followed[]; expected: ReadonlySet<string>; want: number }>([
    { name: 'all succeeded', board: [task('x', 'Succeeded')], expected: expecting('x'), want: 0 },
    { name: 'one failed', board: [task('x', 'Succeeded'), task('y', 'Failed')], expected: expecting('x', 'y'), want: 1 },
    { name: 'none came', board: [], expected: expecting('x'), want: 1 },
    { name: 'none was asked for', board: [agent('y', 'Ready')], expected: expecting(), want: 0 },
    { name: 'none was asked for, and no agent runs', board: [agent('y', 'Failed')], expected: expecting(), want: 1 },
    { name: 'the team is stalled', board: [team({}, stalled(1)), task('x', 'Succeeded')], expected: expecting('x'), want: 1 },
  ])('$name: $want', ({ board, expected, want }) => {
    expect(exitCodeOf(boardOf(board), expected)).toBe(want);
  });
});

describe('expectedTasks', () => {
  it('counts tasks of their own and those that teams list', () => {
    const applied = [team({ tasks: [{ name: 'x' }, { name: 'y' }] }), task('z'), agent('w', 'Ready')];
    expect([...expectedTasks(applied)]).toEqual(['Task/default/a-x', 'Task/default/a-y', 'Task/default/a-z']);
  });
});

describe('a team that merges by itself', () => {
  const done = task('t', 'Succeeded', {}, ofTeam);
  const merging = team({ merge: {}, tasks: [{ name: 't' }] });
  const merge = (phase?: string) =>
    ({
      kind: 'Merge',
      metadata: { namespace: 'default', name: 'a-merge', ...ofTeam },
      spec: { team: 'a' },
      status: { phase },
    }) as unknown as Merge;

  it.each<{ objects: readonly Followed[]; verdict: string; code: number }>([
    { objects: [merging, done], verdict: 'moving', code: 0 },
    { objects: [merging, done, merge()], verdict: 'moving', code: 1 },
    { objects: [merging, done, merge('Merging')], verdict: 'moving', code: 1 },
    { objects: [merging, done, merge('Merged')], verdict: 'done', code: 0 },
    { objects: [merging, done, merge('Conflicted')], verdict: 'done', code: 1 },
    { objects: [merging, task('t', 'Failed', {}, ofTeam)], verdict: 'done', code: 1 },
  ])('is not over before its merge is: $verdict', ({ objects, verdict, code }) => {
    const board = boardOf(objects);
    expect([verdictOf(board, expecting('t')), exitCodeOf(board, expecting('t'))]).toEqual([verdict, code]);
  });
});
