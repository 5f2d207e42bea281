/** Reads the agent's log forward: what there is, and with `follow` what comes, across any number of new files. */
import { Buffer } from 'node:buffer';
import { closeSync, read } from 'node:fs';
import { promisify } from 'node:util';
import type { LogsParams } from '#protocol/control.ts';
import type { AgentLog, LogFile } from './agent-log.ts';
import { isWanted, type LogFilter, type LogLine, parseStoredLine, toShownLine } from './lines.ts';

const PIECE_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

const readBytes = promisify(read);

/** Gives the log as text, ready to be sent. Ends at the end of the log, or with `follow` when the signal aborts or the log closes. */
export async function* readLog(log: AgentLog, params: LogsParams, signal: AbortSignal): AsyncGenerator<Buffer, void> {
  await log.flushed();
  const filter: LogFilter = {
    source: params.source,
    since: params.maxAgeMs === undefined ? undefined : new Date(Date.now() - params.maxAgeMs).toISOString(),
  };
  const reader = new LogReader(log, filter);
  const cancel = () => reader.wake();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    yield* limited(lines(reader, params, signal), params);
  } finally {
    signal.removeEventListener('abort', cancel);
    reader.close();
  }
}

async function* lines(reader: LogReader, { tailLines, follow }: LogsParams, signal: AbortSignal): AsyncGenerator<readonly LogLine[], void> {
  let toSkip = tailLines === undefined ? 0 : Math.max(0, (await reader.countLines()) - tailLines);
  // Lines that came while the others were counted are not part of the tail that was asked for.
  let room = follow ? Number.POSITIVE_INFINITY : (tailLines ?? Number.POSITIVE_INFINITY);
  for await (const batch of batches(reader, follow, signal)) {
    const wanted = batch.slice(toSkip).slice(0, room);
    toSkip = Math.max(0, toSkip - batch.length);
    room -= wanted.length;
    if (wanted.length > 0) yield wanted;
    if (room <= 0) return;
  }
}

async function* batches(reader: LogReader, follow: boolean, signal: AbortSignal): AsyncGenerator<readonly LogLine[], void> {
  while (!signal.aborted) {
    const batch = await reader.next();
    if (batch !== undefined) yield batch;
    else if (!follow || !(await reader.more(signal))) return;
  }
}

async function* limited(batches: AsyncIterable<readonly LogLine[]>, params: LogsParams): AsyncGenerator<Buffer, void> {
  let room = params.limitBytes ?? Number.POSITIVE_INFINITY;
  if (room === 0) return;
  for await (const batch of batches) {
    const bytes = Buffer.from(batch.map((line) => toShownLine(line, params)).join(''));
    yield bytes.length > room ? bytes.subarray(0, room) : bytes;
    room -= bytes.length;
    if (room <= 0) return;
  }
}

class LogReader {
  readonly #log: AgentLog;
  readonly #filter: LogFilter;
  readonly #unsubscribe: () => void;
  /** Read one after the other; later files are opened when their turn comes. */
  readonly #files: LogFile[];
  #index = 0;
  #isCounting = false;
  #position = 0;
  #partial: Buffer = Buffer.alloc(0);
  #isWoken = false;
  #onWake: (() => void) | undefined;

  constructor(log: AgentLog, filter: LogFilter) {
    this.#log = log;
    this.#filter = filter;
    this.#files = (['older', 'current'] as const).flatMap((which) => log.openFile(which) ?? []);
    this.#unsubscribe = log.onMore(() => this.wake());
  }

  close(): void {
    this.#unsubscribe();
    for (const { fd } of this.#files) closeSync(fd);
  }

  wake(): void {
    this.#isWoken = true;
    this.#onWake?.();
  }

  /** Counts to the end as it is now and goes back to the beginning. */
  async countLines(): Promise<number> {
    let count = 0;
    this.#isCounting = true;
    for (let batch = await this.next(); batch !== undefined; batch = await this.next()) count += batch.length;
    this.#isCounting = false;
    this.#index = 0;
    this.#position = 0;
    this.#partial = Buffer.alloc(0);
    return count;
  }

  /** The lines of the next piece that pass the filter, maybe none; undefined: the end as it is now. */
  async next(): Promise<readonly LogLine[] | undefined> {
    const file = this.#files[this.#index];
    if (file === undefined) return undefined;
    this.#isWoken = false;
    // Looked at before reading: a file that was not the current one then gets no more bytes.
    const isComplete = file.generation < this.#log.generation;
    const piece = Buffer.allocUnsafe(PIECE_BYTES);
    const { bytesRead } = await readBytes(file.fd, piece, 0, PIECE_BYTES, this.#position);
    if (bytesRead === 0) return isComplete && this.#openNext(file) ? [] : undefined;
    this.#position += bytesRead;
    return this.#take(piece.subarray(0, bytesRead));
  }

  /** Resolves when there may be more; false: there never will be. */
  async more(signal: AbortSignal): Promise<boolean> {
    if (this.#log.isClosed) return false;
    if (!this.#isWoken) {
      await new Promise<void>((resolve) => {
        this.#onWake = resolve;
      });
      this.#onWake = undefined;
    }
    return !signal.aborted;
  }

  #openNext({ generation }: LogFile): boolean {
    if (this.#files[this.#index + 1] === undefined) {
      const next = this.#log.openFile(generation + 1 < this.#log.generation ? 'older' : 'current');
      if (next === undefined) return false;
      this.#files.push(next);
    }
    this.#position = 0;
    if (this.#isCounting) this.#index += 1;
    // An open file that is gone keeps its room on the disk.
    else closeSync(this.#files.shift()?.fd ?? -1);
    return true;
  }

  #take(piece: Buffer): readonly LogLine[] {
    const end = piece.lastIndexOf(NEWLINE);
    if (end === -1) {
      this.#partial = Buffer.concat([this.#partial, piece]);
      return [];
    }
    const text = Buffer.concat([this.#partial, piece.subarray(0, end)]).toString();
    this.#partial = Buffer.from(piece.subarray(end + 1));
    return text.split('\n').flatMap((stored) => {
      const line = parseStoredLine(stored);
      return line !== undefined && isWanted(line, this.#filter) ? [line] : [];
    });
  }
}
