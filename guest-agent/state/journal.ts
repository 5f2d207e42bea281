/**
 * An append-only file of JSON lines whose state is the fold of its records: the same `apply` runs over what is read at the start and over
 * what has just become durable. Records that wait for the disk at the same time share one sync.
 */
import { constants, readFileSync, truncateSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { lazy } from '../lazy-modules.ts';
import { syncDirectory, writeDurably } from './durable-file.ts';

const MIN_COMPACT_BYTES = 1024 * 1024;
const NEWLINE = 0x0a;
// A write that returns is on disk: one change of thread instead of two.
const FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | constants.O_DSYNC;

export interface JournalOptions<R> {
  readonly path: string;
  /** Throws for what is not a record. */
  readonly parse: (value: unknown) => R;
  readonly apply: (record: R) => void;
  /** Records that lead to the present state: what a rewritten file holds. */
  readonly snapshot: () => readonly R[];
  readonly warn: (text: string) => void;
  /** The smallest size at which the file is rewritten. */
  readonly minCompactBytes?: number;
}

interface Waiting<R> {
  readonly records: readonly R[];
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export class Journal<R> {
  readonly #options: JournalOptions<R>;
  readonly #minCompactBytes: number;
  #handle: FileHandle | undefined;
  #bytes: number;
  #compactAtBytes: number;
  /** A write failed: nobody knows what is in the file behind the last good record. */
  #isSuspect = false;
  #waiting: Waiting<R>[] = [];
  #notes: R[] = [];
  #writing: Promise<void> | undefined;

  constructor(options: JournalOptions<R>) {
    this.#options = options;
    this.#minCompactBytes = options.minCompactBytes ?? MIN_COMPACT_BYTES;
    this.#bytes = replay(options);
    this.#compactAtBytes = this.#minCompactBytes;
  }

  /** Durable and applied when it resolves; neither when it rejects. */
  append(...records: readonly R[]): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ records, resolve, reject });
      this.#writing ??= this.#writeAll();
    });
  }

  /**
   * Applied at once, and written with what is written next: for what does no harm when a crash forgets it, and none when it is applied to a
   * state that has it already.
   */
  note(...records: readonly R[]): void {
    for (const record of records) this.#options.apply(record);
    this.#notes.push(...records);
  }

  async close(): Promise<void> {
    if (this.#notes.length > 0) await this.append().catch(() => {});
    await this.#writing;
    await this.#handle?.close();
    this.#handle = undefined;
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      await this.#writeBatch(batch);
    }
    this.#writing = undefined;
  }

  async #writeBatch(batch: readonly Waiting<R>[]): Promise<void> {
    const records = batch.flatMap((waiting) => waiting.records);
    try {
      await this.#write(records);
    } catch (error) {
      this.#isSuspect = true;
      for (const { reject } of batch) reject(error);
      return;
    }
    for (const record of records) this.#options.apply(record);
    for (const { resolve } of batch) resolve();
  }

  async #write(records: readonly R[]): Promise<void> {
    const text = toLines([...this.#notes.splice(0), ...records]);
    const bytes = Buffer.byteLength(text);
    if (this.#isSuspect) return this.#rewrite(text);
    if (this.#bytes + bytes > this.#compactAtBytes && (await this.#tryRewrite(text))) return;
    this.#handle ??= await this.#open();
    await this.#handle.appendFile(text);
    this.#bytes += bytes;
  }

  /** A disk without room for a second copy may still have room for a few lines. */
  async #tryRewrite(text: string): Promise<boolean> {
    try {
      await this.#rewrite(text);
      return true;
    } catch (error) {
      this.#options.warn(`${this.#options.path} could not be made smaller: ${error instanceof Error ? error.message : String(error)}`);
      return false;
    }
  }

  async #rewrite(text: string): Promise<void> {
    const whole = toLines(this.#options.snapshot()) + text;
    await writeDurably(this.#options.path, whole);
    const old = this.#handle;
    this.#handle = undefined;
    this.#isSuspect = false;
    this.#bytes = Buffer.byteLength(whole);
    this.#compactAtBytes = Math.max(this.#minCompactBytes, 2 * this.#bytes);
    await old?.close();
  }

  async #open(): Promise<FileHandle> {
    const handle = await lazy.files.open(this.#options.path, FLAGS, 0o600);
    await syncDirectory(dirname(this.#options.path));
    return handle;
  }
}

function toLines(records: readonly unknown[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join('');
}

/** Cuts what a crash left of the last line. Gives the size of the file. */
function replay<R>({ path, parse, apply, warn }: JournalOptions<R>): number {
  const content = readIfThere(path);
  const end = content.lastIndexOf(NEWLINE) + 1;
  if (end < content.length) truncateSync(path, end);
  const lines = content.toString('utf8', 0, end).split('\n');
  for (const [index, line] of lines.entries()) {
    if (line === '') continue;
    try {
      apply(parse(JSON.parse(line)));
    } catch (error) {
      warn(`${path} line ${index + 1} is not readable and was passed over: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return end;
}

function readIfThere(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
}
