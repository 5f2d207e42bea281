import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Board, Followed } from '../follow-board.ts';
import { agentOf, boardOf, taskOf, teamNamed } from './board.fixture.ts';
import { MemoryTerminal } from './terminal.fixture.ts';
import { liveView } from './view.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function setUp({ isOld = false } = {}) {
  const terminal = new MemoryTerminal({ columns: 40, rows: 10 });
  const clock = { now: () => new Date(Date.parse('2026-01-02T03:04:05Z') + (Date.now() - started)) };
  const started = Date.now();
  const view = liveView({ out: terminal.write, err: terminal.write, terminal, clock, hasColour: false, isOld: () => isOld });
  const show = (board: Board, before: Followed | undefined, after: Followed | undefined) => {
    view.changed(board, { before, after });
    vi.advanceTimersByTime(100);
  };
  return { terminal, view, show };
}

const team = teamNamed('a', { phase: 'Working' });
const running = taskOf('a', 'x', { phase: 'Running', owner: 'a-w', startedAt: '2026-01-02T03:04:05Z' });
const done = taskOf('a', 'x', { phase: 'Succeeded', owner: 'a-w', result: { elapsedSeconds: 1, stdout: 'hel\u001b[2Jlo', stderr: '' } });

describe('liveView', () => {
  it('draws the board, tells above it what a task printed, and leaves the end of the board below', () => {
    const { terminal, view, show } = setUp();
    show(boardOf(team, running), undefined, running);
    expect(terminal.shown).toBe('team   a  Working  0 of 1 tasks done\ntask   x  Running  0s  w');
    show(boardOf(team, done), running, done);
    view.over(boardOf(team, done), 0);
    const board = 'team   a  Ready      1 of 1 tasks done\ntask   x  Succeeded  1.0s  w';
    expect(terminal.shown).toBe(`task/a-x Succeeded in 1 s\nhel^[[2Jlo\n${board}`);
    show(boardOf(team, done, agentOf('a', 'n')), undefined, agentOf('a', 'n', { phase: 'Ready' }));
    view.close();
    expect(terminal.shown).toBe(`task/a-x Succeeded in 1 s\nhel^[[2Jlo\n${board}\nagent/a-n Ready`);
    expect([terminal.listenerCount, vi.getTimerCount()]).toEqual([0, 0]);
  });

  it('draws at most ten times a second, however much happens', () => {
    const { terminal, view } = setUp();
    for (let at = 0; at < 1_000; at++) {
      view.changed(boardOf(team, running), { before: running, after: running });
      vi.advanceTimersByTime(1);
    }
    expect(terminal.writes).toBeLessThanOrEqual(12);
    view.close();
  });

  it('lets the time of a running task pass, and follows the size of the terminal', () => {
    const { terminal, view, show } = setUp();
    show(boardOf(team, running), undefined, running);
    vi.advanceTimersByTime(5_000);
    expect(terminal.shown).toContain('task   x  Running  5s  w');
    terminal.resize({ columns: 12, rows: 10 });
    vi.advanceTimersByTime(100);
    expect(terminal.shown.split('\n').at(-1)).toBe('task   x  …');
    view.close();
  });

  it('says of what had ended before that it had', () => {
    const { terminal, view, show } = setUp({ isOld: true });
    show(boardOf(team, done), undefined, done);
    expect(terminal.shown).toContain('task/a-x already Succeeded in 1 s');
    view.close();
  });

  it('leaves nothing behind when it ends before anything was shown', () => {
    const { terminal, view } = setUp();
    view.close();
    view.close();
    expect([terminal.shown, terminal.writes, vi.getTimerCount()]).toEqual(['', 0, 0]);
  });
});
