/**
 * Locks of git in a repository that is ours alone. Whoever kills this process together with the gits it has started leaves them behind, and git
 * itself waits for a person to remove them.
 */
import { readdir, readlink, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { errnoOf } from '#lib/process-identity.ts';

/** A git that an earlier process has started may still be at work: it is let finish. */
const PATIENCE_MS = 10_000;
const POLL_MS = 20;

/** Before anything else works here. */
export async function removeStaleLocks(gitDirectory: string): Promise<void> {
  const locks = await locksIn(gitDirectory);
  if (locks.length === 0) return;
  const endsAtMs = performance.now() + PATIENCE_MS;
  while ((await isAtWork(gitDirectory)) && performance.now() < endsAtMs) await delay(POLL_MS);
  for (const lock of locks) await rm(lock, { force: true });
}

async function locksIn(gitDirectory: string): Promise<string[]> {
  const top = (await readdir(gitDirectory)).filter((name) => name.endsWith('.lock')).map((name) => join(gitDirectory, name));
  const refs = await readdir(join(gitDirectory, 'refs'), { recursive: true, withFileTypes: true });
  return [
    ...top,
    ...refs.filter((entry) => entry.isFile() && entry.name.endsWith('.lock')).map((entry) => join(entry.parentPath, entry.name)),
  ];
}

/** Every git of ours runs in the folder of its repository. */
async function isAtWork(gitDirectory: string): Promise<boolean> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const places = await Promise.all(pids.map((pid) => readlink(`/proc/${pid}/cwd`).catch(noneIfGone)));
  return places.includes(gitDirectory);
}

function noneIfGone(error: unknown): undefined {
  const code = errnoOf(error);
  if (code !== 'ENOENT' && code !== 'EACCES' && code !== 'ESRCH' && code !== 'EPERM') throw error;
}
