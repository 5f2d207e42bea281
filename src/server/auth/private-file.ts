/** Files that hold secrets: nobody but their owner reads them, and a crash leaves the old file or the new one. */
import { chmod, mkdir, open, readFile, rename, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { AgentisoError, messageOf } from '#lib/errors.ts';
import { syncDirectory } from '#store/disk/journal.ts';

/** Also takes rights away from a folder that was there before. */
export async function ensurePrivateDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    await chmod(path, 0o700);
  } catch (cause) {
    throw new AgentisoError('IoError', `cannot make the private folder ${path}: ${messageOf(cause)}`, { cause });
  }
}

export async function writePrivateFile(path: string, text: string): Promise<void> {
  const temporary = `${path}.new`;
  try {
    // The mode counts only for a file that is made: what a crash left here may have been opened to others.
    await unlink(temporary).catch(ignoreMissing);
    const file = await open(temporary, 'wx', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
    await syncDirectory(dirname(path));
  } catch (cause) {
    await unlink(temporary).catch(() => {});
    throw new AgentisoError('IoError', `cannot write ${path}: ${messageOf(cause)}`, { cause });
  }
}

/** Undefined when there is no such file. */
export async function readPrivateFile(path: string): Promise<string | undefined> {
  try {
    const text = await readFile(path, 'utf8');
    await chmod(path, 0o600);
    return text;
  } catch (cause) {
    if (isMissing(cause)) return undefined;
    throw new AgentisoError('IoError', `cannot read ${path}: ${messageOf(cause)}`, { cause });
  }
}

function ignoreMissing(error: unknown): void {
  if (!isMissing(error)) throw error;
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
