/** The steps of a build for people: one line that changes on a terminal, a line for each step elsewhere. */
import type { ImageStep } from './images-here.ts';

export interface ProgressOptions {
  readonly write: (text: string) => void;
  readonly isTerminal: boolean;
  readonly columns?: number | undefined;
}

export interface Progress {
  show(step: ImageStep): void;
  /** What comes next is written on a line of its own. */
  end(): void;
}

const CLEAR_LINE = '\r\u001b[K';
const BAR = 24;

export function createProgress({ write, isTerminal, columns = 80 }: ProgressOptions): Progress {
  let shown = '';
  return {
    show(step) {
      const line = isTerminal ? barLine(step).slice(0, columns - 1) : step.text;
      // Most steps say the same again.
      if (line === shown) return;
      shown = line;
      write(isTerminal ? `${CLEAR_LINE}${line}` : `${line}\n`);
    },
    end() {
      if (isTerminal && shown !== '') write(CLEAR_LINE);
      shown = '';
    },
  };
}

export function barLine({ text, percent }: ImageStep): string {
  if (percent === undefined) return text;
  const done = Math.max(0, Math.min(100, Math.floor(percent)));
  const full = Math.round((done / 100) * BAR);
  return `[${'#'.repeat(full)}${'.'.repeat(BAR - full)}] ${String(done).padStart(3)} %  ${text}`;
}
