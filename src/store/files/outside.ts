/** Folders that are links, or no folders at all: what lies behind them is not in this directory, and is neither read nor written. */
import { lstatSync } from 'node:fs';
import { dirname } from 'node:path';
import type { ObjectKey } from '#api/meta.ts';
import type { Paths } from './paths.ts';

export function leadsOutside(paths: Paths, key: ObjectKey): boolean {
  const folder = paths.folderOf(key);
  return isForeign(folder) || isForeign(dirname(folder));
}

/** False for one that does not exist: it can still be made. */
export function isForeign(folder: string): boolean {
  return lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() === false;
}
