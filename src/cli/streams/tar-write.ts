/** Files of this machine as a tar archive, file by file. */
import { constants } from 'node:fs';
import { lstat, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { BLOCK, formatHeader, padding } from './tar-header.ts';

const PIECE_BYTES = 64 * 1024;

/** `path` under `name`; folders with all that is in them. What is neither file nor folder is told to `skip`. */
export async function* writeTar(path: string, name: string, skip: (path: string) => void): AsyncGenerator<Buffer> {
  yield* entries(path, name, skip);
  yield Buffer.alloc(2 * BLOCK);
}

async function* entries(path: string, name: string, skip: (path: string) => void): AsyncGenerator<Buffer> {
  const stats = await lstat(path);
  const common = { name, mode: stats.mode, time: stats.mtimeMs / 1_000 };
  if (stats.isDirectory()) {
    yield formatHeader({ ...common, name: `${name}/`, type: 'folder', size: 0 });
    for (const child of (await readdir(path)).sort()) yield* entries(join(path, child), `${name}/${child}`, skip);
  } else if (stats.isFile()) {
    yield formatHeader({ ...common, type: 'file', size: stats.size });
    yield* content(path, stats.size);
    yield padding(stats.size);
  } else skip(path);
}

/** Exactly as many bytes as its header says, whatever happens to the file meanwhile. */
async function* content(path: string, size: number): AsyncGenerator<Buffer> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    for (let left = size; left > 0; ) {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(Math.min(left, PIECE_BYTES)));
      if (bytesRead === 0) throw new Error(`${path} became shorter while it was copied`);
      yield buffer.subarray(0, bytesRead);
      left -= bytesRead;
    }
  } finally {
    await file.close();
  }
}
