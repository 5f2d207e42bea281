import { describe, expect, it } from 'vitest';
import { agentOf, boardOf, ready, taskOf, teamNamed } from './board.fixture.ts';
import { renderBoard } from './render.ts';
import { widthOf } from './width.ts';

const now = new Date('2026-01-02T03:04:05Z');
const size = { columns: 80, rows: 24 };
const plain = { ...size, now, hasColour: false };

const SPRINT = boardOf(
  teamNamed('sprint', { phase: 'Working' }),
  agentOf('sprint', 'lead', { phase: 'Ready' }),
  agentOf('sprint', 'backend-1', { phase: 'Ready' }),
  agentOf('sprint', 'backend-2', { phase: 'Starting', ...ready('False', 'waiting for the guest agent') }),
  taskOf('sprint', 'api', { phase: 'Running', owner: 'sprint-backend-1', startedAt: '2026-01-02T03:04:00Z' }),
  taskOf('sprint', 'design', { phase: 'Succeeded', owner: 'sprint-lead', result: { elapsedSeconds: 0.019 } }),
  taskOf('sprint', 'review', { phase: 'Blocked', reason: 'DependenciesPending', ...ready('False', 'waits for sprint-api') }),
);

describe('renderBoard', () => {
  it('shows teams, agents with what they do, and tasks with owner, time and reason', () => {
    expect(renderBoard(SPRINT, plain)).toEqual([
      'team   sprint     Working    1 of 3 tasks done',
      'agent  backend-1  Working          api',
      'agent  backend-2  Starting                    waiting for the guest agent',
      'agent  lead       Ready',
      'task   api        Running    5s    backend-1',
      'task   design     Succeeded  0.0s  lead',
      'task   review     Blocked                     waits for sprint-api',
    ]);
  });

  it.each([1, 2, 8, 20, 40, 60, 200])('never fills %i columns', (columns) => {
    for (const line of renderBoard(SPRINT, { ...plain, columns })) expect(widthOf(line)).toBeLessThan(Math.max(columns, 1));
  });

  it('leaves out what is told least when there are too many rows, and says how much', () => {
    const tasks = Array.from({ length: 10 }, (_, index) =>
      taskOf('a', `t${index}`, { phase: index < 7 ? 'Succeeded' : 'Running', owner: 'a-x' }),
    );
    const lines = renderBoard(boardOf(teamNamed('a', { phase: 'Working' }), ...tasks), { ...plain, rows: 7 });
    expect(lines.map((line) => line.split(/ {2,}/).slice(0, 3).join(' '))).toEqual([
      'team a Working',
      'task t0 Succeeded',
      'task t7 Running',
      'task t8 Running',
      'task t9 Running',
      '… and 6 more (6 Succeeded)',
    ]);
  });

  it('colours the phase only, and only where colours are wanted', () => {
    const board = boardOf(teamNamed('a', { phase: 'Ready' }), taskOf('a', 'ready', { phase: 'Failed', ...ready('False', 'failed') }));
    expect(renderBoard(board, { ...plain, hasColour: true })).toEqual([
      'team   a      \u001b[32mReady\u001b[0m   1 of 1 tasks done',
      'task   ready  \u001b[31mFailed\u001b[0m  failed',
    ]);
  });

  it('shows a stalled team with its reason, and what others wrote as text', () => {
    const board = boardOf(teamNamed('a', ready('False', 'no\u001b[2J\nmore', 'NotSupportedYet')));
    expect(renderBoard(board, plain)).toEqual(['team   a  Stalled  no^[[2J...']);
  });

  it('shows what belongs to a team that is not there', () => {
    const board = boardOf(taskOf('a', 'x', { phase: 'Pending', reason: 'NoAgent', ...ready('False', 'team a has no agents') }));
    expect(renderBoard(board, plain)).toEqual(['team   a           no such team', 'task   x  Pending  team a has no agents']);
  });

  it('counts attempts', () => {
    const board = boardOf(teamNamed('a'), taskOf('a', 'x', { phase: 'Running', owner: 'a-y', attempt: 2 }));
    expect(renderBoard(board, plain)[1]).toBe('task   x  Running  y  attempt 2 of 3');
  });

  it('has nothing to show for an empty board', () => {
    expect(renderBoard(new Map(), plain)).toEqual([]);
  });
});
