/**
 * The write-ahead journal: numbered segments, zero-filled before use, so that making a record durable is one write that changes
 * no file size and waits for no other file of the file system. Each segment begins by saying how much of the one before it counts.
 */
import { constants, existsSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { type FileHandle, open, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, UnavailableError } from '#lib/errors.ts';
import { isObject } from '#lib/json.ts';
import { decodeRecord, encodeRecord, encodeRecords, NEWLINE } from './record.ts';

export interface JournalOptions {
  readonly directory: string;
  readonly segmentBytes?: number;
}

export interface Replay {
  readonly records: unknown[];
  /** Damaged lines that are followed by good ones: not a torn end, but a loss somebody must be told of. */
  readonly damaged: string[];
  readonly lastSegment: number;
}

interface Segment {
  readonly number: number;
  readonly file: FileHandle;
  readonly size: number;
  /** Where the next record goes. */
  end: number;
}

const DEFAULT_SEGMENT_BYTES = 4 * 1024 * 1024;
const QUICK_MS = 1;
const DIRECT = constants.O_WRONLY | constants.O_DSYNC;
const SEGMENT_NAME = /^journal-(\d{10})\.log$/;

export class Journal {
  readonly #directory: string;
  readonly #segmentBytes: number;
  #current: Segment | undefined;
  /** The next segment's file, filled with zeros while the current one is still in use. */
  #spare: Promise<void> | undefined;
  #nextNumber: number;
  /** How much of the segment before the next one is valid. */
  #previousBytes: number;
  /** Facts that ride along with the next record: not worth a write of their own. */
  #notes = '';
  #last: Promise<void> = Promise.resolve();
  /** How long a write usually takes; slow until it has shown otherwise. */
  #usualMs = 2;

  constructor({ directory, segmentBytes = DEFAULT_SEGMENT_BYTES }: JournalOptions, lastSegment: number, lastBytes: number) {
    this.#directory = directory;
    this.#segmentBytes = segmentBytes;
    this.#nextNumber = lastSegment + 1;
    this.#previousBytes = lastBytes;
  }

  /** The segment that records go to now, or would go to next. */
  get segmentNumber(): number {
    return this.#current?.number ?? this.#nextNumber;
  }

  note(json: string): void {
    this.#notes += encodeRecord(json);
  }

  /** Resolves when all records are on disk, one append after the other. A failed one leaves no trace that replay would accept. */
  append(records: readonly string[]): Promise<void> {
    const run = this.#last.then(() => this.#append(records));
    this.#last = run.catch(() => {});
    return run;
  }

  async #append(records: readonly string[]): Promise<void> {
    const notes = this.#notes;
    const data = encodeRecords(notes, records);
    try {
      const segment = await this.#segmentFor(data.length);
      this.#notes = this.#notes.slice(notes.length);
      await this.#write(segment, data, records.length);
      segment.end += data.length;
      if (segment.end > segment.size / 2) this.#prepareSpare();
    } catch (error) {
      await this.#abandon();
      throw new UnavailableError(`the change could not be written to disk: ${messageOf(error)}`, {
        reason: isFull(error) ? 'DiskFull' : 'JournalUnavailable',
        hint: isFull(error) ? 'free some space; writing resumes by itself' : 'see the cause; writing is tried again with each change',
        cause: error,
      });
    }
  }

  /**
   * A lone record on a disk that answers within a fraction of a millisecond is written in place: two changes of thread would cost as
   * much again. With company, or on a slower disk, the event loop has better things to do than to wait.
   */
  async #write({ file, end }: Segment, data: Buffer, records: number): Promise<void> {
    if (records > 1 || this.#usualMs > QUICK_MS) {
      const startedMs = performance.now();
      await writeAll(file, data, end);
      this.#learn(performance.now() - startedMs);
      return;
    }
    const startedMs = performance.now();
    for (let done = 0; done < data.length; ) done += writeSync(file.fd, data, done, data.length - done, end + done);
    this.#learn(performance.now() - startedMs);
  }

  /** A slow write counts at once, a quick one only in the long run: better to wait on a thread too often than in place too long. */
  #learn(tookMs: number): void {
    this.#usualMs = tookMs > this.#usualMs ? (this.#usualMs + tookMs) / 2 : this.#usualMs * 0.95 + tookMs * 0.05;
  }

  /** Later records go to a new segment, whose number this gives at once. Call it between appends. */
  rotate(): { readonly segment: number; readonly sealed: Promise<void> } {
    const sealed = this.#seal();
    return { segment: this.#nextNumber, sealed };
  }

  async dropBefore(number: number): Promise<void> {
    for (const old of segmentNumbers(this.#directory)) {
      if (old < number) await unlink(join(this.#directory, segmentName(old)));
    }
  }

  async close(): Promise<void> {
    await this.#seal();
    await this.#spare?.catch(() => {});
    rmSync(this.#sparePath(), { force: true });
  }

  async #segmentFor(length: number): Promise<Segment> {
    const current = this.#current;
    if (current && current.end + length <= current.size) return current;
    await this.#seal();
    return this.#begin(length);
  }

  async #begin(length: number): Promise<Segment> {
    const number = this.#nextNumber;
    const header = Buffer.from(encodeRecord(JSON.stringify({ segment: number, previousBytes: this.#previousBytes })));
    const size = Math.max(this.#segmentBytes, header.length + length);
    await this.#spare;
    if (this.#spare === undefined || size > this.#segmentBytes) await this.#fillSpare(size);
    this.#spare = undefined;
    const path = join(this.#directory, segmentName(number));
    await rename(this.#sparePath(), path);
    const file = await open(path, DIRECT);
    this.#nextNumber = number + 1;
    this.#previousBytes = 0;
    this.#current = { number, file, size, end: 0 };
    await writeAll(file, header, 0);
    await syncDirectory(this.#directory);
    this.#current.end = header.length;
    return this.#current;
  }

  #prepareSpare(): void {
    if (this.#spare !== undefined) return;
    this.#spare = this.#fillSpare(this.#segmentBytes);
    // Nobody may be waiting yet; whoever needs the spare tries again and reports.
    this.#spare.catch(() => {
      this.#spare = undefined;
    });
  }

  /** Zeros that are really written: space that is ours before a record needs it. */
  async #fillSpare(size: number): Promise<void> {
    const file = await open(this.#sparePath(), 'w', 0o600);
    try {
      await writeAll(file, Buffer.alloc(size), 0);
      await file.sync();
    } finally {
      await file.close();
    }
  }

  async #seal(): Promise<void> {
    const segment = this.#current;
    if (!segment) return;
    this.#current = undefined;
    this.#previousBytes = segment.end;
    await segment.file.close();
  }

  /** After a failed write nobody knows what is on disk behind the last good record: wipe it, and let the next segment say where it ended. */
  async #abandon(): Promise<void> {
    const segment = this.#current;
    if (!segment) {
      rmSync(this.#sparePath(), { force: true });
      this.#spare = undefined;
      return;
    }
    try {
      await writeAll(segment.file, Buffer.alloc(Math.min(segment.size - segment.end, this.#segmentBytes)), segment.end);
    } catch {
      // The disk is what failed in the first place; the next segment's header makes these bytes void.
    }
    await this.#seal();
  }

  #sparePath(): string {
    return join(this.#directory, 'journal-spare.log');
  }
}

/** Reads every segment from `from` on. Missing segments before it were dropped on purpose. */
export function replayJournal(directory: string, from: number): Replay & { readonly lastBytes: number } {
  const records: unknown[] = [];
  const damaged: string[] = [];
  const numbers = segmentNumbers(directory).filter((number) => number >= from);
  const segments = numbers.map((number) => ({ number, data: readFileSync(join(directory, segmentName(number))) }));
  let lastBytes = 0;
  segments.forEach(({ number, data }, index) => {
    const expected = index === 0 ? from : (numbers[index - 1] ?? 0) + 1;
    if (number !== expected) damaged.push(`${segmentName(expected)} is missing`);
    const sealedAt = previousBytesOf(segments[index + 1], number);
    lastBytes = readSegment({ name: segmentName(number), data: data.subarray(0, sealedAt ?? data.length), records, damaged });
    // Only the last segment may end in a write that was never finished.
    if (sealedAt !== undefined && lastBytes < sealedAt) damaged.push(`${segmentName(number)} at byte ${lastBytes}: its end`);
  });
  return { records, damaged, lastSegment: numbers.at(-1) ?? from - 1, lastBytes };
}

/** What the following segment says of this one; undefined when it was never begun. */
function previousBytesOf(next: { number: number; data: Buffer } | undefined, number: number): number | undefined {
  if (!next || next.number !== number + 1) return undefined;
  const end = next.data.indexOf(NEWLINE);
  const header = end === -1 ? undefined : decodeRecord(next.data.subarray(0, end));
  return isObject(header) && typeof header['previousBytes'] === 'number' ? header['previousBytes'] : undefined;
}

function readSegment({ name, data, records, damaged }: { name: string; data: Buffer; records: unknown[]; damaged: string[] }): number {
  let start = 0;
  let good = 0;
  const suspicious: string[] = [];
  for (let end = data.indexOf(NEWLINE); end !== -1; end = data.indexOf(NEWLINE, start)) {
    const line = trimZeros(data.subarray(start, end));
    const record = decodeRecord(line);
    if (record === undefined) suspicious.push(`${name} at byte ${start}: ${line.length} bytes`);
    else {
      // A bad line before a good one was not the torn end of the last write.
      damaged.push(...suspicious.splice(0));
      if (!isObject(record) || !('segment' in record)) records.push(record);
      good = end + 1;
    }
    start = end + 1;
  }
  return good;
}

/** A torn write may leave zeros before the next record. */
function trimZeros(line: Buffer): Buffer {
  let start = 0;
  while (start < line.length && line[start] === 0) start++;
  return line.subarray(start);
}

function segmentName(number: number): string {
  return `journal-${String(number).padStart(10, '0')}.log`;
}

function segmentNumbers(directory: string): number[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory)
    .flatMap((name) => SEGMENT_NAME.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b);
}

async function writeAll(file: FileHandle, data: Buffer, position: number): Promise<void> {
  for (let done = 0; done < data.length; ) {
    const { bytesWritten } = await file.write(data, done, data.length - done, position + done);
    done += bytesWritten;
  }
}

export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

function isFull(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'ENOSPC' || code === 'EDQUOT';
}
