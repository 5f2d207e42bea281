/**
 * The agent's log: one file, `log/agent.log` in the state directory, and one older file beside it. Lines wait in memory for the disk, and
 * when the disk is slower than the commands, lines are dropped and counted: a log never holds up what it reports about.
 */
import { Buffer } from 'node:buffer';
import { closeSync, fstatSync, openSync, renameSync, write, writeSync } from 'node:fs';
import { join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { makeFolder } from '#lib/make-folder.ts';
import { report } from '../report.ts';
import { splitLines, toSourceWord, toStoredLine } from './lines.ts';

const MAX_FILE_BYTES = 8 * 1024 * 1024;
const MAX_WAITING_BYTES = 1024 * 1024;
/** So much is written in place: the way to another thread and back costs more, and most guests would have those threads for nothing else. */
const SMALL_BYTES = 4 * 1024;
/** How long a closing log waits for those who still read it. */
const LAST_READ_MS = 500;

const writeBytes = promisify(write);

/** For output that comes in pieces, each stream its own, so that their lines do not mix. */
export interface LogWriter {
  write(chunk: Uint8Array | string): void;
  /** Takes the line that has no end yet. */
  end(): void;
}

/** One of the log's files, open for reading. Generations are counted from the start of this process. */
export interface LogFile {
  readonly fd: number;
  readonly generation: number;
}

export class AgentLog {
  readonly #path: string;
  readonly #maxFileBytes: number;
  readonly #wakers = new Set<() => void>();
  #fd: number;
  #fileBytes: number;
  /** Of the current file; the older one has the number before. */
  #generation = 1;
  #waiting: string[] = [];
  #waitingBytes = 0;
  #dropped = 0;
  #flushing: Promise<void> | undefined;
  #isClosed = false;
  #onAllRead: (() => void) | undefined;

  constructor(stateDir: string, { maxFileBytes = MAX_FILE_BYTES }: { readonly maxFileBytes?: number } = {}) {
    makeFolder(join(stateDir, 'log'));
    this.#path = join(stateDir, 'log', 'agent.log');
    this.#maxFileBytes = maxFileBytes;
    this.#fd = openSync(this.#path, 'a', 0o600);
    this.#fileBytes = fstatSync(this.#fd).size;
  }

  get generation(): number {
    return this.#generation;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Whole lines; the end of the last one may be missing. For pieces of output use `open`. */
  write(source: string, text: string): void {
    const { lines, rest } = splitLines(text);
    this.#add(source, rest === '' ? lines : [...lines, rest]);
  }

  open(source: string): LogWriter {
    const decoder = new StringDecoder('utf8');
    let partial = '';
    const take = (text: string) => {
      const { lines, rest } = splitLines(partial + text);
      partial = rest;
      this.#add(source, lines);
    };
    return {
      write: (chunk) => take(typeof chunk === 'string' ? chunk : decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length))),
      end: () => {
        take(decoder.end());
        if (partial !== '') this.#add(source, [partial]);
        partial = '';
      },
    };
  }

  /** Opens the current file, or the older one. undefined: there is none. The caller closes it. */
  openFile(which: 'current' | 'older'): LogFile | undefined {
    const isCurrent = which === 'current';
    try {
      const fd = openSync(isCurrent ? this.#path : `${this.#path}.1`, 'r');
      return { fd, generation: isCurrent ? this.#generation : this.#generation - 1 };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** Calls back whenever there are more bytes to read, and when the log closes. Returns the unsubscribe function. */
  onMore(wake: () => void): () => void {
    this.#wakers.add(wake);
    return () => {
      this.#wakers.delete(wake);
      if (this.#wakers.size === 0) this.#onAllRead?.();
    };
  }

  /** Resolves when everything written so far is in the file. */
  async flushed(): Promise<void> {
    while (this.#flushing !== undefined) await this.#flushing;
  }

  /** Those who follow get the last lines, within a moment. */
  async close(): Promise<void> {
    await this.flushed();
    if (this.#isClosed) return;
    this.#isClosed = true;
    closeSync(this.#fd);
    const read = new Promise<void>((resolve) => {
      this.#onAllRead = resolve;
    });
    this.#wake();
    if (this.#wakers.size > 0) await Promise.race([read, delay(LAST_READ_MS, undefined, { ref: false })]);
  }

  /** For the last moment of a crash, when nothing asynchronous runs any more. */
  closeNow(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    writeSync(this.#fd, this.#takeWaiting());
  }

  #add(source: string, lines: readonly string[]): void {
    if (this.#isClosed || lines.length === 0) return;
    const word = toSourceWord(source);
    const time = new Date().toISOString();
    for (const text of lines) {
      if (this.#waitingBytes > MAX_WAITING_BYTES) {
        this.#dropped += 1;
        continue;
      }
      const line = `${toStoredLine({ time, source: word, text })}\n`;
      this.#waiting.push(line);
      this.#waitingBytes += line.length;
    }
    this.#flushing ??= this.#flush();
  }

  async #flush(): Promise<void> {
    // What is written in one turn goes to the disk in one piece.
    await Promise.resolve();
    while (this.#waiting.length > 0 && !this.#isClosed) {
      const bytes = this.#takeWaiting();
      try {
        if (this.#fileBytes >= this.#maxFileBytes) this.#rotate();
        this.#fileBytes += bytes.length;
        await writeAll(this.#fd, bytes);
      } catch (error) {
        // A full disk costs lines, nothing else.
        report(`the agent's log cannot be written: ${error instanceof Error ? error.message : String(error)}`);
      }
      this.#wake();
    }
    this.#flushing = undefined;
  }

  #takeWaiting(): Buffer {
    if (this.#dropped > 0) {
      const text = `${this.#dropped} lines were not kept: they came faster than they could be written`;
      this.#waiting.push(`${toStoredLine({ time: new Date().toISOString(), source: 'guest', text })}\n`);
      this.#dropped = 0;
    }
    const bytes = Buffer.from(this.#waiting.join(''));
    this.#waiting = [];
    this.#waitingBytes = 0;
    return bytes;
  }

  /** In one turn, so that a reader never sees a generation without its file. */
  #rotate(): void {
    renameSync(this.#path, `${this.#path}.1`);
    const fd = openSync(this.#path, 'a', 0o600);
    closeSync(this.#fd);
    this.#fd = fd;
    this.#fileBytes = 0;
    this.#generation += 1;
  }

  #wake(): void {
    for (const wake of [...this.#wakers]) wake();
  }
}

async function writeAll(fd: number, bytes: Buffer): Promise<void> {
  const isSmall = bytes.length <= SMALL_BYTES;
  for (let offset = 0; offset < bytes.length; )
    offset += isSmall ? writeSync(fd, bytes, offset) : (await writeBytes(fd, bytes, offset)).bytesWritten;
}
