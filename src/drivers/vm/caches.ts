/** What can be made anew whenever it is needed: templates and disks of tools. Together they stay within a budget, and the longest unused goes first. */
import { readdirSync, type Stats, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';

export interface Caches {
  readonly directories: readonly string[];
  readonly budgetBytes: () => number;
}

export interface Cached {
  readonly path: string;
  readonly bytes: number;
  /** When it was used last. */
  readonly usedMs: number;
}

/** Of what is being made: whoever makes it removes it. */
const UNFINISHED = /\.(new|tree)$/;
const BLOCK = 512;

/** What a machine has open stays until it ends. `newest` stays in any case: somebody waits for it. */
export async function evictCaches({ directories, budgetBytes }: Caches, newest: string): Promise<void> {
  const found = directories.flatMap(entriesOf);
  for (const path of surplus(found, budgetBytes(), newest)) await rm(path, { recursive: true, force: true });
}

/** Pure. */
export function surplus(found: readonly Cached[], budgetBytes: number, newest: string): string[] {
  let total = found.reduce((sum, { bytes }) => sum + bytes, 0);
  const going: string[] = [];
  for (const { path, bytes } of [...found].sort((a, b) => a.usedMs - b.usedMs)) {
    if (total <= budgetBytes) break;
    if (path === newest) continue;
    going.push(path);
    total -= bytes;
  }
  return going;
}

function entriesOf(directory: string): Cached[] {
  const names = statSync(directory, { throwIfNoEntry: false }) === undefined ? [] : readdirSync(directory);
  return names.flatMap((name) => {
    const path = join(directory, name);
    const stat = UNFINISHED.test(name) ? undefined : statSync(path, { throwIfNoEntry: false });
    return stat === undefined ? [] : [{ path, bytes: bytesOf(path, stat), usedMs: stat.mtimeMs }];
  });
}

function bytesOf(path: string, stat: Stats): number {
  if (!stat.isDirectory()) return stat.blocks * BLOCK;
  return readdirSync(path).reduce((sum, name) => sum + (statSync(join(path, name), { throwIfNoEntry: false })?.blocks ?? 0) * BLOCK, 0);
}
