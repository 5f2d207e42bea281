/**
 * Lines that are drawn over each other at the bottom of a terminal. It changes no mode and hides no cursor, so that however the program
 * ends, the terminal is as it was.
 */
import type { TerminalSize } from './render.ts';
import { widthOf } from './width.ts';

const ESCAPE = '\u001b';
const CLEAR_LINE = `${ESCAPE}[K`;
const CLEAR_BELOW = `${ESCAPE}[J`;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the escape that begins a colour.
const COLOURS = /\u001b\[\d+m/g;

export interface ScreenOptions {
  readonly write: (text: string) => void;
  readonly size: () => TerminalSize;
}

export class Screen {
  readonly #write: ScreenOptions['write'];
  readonly #size: ScreenOptions['size'];
  /** Widths of the lines that the next drawing replaces. */
  #drawn: readonly number[] = [];

  constructor({ write, size }: ScreenOptions) {
    this.#write = write;
    this.#size = size;
  }

  draw(lines: readonly string[]): void {
    const body = lines.map((line) => `${line}${CLEAR_LINE}\n`).join('');
    this.#write(`${this.#toTop()}${body}${CLEAR_BELOW}`);
    this.#drawn = lines.map((line) => widthOf(line.replace(COLOURS, '')));
  }

  clear(): void {
    if (this.#drawn.length > 0) this.#write(`${this.#toTop()}${CLEAR_BELOW}`);
    this.#drawn = [];
  }

  /** What is drawn stays where it is; whatever comes next goes below. */
  keep(): void {
    // A terminal shows the ^C that ended us at the place of the cursor.
    if (this.#drawn.length > 0) this.#write(`\r${CLEAR_LINE}`);
    this.#drawn = [];
  }

  /** Terminals that became narrower have wrapped what was drawn before. */
  #toTop(): string {
    const { columns, rows } = this.#size();
    const height = this.#drawn.reduce((sum, width) => sum + Math.max(1, Math.ceil(width / Math.max(1, columns))), 0);
    const up = Math.min(height, Math.max(0, rows - 1));
    return up > 0 ? `\r${ESCAPE}[${up}A` : '\r';
  }
}
