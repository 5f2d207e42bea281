/** A terminal in memory: as much of one as the live view uses, wrapping and scrolling included. */
import type { TerminalSize } from './render.ts';
import type { Terminal } from './terminal.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: what a terminal obeys.
const PARTS = /\u001b\[(\d*)([A-Za-z])|[\r\n]|[^\r\n\u001b]/gu;

export class MemoryTerminal implements Terminal {
  /** All that was ever above, and the screen. */
  lines: string[] = [''];
  writes = 0;
  #row = 0;
  #column = 0;
  #size: TerminalSize;
  readonly #listeners = new Set<() => void>();

  constructor(size: TerminalSize) {
    this.#size = size;
  }

  readonly size = () => this.#size;

  onResize(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  get listenerCount(): number {
    return this.#listeners.size;
  }

  resize(size: TerminalSize): void {
    this.#size = size;
    for (const listener of this.#listeners) listener();
  }

  readonly write = (text: string): void => {
    this.writes++;
    for (const [part, count, command] of text.matchAll(PARTS)) {
      if (command !== undefined) this.#obey(command, Number(count || 1));
      else if (part === '\r') this.#column = 0;
      else if (part === '\n') this.#newLine();
      else this.#put(part);
    }
  };

  /** What a person sees, without blank lines at the end. */
  get shown(): string {
    return this.lines
      .map((line) => line.trimEnd())
      .join('\n')
      .trimEnd();
  }

  #obey(command: string, count: number): void {
    if (command === 'A') this.#row = Math.max(0, this.lines.length - this.#size.rows, this.#row - count);
    if (command === 'K' || command === 'J') this.lines[this.#row] = this.#line().slice(0, this.#column);
    if (command === 'J') this.lines.length = this.#row + 1;
  }

  #put(character: string): void {
    if (this.#column === this.#size.columns) this.#newLine();
    const line = this.#line().padEnd(this.#column);
    this.lines[this.#row] = line.slice(0, this.#column) + character + line.slice(this.#column + 1);
    this.#column++;
  }

  #newLine(): void {
    this.#column = 0;
    this.#row++;
    if (this.#row === this.lines.length) this.lines.push('');
  }

  #line(): string {
    return this.lines[this.#row] ?? '';
  }
}
