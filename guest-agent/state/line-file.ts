/**
 * A file of lines that grows at its end, durably. Behind its last line there are empty ones, written in advance: to put a line in their
 * place changes no size, so that its sync waits for nothing else of the file system.
 */
import { constants, writeSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { QuickWrites } from '#lib/quick-writes.ts';
import { lazy } from '../lazy-modules.ts';
import { monotonicMs } from '../monotonic.ts';
import { syncDirectory } from './durable-file.ts';
import { isFull } from './reserve.ts';

export const NEWLINE = 0x0a;
export const ROOM_BYTES = 64 * 1024;
// A write that returns is on disk: one change of thread instead of two.
const FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_DSYNC;

/** All files are on one disk. */
const quick = new QuickWrites(monotonicMs);

export class LineFile {
  readonly #handle: FileHandle;
  /** Behind the last line. */
  #end: number;
  /** Of the file: between the end and here is room. */
  #size: number;

  private constructor(handle: FileHandle, end: number, size: number) {
    this.#handle = handle;
    this.#end = end;
    this.#size = size;
  }

  /** Behind `end` the file has nothing but empty lines. */
  static async open(path: string, end: number): Promise<LineFile> {
    const handle = await lazy.files.open(path, FLAGS, 0o600);
    await syncDirectory(dirname(path));
    return new LineFile(handle, end, (await handle.stat()).size);
  }

  /** Writes without leaving this turn, where there is room and the disk is quick. False: that is not so, and nothing was done. */
  appendInPlace(data: Buffer): boolean {
    if (!quick.areUsual || this.#end + data.length > this.#size) return false;
    const startedMs = monotonicMs();
    for (let done = 0; done < data.length; ) done += writeSync(this.#handle.fd, data, done, data.length - done, this.#end + done);
    quick.learn(monotonicMs() - startedMs);
    this.#end += data.length;
    return true;
  }

  async append(data: Buffer): Promise<void> {
    const end = this.#end + data.length;
    if (end <= this.#size) await this.#write(data);
    else await this.#extend(data, end);
    this.#end = end;
  }

  /** Leaves a file that ends with its last line. */
  async close(): Promise<void> {
    try {
      if (this.#size > this.#end) await this.#handle.truncate(this.#end);
    } finally {
      await this.#handle.close();
    }
  }

  async #extend(data: Buffer, end: number): Promise<void> {
    try {
      await this.#write(Buffer.concat([data, Buffer.alloc(ROOM_BYTES, NEWLINE)]));
      this.#size = end + ROOM_BYTES;
    } catch (error) {
      if (!isFull(error)) throw error;
      // There may be room enough for what matters.
      await this.#write(data);
      await this.#handle.truncate(end);
      await this.#handle.sync();
      this.#size = end;
    }
  }

  async #write(data: Buffer): Promise<void> {
    for (let done = 0; done < data.length; ) {
      const { bytesWritten } = await this.#handle.write(data, done, data.length - done, this.#end + done);
      done += bytesWritten;
    }
  }
}
