/** The same commands without us: a shell each, started by node. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { sideBySide } from '../harness/timing.ts';

const run = promisify(execFile);

/** The shell says the time as the first thing it does, in nanoseconds since 1970. */
export const SAY_TIME = 'date +%s%N';

/** Milliseconds from the wish to start a command until it began. */
export async function spawnToStartMs(): Promise<number> {
  const wishedMs = performance.timeOrigin + performance.now();
  const { stdout } = await run('/bin/sh', ['-c', SAY_TIME]);
  return Number(stdout) / 1e6 - wishedMs;
}

/** Milliseconds for so many, so many of them at once. */
export async function spawnAllMs(
  count: number,
  { atOnce, command }: { readonly atOnce: number; readonly command: string },
): Promise<number> {
  const startedMs = performance.now();
  let left = count;
  await sideBySide(atOnce, async () => {
    while (left-- > 0) await run('/bin/sh', ['-c', command]);
  });
  return performance.now() - startedMs;
}
