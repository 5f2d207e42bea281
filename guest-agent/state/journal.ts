/**
 * An append-only file of JSON lines whose state is the fold of its records: the same `apply` runs over what is read at the start and over
 * what has just become durable. Records that wait for the disk at the same time, or come in the same turn, share one sync.
 */
import { readFileSync, renameSync, truncateSync } from 'node:fs';
import { writeDurably } from './durable-file.ts';
import { LineFile } from './line-file.ts';
import { readLines } from './read-lines.ts';
import { isFull } from './reserve.ts';

const MIN_COMPACT_BYTES = 1024 * 1024;

export interface JournalOptions<R> {
  readonly path: string;
  /** Throws for what is not a record. */
  readonly parse: (value: unknown) => R;
  readonly apply: (record: R) => void;
  /** Records that lead to the present state: what a rewritten file holds. */
  readonly snapshot: () => readonly R[];
  readonly warn: (text: string) => void;
  /** What it holds can be had again: a folder in its place is set aside. Others are not to begin anew in silence. */
  readonly isReplaceable?: boolean;
  /** The smallest size at which the file is rewritten. */
  readonly minCompactBytes?: number;
  /** True: there is room now that was not there. */
  readonly onFull?: (() => Promise<boolean>) | undefined;
}

interface Waiting<R> {
  readonly records: readonly R[];
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export class Journal<R> {
  readonly #options: JournalOptions<R>;
  readonly #minCompactBytes: number;
  #file: LineFile | undefined;
  #bytes: number;
  #compactAtBytes: number;
  /** A write failed: nobody knows what is in the file behind the last good record. */
  #isSuspect = false;
  #waiting: Waiting<R>[] = [];
  #notes: R[] = [];
  #isWriting = false;
  #patience: NodeJS.Timeout | undefined;
  #settling: (() => void)[] = [];

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
      this.#start();
    });
  }

  /** The same, but for so long it waits for something else that is to be written, and shares its sync. */
  appendWithin(waitMs: number, ...records: readonly R[]): Promise<void> {
    if (waitMs <= 0) return this.append(...records);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ records, resolve, reject });
      this.#patience ??= setTimeout(() => this.#start(), waitMs);
    });
  }

  #start(): void {
    clearTimeout(this.#patience);
    this.#patience = undefined;
    if (this.#isWriting || this.#waiting.length === 0) return;
    this.#isWriting = true;
    // When everything has run that this turn has set going: what comes in it is written together.
    process.nextTick(() => this.#begin());
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
    if (this.#notes.length + this.#waiting.length > 0) await this.append().catch(() => {});
    if (this.#isWriting) await new Promise<void>((resolve) => this.#settling.push(resolve));
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }

  #begin(): void {
    this.#writeInPlace();
    if (this.#waiting.length > 0) void this.#writeAll();
    else this.#rest();
  }

  /** Where the disk is quick, and nothing but these lines is to be written. */
  #writeInPlace(): void {
    if (this.#file === undefined || this.#isSuspect) return;
    const batch = this.#waiting;
    const notes = this.#notes;
    const records = batch.flatMap((waiting) => waiting.records);
    const data = toLines([...notes, ...records]);
    if (this.#bytes + data.length > this.#compactAtBytes) return;
    try {
      if (!this.#file.appendInPlace(data)) return;
    } catch (error) {
      this.#waiting = [];
      this.#refuse(batch, error);
      return;
    }
    this.#waiting = [];
    this.#notes = [];
    this.#bytes += data.length;
    this.#settle(batch, records);
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      await this.#writeBatch(batch);
    }
    this.#rest();
  }

  #rest(): void {
    this.#isWriting = false;
    for (const resolve of this.#settling.splice(0)) resolve();
  }

  async #writeBatch(batch: readonly Waiting<R>[]): Promise<void> {
    const records = batch.flatMap((waiting) => waiting.records);
    try {
      await this.#write(records).catch((error: unknown) => this.#writeAgain(records, error));
    } catch (error) {
      this.#refuse(batch, error);
      return;
    }
    this.#settle(batch, records);
  }

  /** Where room can be made. */
  async #writeAgain(records: readonly R[], error: unknown): Promise<void> {
    if (!isFull(error) || !(await this.#options.onFull?.())) throw error;
    this.#isSuspect = true;
    await this.#write(records);
  }

  #settle(batch: readonly Waiting<R>[], records: readonly R[]): void {
    for (const record of records) this.#options.apply(record);
    for (const { resolve } of batch) resolve();
  }

  #refuse(batch: readonly Waiting<R>[], error: unknown): void {
    this.#isSuspect = true;
    for (const { reject } of batch) reject(error);
  }

  async #write(records: readonly R[]): Promise<void> {
    const data = toLines([...this.#notes.splice(0), ...records]);
    if (this.#isSuspect) return this.#rewrite(data);
    if (this.#bytes + data.length > this.#compactAtBytes && (await this.#tryRewrite(data))) return;
    this.#file ??= await LineFile.open(this.#options.path, this.#bytes);
    await this.#file.append(data);
    this.#bytes += data.length;
  }

  /** A disk without room for a second copy may still have room for a few lines. */
  async #tryRewrite(data: Buffer): Promise<boolean> {
    try {
      await this.#rewrite(data);
      return true;
    } catch (error) {
      this.#options.warn(`${this.#options.path} could not be made smaller: ${error instanceof Error ? error.message : String(error)}`);
      return false;
    }
  }

  async #rewrite(data: Buffer): Promise<void> {
    const whole = Buffer.concat([toLines(this.#options.snapshot()), data]);
    await writeDurably(this.#options.path, whole);
    const old = this.#file;
    this.#file = undefined;
    this.#isSuspect = false;
    this.#bytes = whole.length;
    this.#compactAtBytes = Math.max(this.#minCompactBytes, 2 * this.#bytes);
    await old?.close();
  }
}

function toLines(records: readonly unknown[]): Buffer {
  let text = '';
  for (const record of records) text += `${text === '' ? '' : ' '}${JSON.stringify(record)}\n`;
  return Buffer.from(text);
}

/** Cuts what a crash left of the last write. Gives where the next one goes. */
function replay<R>(options: JournalOptions<R>): number {
  const { path, parse, apply, warn } = options;
  const { records, spoiled, end, isTorn } = readLines(readIfThere(options), parse);
  if (isTorn) truncateSync(path, end);
  for (const record of records) apply(record);
  for (const { line, why } of spoiled) {
    warn(`${path} line ${line} is not readable and was passed over: ${why instanceof Error ? why.message : String(why)}`);
  }
  return end;
}

function readIfThere({ path, isReplaceable, warn }: Pick<JournalOptions<never>, 'path' | 'isReplaceable' | 'warn'>): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EISDIR' && !isReplaceable) throw new Error(`${path} is a folder; move it away`, { cause: error });
    if (code !== 'ENOENT' && code !== 'EISDIR') throw error;
    if (code === 'EISDIR') warn(`${path} is a folder; it was set aside as ${movedAside(path)}`);
    return Buffer.alloc(0);
  }
}

function movedAside(path: string): string {
  const aside = `${path}.aside-${Date.now()}`;
  renameSync(path, aside);
  return aside;
}
