/**
 * What is said and done in a run, twice: line by line as JSON in a file that is kept, and as text on standard output for whoever follows the
 * agent's log. Words of the agent appear there as they come; in the file they are one entry when it has done with them.
 */
import { closeSync, openSync, writeSync } from 'node:fs';

/** As large as an artifact may be. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;
/** A last entry must find room. */
const RESERVED_BYTES = 64 * 1024;
const MAX_WORDS = 64 * 1024;

export type Voice = 'agent' | 'thought';

export interface Entry {
  readonly type: 'prompt' | Voice | 'tool' | 'permission' | 'note' | 'usage' | 'end';
  /** As people read it. */
  readonly text: string;
  readonly [field: string]: unknown;
}

export interface TranscriptParts {
  readonly path: string;
  readonly say: (text: string) => void;
  readonly now: () => Date;
}

export class Transcript {
  readonly #parts: TranscriptParts;
  readonly #file: number;
  #roomBytes = MAX_FILE_BYTES - RESERVED_BYTES;
  #voice: Voice = 'agent';
  #words = '';
  #isLineOpen = false;

  constructor(parts: TranscriptParts) {
    this.#parts = parts;
    this.#file = openSync(parts.path, 'a', 0o600);
  }

  /** A piece of what the agent says or thinks. */
  words(voice: Voice, piece: string): void {
    if (voice !== this.#voice || this.#words.length > MAX_WORDS) this.#flush();
    this.#voice = voice;
    this.#words += piece;
    if (voice === 'agent') this.#say(piece);
  }

  add(entry: Entry): void {
    this.#flush();
    this.#write(entry);
    this.#line(`[${entry.type}] ${entry.text}`);
  }

  close(): void {
    this.#flush();
    this.#line('');
    closeSync(this.#file);
  }

  #flush(): void {
    if (this.#words !== '') this.#write({ type: this.#voice, text: this.#words });
    this.#words = '';
  }

  #write(entry: Entry): void {
    const line = `${JSON.stringify({ time: this.#parts.now().toISOString(), ...entry })}\n`;
    const bytes = Buffer.byteLength(line);
    const isLast = entry.type === 'end' && bytes < RESERVED_BYTES;
    if (bytes > this.#roomBytes && !isLast) return;
    this.#roomBytes -= bytes;
    writeSync(this.#file, line);
  }

  #say(text: string): void {
    this.#parts.say(text);
    this.#isLineOpen = !text.endsWith('\n');
  }

  #line(text: string): void {
    const start = this.#isLineOpen ? '\n' : '';
    if (start !== '' || text !== '') this.#parts.say(text === '' ? start : `${start}${text}\n`);
    this.#isLineOpen = false;
  }
}
