/** A file of whole lines that grows to a size, is put aside under a number, and begins anew. Only its owner may read it. */
import { type FileHandle, mkdir, open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

export interface LinesFileOptions {
  readonly path: string;
  readonly maxBytes: number;
  /** How many are put aside: PATH.1 is the youngest of them. */
  readonly kept: number;
}

export interface LinesFile {
  /** All of the lines, or none of them and an error. One at a time. */
  append(lines: string): Promise<void>;
}

export function createLinesFile({ path, maxBytes, kept }: LinesFileOptions): LinesFile {
  let isPrepared = false;
  const prepare = async () => {
    // Only the last folder: a home that is gone must stay gone.
    await unless('EEXIST', mkdir(dirname(path), { mode: 0o700 }));
    await using(path, cutTornLine);
    isPrepared = true;
  };
  const putAside = async () => {
    for (let number = kept - 1; number >= 1; number -= 1) await unless('ENOENT', rename(`${path}.${number}`, `${path}.${number + 1}`));
    await rename(path, `${path}.1`);
  };
  return {
    async append(lines) {
      if (!isPrepared) await prepare();
      const bytes = Buffer.from(lines);
      const isFull = await using(path, async (handle) => {
        const { size } = await handle.stat();
        return size > 0 && size + bytes.length > maxBytes;
      });
      if (isFull) await putAside();
      await using(path, (handle) => appendWhole(handle, bytes));
    },
  };
}

/** Opened each time: somebody may have moved it away. */
async function using<T>(path: string, work: (handle: FileHandle) => Promise<T>): Promise<T> {
  const handle = await open(path, 'a+', 0o600);
  try {
    return await work(handle);
  } finally {
    await handle.close();
  }
}

async function appendWhole(handle: FileHandle, bytes: Buffer): Promise<void> {
  const { size } = await handle.stat();
  try {
    await handle.appendFile(bytes);
  } catch (error) {
    // The disk took a part of it: what is left must be lines.
    await handle.truncate(size).catch(() => {});
    throw error;
  }
}

const LONGEST_LINE_BYTES = 65_536;

/** A daemon was killed while it wrote. */
async function cutTornLine(handle: FileHandle): Promise<void> {
  const { size } = await handle.stat();
  const start = Math.max(0, size - LONGEST_LINE_BYTES);
  const tail = Buffer.alloc(size - start);
  await handle.read(tail, 0, tail.length, start);
  const end = start + tail.lastIndexOf('\n') + 1;
  if (end < size) await handle.truncate(end);
}

async function unless(code: string, work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== code) throw error;
  }
}
