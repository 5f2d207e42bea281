/** The board on a terminal, drawn anew in its place whenever something changes, until somebody leaves. */

import type { Cards } from '#client/board-cards.ts';
import type { Clock } from '#lib/clock.ts';
import { pace } from '../live/pace.ts';
import { Screen } from '../live/screen.ts';
import type { Terminal } from '../live/terminal.ts';
import { renderCards } from './render.ts';

export interface LiveBoardOptions {
  readonly out: (text: string) => void;
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly hasColour: boolean;
}

export interface LiveBoard {
  show(cards: Cards): void;
  /** Draws no more; what is on the screen stays. */
  close(): void;
}

const REDRAW_MS = 100;
/** So that ages move. */
const TICK_MS = 1_000;

export function liveBoard({ out, terminal, clock, hasColour }: LiveBoardOptions): LiveBoard {
  const screen = new Screen({ write: out, size: terminal.size });
  let shown: Cards | undefined;
  const draw = () => {
    if (shown) screen.draw(renderCards(shown, { ...terminal.size(), now: clock.now(), hasColour }));
  };
  const drawing = pace(draw, REDRAW_MS);
  const ticking = setInterval(drawing.request, TICK_MS);
  const forgetResize = terminal.onResize(drawing.request);
  return {
    show(cards) {
      shown = cards;
      drawing.request();
    },
    close() {
      drawing.stop();
      clearInterval(ticking);
      forgetResize();
      draw();
      screen.keep();
    },
  };
}
