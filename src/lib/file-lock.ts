/** One at a time, among processes as well: the kernel frees the lock of a file when its holder dies, however it dies. */
import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { tryLock } from './native.ts';

const LOOK_AGAIN_MS = 250;

/** Waits for as long as somebody else has it, and says so once. */
export async function withLock<T>(
  path: string,
  { signal, onWait }: { readonly signal: AbortSignal; readonly onWait?: () => void },
  work: () => Promise<T>,
): Promise<T> {
  await mkdir(dirname(path), { recursive: true });
  const file = await open(path, 'a');
  try {
    for (let isFirst = true; !tryLock(file.fd); isFirst = false) {
      if (isFirst) onWait?.();
      await after(LOOK_AGAIN_MS, undefined, { signal });
    }
    return await work();
  } finally {
    await file.close();
  }
}

/** undefined: somebody else has it, and nothing was done. */
export async function withFreeLock<T>(path: string, work: () => Promise<T>): Promise<T | undefined> {
  const file = await open(path, 'a');
  try {
    return tryLock(file.fd) ? await work() : undefined;
  } finally {
    await file.close();
  }
}
