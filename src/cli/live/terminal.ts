/** The size of the terminal that standard output is, as it is now: a window can change while a command runs. */
import type { TerminalSize } from './render.ts';

export interface Terminal {
  size(): TerminalSize;
  /** Returns what ends it. */
  onResize(listener: () => void): () => void;
}

const USUAL: TerminalSize = { columns: 80, rows: 24 };

export const standardTerminal: Terminal = {
  size: () => ({ columns: process.stdout.columns || USUAL.columns, rows: process.stdout.rows || USUAL.rows }),
  onResize(listener) {
    process.stdout.on('resize', listener);
    return () => process.stdout.off('resize', listener);
  },
};
