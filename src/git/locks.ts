/** Locks of git that nobody holds any more: whoever made them was killed. Without this the first one would stop everything for good. */
import { rm, stat } from 'node:fs/promises';
import { relative } from 'node:path';
import { messageOf } from '#lib/errors.ts';

/** Refs are locked for a moment only, and for one repository this process does one thing after the other. */
const STALE_MS = 5_000;
const LOCK = /Unable to create '([^'\n]+\.lock)': File exists/;

/** Does it again, once, when a lock was in the way that is older than any that is in use. */
export async function despiteStaleLocks<T>(directory: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const path = LOCK.exec(messageOf(error))?.[1];
    if (path === undefined || relative(directory, path).startsWith('..') || !(await isStale(path))) throw error;
    await rm(path, { force: true });
    return work();
  }
}

async function isStale(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found === undefined || Date.now() - found.mtimeMs > STALE_MS;
}
