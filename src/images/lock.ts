/** One build at a time in an images directory. The kernel frees the lock when its holder dies, however it dies. */
import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { tryLock } from '#lib/native.ts';

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
