/** What can be made anew whenever it is needed: templates and disks of tools. Together they stay within a budget, and the longest unused goes first. */
import { readdirSync, type Stats, statSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { newUid } from '#lib/clock.ts';

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

/** What is being made or taken away. */
const UNFINISHED = /\.(new|tree|gone)$/;
const BLOCK = 512;

/** What a machine has open stays until it ends. `newest` stays in any case: somebody waits for it. */
export async function evictCaches({ directories, budgetBytes }: Caches, newest: string): Promise<void> {
  const found = directories.flatMap(entriesOf);
  for (const path of surplus(found, budgetBytes(), newest)) await removeCached(path);
}

/** By its name: of something that is whole or not there. */
export function isUnfinished(name: string): boolean {
  return UNFINISHED.test(name);
}

/** Whole, whoever looks meanwhile and whatever happens to us. */
export async function removeCached(path: string): Promise<void> {
  const gone = `${path}.${newUid()}.gone`;
  try {
    await rename(path, gone);
  } catch (error) {
    // Somebody else was first.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  await rm(gone, { recursive: true, force: true });
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
    const stat = isUnfinished(name) ? undefined : statSync(path, { throwIfNoEntry: false });
    return stat === undefined ? [] : [{ path, bytes: bytesOf(path, stat), usedMs: stat.mtimeMs }];
  });
}

function bytesOf(path: string, stat: Stats): number {
  if (!stat.isDirectory()) return stat.blocks * BLOCK;
  return readdirSync(path).reduce((sum, name) => sum + (statSync(join(path, name), { throwIfNoEntry: false })?.blocks ?? 0) * BLOCK, 0);
}
