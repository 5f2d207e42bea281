/**
 * The file of one mailbox. It only grows, one durable write at a time, or is replaced as a whole. After a failed write nothing is
 * written until what that write left behind is gone. Behind the last record there are empty lines, written in advance: to put a record in
 * their place changes no size, so that its sync waits for nothing else of the file system.
 */
import { close, closeSync, constants, fstatSync, fsync, ftruncate, openSync, read, readSync, write, writeSync } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { AgentisoError, messageOf, UnavailableError } from '#lib/errors.ts';
import type { QuickWrites } from '#lib/quick-writes.ts';
import { type Line, NEWLINE } from './record.ts';

// A write that returns is on disk: one change of thread instead of two.
const FLAGS = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_DSYNC;
const COPY_BYTES = 1024 * 1024;
const FLUSH_BYTES = 256 * 1024;
const ROOM = Buffer.alloc(64 * 1024, NEWLINE);

// Not a FileHandle: to open a thousand journals at a start, threads and handles cost more than the files.
const inThread = {
  close: promisify(close),
  read: promisify(read),
  sync: promisify(fsync),
  truncate: promisify(ftruncate),
  write: promisify(write),
};

export class MailJournal {
  readonly path: string;
  readonly #quick: QuickWrites;
  /** Absent until there is something to write: whoever only looks into a mailbox leaves no file behind. */
  #fd: number | undefined;
  /** Behind the last good record: where the next one goes. */
  #end: number;
  /** Of the file: between the end and here is room. */
  #size: number;
  /** What has to succeed before anything is written again. */
  #repair: (() => Promise<void>) | undefined;
  #isClosed = false;

  private constructor(path: string, quick: QuickWrites, fd: number | undefined, size: number) {
    this.path = path;
    this.#quick = quick;
    this.#fd = fd;
    this.#end = size;
    this.#size = size;
  }

  /** Its end is where the file ends: whoever reads it says how much of it counts. */
  static open(path: string, quick: QuickWrites): MailJournal {
    const fd = openExisting(path);
    if (fd === undefined) return new MailJournal(path, quick, undefined, 0);
    try {
      return new MailJournal(path, quick, fd, fstatSync(fd).size);
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  }

  get end(): number {
    return this.#end;
  }

  /** Records end here: what is behind them is room, or it is void and cut off. Gives the number of bytes that were. */
  async endAt(end: number): Promise<number> {
    const behind = this.#size - end;
    this.#end = end;
    if (behind === 0 || this.#isRoom(end, behind)) return 0;
    await this.#cut(end);
    return behind;
  }

  #isRoom(offset: number, length: number): boolean {
    return length <= ROOM.length && this.read({ offset, length }).equals(ROOM.subarray(0, length));
  }

  /**
   * Writes without leaving this turn, where the file has room and the disk is quick; undefined where that is not so, and nothing was done.
   * Gives the offset at which the data went.
   */
  appendInPlace(data: Buffer): number | undefined {
    if (this.#fd === undefined || this.#repair || !this.#quick.areUsual || this.#end + data.length > this.#size) return undefined;
    const offset = this.#end;
    const startedMs = performance.now();
    try {
      for (let done = 0; done < data.length; ) done += writeSync(this.#fd, data, done, data.length - done, offset + done);
    } catch (error) {
      this.#repair = () => this.#cut(offset);
      throw unavailable(error);
    }
    this.#quick.learn(performance.now() - startedMs);
    this.#end = offset + data.length;
    return offset;
  }

  /** Gives the offset at which the data went. One append at a time. A failed one leaves nothing that would be read later. */
  async append(data: Buffer): Promise<number> {
    const offset = this.#end;
    try {
      await this.#mend();
      await this.#write(await this.#made(), data, offset);
    } catch (error) {
      this.#repair ??= () => this.#cut(offset);
      await this.#mend().catch(() => {
        // The next append tries again before it writes, and reports.
      });
      throw unavailable(error);
    }
    this.#end = offset + data.length;
    return offset;
  }

  async #write(fd: number, data: Buffer, offset: number): Promise<void> {
    const end = offset + data.length;
    if (end <= this.#size) {
      await writeAll(fd, data, offset);
      return;
    }
    try {
      await writeAll(fd, Buffer.concat([data, ROOM]), offset);
      this.#size = end + ROOM.length;
    } catch (error) {
      if (!isFull(error)) throw error;
      // There may be room enough for what matters.
      await writeAll(fd, data, offset);
      await this.#cut(end);
    }
  }

  async #cut(end: number): Promise<void> {
    if (this.#fd !== undefined) {
      await inThread.truncate(this.#fd, end);
      await inThread.sync(this.#fd);
    }
    this.#size = end;
  }

  /** The file, made durable under its name when this is the first write. */
  async #made(): Promise<number> {
    if (this.#fd !== undefined) return this.#fd;
    if (this.#isClosed) throw new UnavailableError(`${this.path} is closed`, { reason: 'MailboxClosed' });
    this.#fd = openSync(this.path, FLAGS, 0o600);
    // Until its name is durable, a crash would take along what is written into it.
    this.#repair = () => syncDirectory(dirname(this.path));
    await this.#mend();
    return this.#fd;
  }

  async #mend(): Promise<void> {
    await this.#repair?.();
    this.#repair = undefined;
  }

  /** In place: a reader is given the journal as it is in this moment, whatever replaces it in the next. */
  read({ offset, length }: Line): Buffer {
    const data = Buffer.allocUnsafe(length);
    for (let done = 0; done < length; ) {
      const count = this.#fd === undefined ? 0 : readSync(this.#fd, data, done, length - done, offset + done);
      if (count === 0) throw new AgentisoError('IoError', `${this.path} ends before byte ${offset + length}`);
      done += count;
    }
    return data;
  }

  /** Chunks of the part from `from` up to `to`. */
  async *chunks(from: number, to: number): AsyncGenerator<Buffer> {
    for (let offset = from; offset < to && this.#fd !== undefined; ) {
      const buffer = Buffer.allocUnsafe(Math.min(COPY_BYTES, to - offset));
      const { bytesRead } = await inThread.read(this.#fd, buffer, 0, buffer.length, offset);
      if (bytesRead === 0) throw new AgentisoError('IoError', `${this.path} ends at byte ${offset}, not at ${to}`);
      yield buffer.subarray(0, bytesRead);
      offset += bytesRead;
    }
  }

  /**
   * Puts `fresh`, complete and durable, in the place of this file. `onMoved` is called at the moment from which reads go to it. Nothing
   * else may be under way. When it rejects before that moment the old file goes on.
   */
  async replaceBy(fresh: NewFile, onMoved: () => void): Promise<void> {
    await this.#mend();
    const fd = openSync(fresh.path, FLAGS & ~constants.O_CREAT);
    try {
      await rename(fresh.path, this.path);
    } catch (error) {
      closeSync(fd);
      throw error;
    }
    const old = this.#fd;
    this.#fd = fd;
    this.#end = fresh.bytes;
    this.#size = fresh.bytes;
    onMoved();
    // As long as the new name is not durable, a crash would bring the old file back, without what is written from now on.
    this.#repair = () => syncDirectory(dirname(this.path));
    if (old !== undefined) await inThread.close(old);
    await this.#mend();
  }

  /** Leaves a file that ends with its last record. */
  async close(): Promise<void> {
    this.#isClosed = true;
    try {
      await this.#mend();
      if (this.#size > this.#end && this.#fd !== undefined) await inThread.truncate(this.#fd, this.#end);
    } finally {
      const fd = this.#fd;
      // Somebody else's file may have the same number next.
      this.#fd = undefined;
      if (fd !== undefined) closeSync(fd);
    }
  }
}

/** A file that grows beside the journal until it takes its place. Data is durable after `sync`. */
export class NewFile {
  readonly path: string;
  readonly #file: FileHandle;
  bytes = 0;
  #waiting: Buffer[] = [];
  #flushed = 0;

  private constructor(path: string, file: FileHandle) {
    this.path = path;
    this.#file = file;
  }

  static async create(path: string): Promise<NewFile> {
    await rm(path, { force: true });
    return new NewFile(path, await open(path, 'wx', 0o600));
  }

  /** Gives the offset at which the data will be. */
  async write(data: Buffer): Promise<number> {
    const offset = this.bytes;
    this.#waiting.push(data);
    this.bytes += data.length;
    if (this.bytes - this.#flushed >= FLUSH_BYTES) await this.#flush();
    return offset;
  }

  async sync(): Promise<void> {
    await this.#flush();
    await this.#file.datasync();
  }

  async #flush(): Promise<void> {
    const data = Buffer.concat(this.#waiting.splice(0));
    await writeAll(this.#file.fd, data, this.#flushed);
    this.#flushed += data.length;
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

export function unavailable(error: unknown): UnavailableError {
  if (error instanceof UnavailableError) return error;
  return new UnavailableError(`the mailbox could not be written to disk: ${messageOf(error)}`, {
    reason: isFull(error) ? 'DiskFull' : 'JournalUnavailable',
    hint: isFull(error) ? 'free some space; sending resumes by itself' : 'see the cause; writing is tried again with each message',
    cause: error,
  });
}

export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

export function missingIsUndefined(error: unknown): undefined {
  if (codeOf(error) !== 'ENOENT') throw error;
  return undefined;
}

function openExisting(path: string): number | undefined {
  try {
    return openSync(path, FLAGS & ~constants.O_CREAT);
  } catch (error) {
    return missingIsUndefined(error);
  }
}

async function writeAll(fd: number, data: Buffer, position: number): Promise<void> {
  for (let done = 0; done < data.length; ) {
    const { bytesWritten } = await inThread.write(fd, data, done, data.length - done, position + done);
    done += bytesWritten;
  }
}

export function isFolder(error: unknown): boolean {
  return codeOf(error) === 'EISDIR';
}

function isFull(error: unknown): boolean {
  return codeOf(error) === 'ENOSPC' || codeOf(error) === 'EDQUOT';
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
