/** What is left of a guest that failed: `crash.log` in its state directory, the newest at the end. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const MAX_BYTES = 64 * 1024;

/** Synchronous: it is the last thing this process does. */
export function writeCrash(stateDir: string, text: string, now: Date): void {
  const path = join(stateDir, 'crash.log');
  const all = Buffer.concat([readOld(path), Buffer.from(`${now.toISOString()} ${text}\n`)]);
  const kept = all.subarray(Math.max(0, all.length - MAX_BYTES));
  // Cut at a line, so that it does not begin in the middle of a word.
  writeFileSync(path, kept.length === all.length ? kept : kept.subarray(kept.indexOf('\n') + 1), { mode: 0o600 });
}

function readOld(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
}
