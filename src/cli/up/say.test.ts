import { describe, expect, it } from 'vitest';
import type { KindObject } from '#api/meta.ts';
import { boardOf, ready, taskOf, teamNamed } from '../live/board.fixture.ts';
import { announcement, beforehand, conclusion } from './say.ts';

describe('announcement', () => {
  const at = { url: 'https://127.0.0.1:7443', kubeconfig: '.agentiso/kubeconfig', isOurs: true };
  const lead = '(in another terminal: export KUBECONFIG=.agentiso/kubeconfig; kubectl get tasks)\n';

  it.each([
    { name: 'a daemon of its own', daemon: at, want: `agentiso up: https://127.0.0.1:7443  ${lead}` },
    {
      name: 'the daemon of somebody else',
      daemon: { ...at, isOurs: false },
      want: `agentiso up: https://127.0.0.1:7443, the daemon that already runs on .agentiso  ${lead}`,
    },
    {
      name: 'one that has not said where it is',
      daemon: { ...at, isOurs: false, url: undefined },
      want: `agentiso up: .agentiso, the daemon that already runs on .agentiso  ${lead}`,
    },
  ])('names $name', ({ daemon, want }) => {
    expect(announcement(daemon, '.agentiso')).toBe(want);
  });
});

describe('conclusion', () => {
  const board = boardOf(taskOf('a', 'x', { phase: 'Succeeded' }), taskOf('a', 'y', { phase: 'Failed' }));
  const stalled = boardOf(teamNamed('b', ready('False', 'm', 'NotSupportedYet')), taskOf('b', 'z', { phase: 'Blocked' }));
  const circle = { phase: 'Blocked', reason: 'DependencyCycle' };
  const round = boardOf(taskOf('a', 'x', circle), taskOf('a', 'y', circle));
  const ends = { home: '.agentiso', stays: false, isOurs: true, isTemporary: true, command: 'agentiso' };
  const many = boardOf(...Array.from({ length: 12 }, (_, at) => taskOf('a', `t${at}`, { phase: 'Failed' })));

  it.each([
    { board, how: ends, want: 'done: 1 of 2 tasks succeeded; failed: task/a-y\n' },
    { board: stalled, how: ends, want: 'done: 0 of 1 tasks succeeded; cannot go on: team/b, task/b-z\n' },
    {
      board: many,
      how: ends,
      want: `done: 0 of 12 tasks succeeded; failed: ${[...many.values()]
        .slice(0, 10)
        .map(({ metadata }) => `task/${metadata.name}`)
        .join(', ')} and 2 more\n`,
    },
    { board, how: { ...ends, stays: true }, want: 'done: 1 of 2 tasks succeeded; failed: task/a-y; still serving, Ctrl-C ends\n' },
    {
      board,
      how: { ...ends, stays: true, isOurs: false },
      want: 'done: 1 of 2 tasks succeeded; failed: task/a-y; still watching, Ctrl-C ends\n',
    },
    {
      board: round,
      how: ends,
      want: 'done: 0 of 2 tasks succeeded; wait for each other in a dependency cycle: task/a-x, task/a-y\n',
    },
    { board: new Map(), how: ends, want: 'done: nothing can go on\n' },
  ])('$want', ({ board: shown, how, want }) => {
    expect(conclusion(shown, how)).toBe(want);
  });

  it.each([
    {
      how: { isTemporary: false },
      want: 'look around: agentiso serve in one terminal; in another agentiso board, and so messages, why, get tasks, logs\n',
    },
    {
      how: { isTemporary: false, home: '/srv/a b' },
      want: "look around: agentiso serve --home '/srv/a b' in one terminal; in another agentiso board --home '/srv/a b', and so messages, why, get tasks, logs\n",
    },
    {
      how: { isTemporary: false, isOurs: false, command: 'scripts/agentiso' },
      want: 'look around: scripts/agentiso board, and so messages, why, get tasks, logs\n',
    },
    { how: { isTemporary: false, isOurs: false }, want: 'look around: agentiso board, and so messages, why, get tasks, logs\n' },
  ])('says how to look around: $want', ({ how, want }) => {
    expect(
      conclusion(board, { ...ends, ...how })
        .split('\n')
        .slice(1)
        .join('\n'),
    ).toBe(want);
  });
});

describe('beforehand', () => {
  const configMap = { kind: 'ConfigMap', metadata: { name: 'c', namespace: 'default' } } as unknown as KindObject;

  it.each([
    {
      name: 'no team at all',
      objects: [configMap],
      stays: false,
      want: 'nothing to run: there is no team, agent or task in these files\n',
    },
    {
      name: 'a team without tasks',
      objects: [teamNamed('a')],
      stays: false,
      want: 'no tasks in these files; the agents run until Ctrl-C\n',
    },
    {
      name: 'a team without tasks, and time',
      objects: [teamNamed('a')],
      stays: true,
      want: 'no tasks in these files; the agents run until Ctrl-C\n',
    },
    { name: 'a team with a task', objects: [teamNamed('a', {}, { tasks: [{ name: 'x' }] })], stays: false, want: '' },
    { name: 'a task', objects: [taskOf('a', 'x')], stays: false, want: '' },
  ])('of $name', ({ objects, stays, want }) => {
    expect(beforehand(objects, stays)).toBe(want);
  });
});
