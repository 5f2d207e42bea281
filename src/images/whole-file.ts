/** Files that are there whole or not at all, also after a power cut. */
import { randomBytes } from 'node:crypto';
import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncPath } from '#lib/sync-path.ts';

export async function writeWhole(path: string, data: Uint8Array | string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const aside = `${path}.${process.pid}-${randomBytes(4).toString('hex')}.tmp`;
  try {
    const file = await open(aside, 'wx');
    try {
      await file.writeFile(data);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(aside, path);
  } catch (error) {
    await rm(aside, { force: true });
    throw error;
  }
  await syncPath(dirname(path));
}

export async function isPresent(path: string): Promise<boolean> {
  return (await sizeOf(path)) !== undefined;
}

/** undefined: there is no such file. */
export async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
