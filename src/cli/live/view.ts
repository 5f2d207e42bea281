/** The live view: what ends is told above, where it stays; below it the board is drawn anew whenever something changes. */
import type { Clock } from '#lib/clock.ts';
import { escapeControl } from '#lib/escape.ts';
import type { FollowView } from '../follow.ts';
import type { Board } from '../follow-board.ts';
import { tasksOn } from '../follow-board.ts';
import { tellChange } from '../follow-lines.ts';
import { pace } from './pace.ts';
import { renderBoard } from './render.ts';
import { Screen } from './screen.ts';
import type { Terminal } from './terminal.ts';

export interface LiveOptions {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly hasColour: boolean;
  /** Had ended before we began, by uid. */
  readonly isOld: (uid: string) => boolean;
}

export interface LiveView extends FollowView {
  /** Draws no more; what is on the screen stays. */
  close(): void;
}

const REDRAW_MS = 100;
/** So that the times of running tasks move. */
const TICK_MS = 1_000;

export function liveView({ out, err, terminal, clock, hasColour, isOld }: LiveOptions): LiveView {
  const screen = new Screen({ write: out, size: terminal.size });
  let board: Board = new Map();
  let isLive = true;
  const draw = () => screen.draw(renderBoard(board, { ...terminal.size(), now: clock.now(), hasColour }));
  const drawing = pace(draw, REDRAW_MS);
  const ticking = setInterval(() => {
    if (tasksOn(board).some(({ status }) => status?.phase === 'Running')) drawing.request();
  }, TICK_MS);
  const forgetResize = terminal.onResize(drawing.request);
  const close = () => {
    if (!isLive) return;
    isLive = false;
    drawing.stop();
    clearInterval(ticking);
    forgetResize();
    if (board.size > 0) draw();
    screen.keep();
  };

  return {
    changed(now, { before, after }) {
      board = now;
      const told = after && tellChange(before, after, isOld(after.metadata.uid));
      const isEnd = told?.result !== undefined;
      if (told && (isEnd || !isLive)) {
        screen.clear();
        err(escapeControl(told.line));
        out(escapeControl(told.result?.stdout ?? ''));
        err(escapeControl(told.result?.stderr ?? ''));
      }
      drawing.request();
    },
    said(line) {
      if (isLive) screen.clear();
      err(escapeControl(line));
      drawing.request();
    },
    over: close,
    close,
  };
}
