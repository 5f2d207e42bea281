/** Walking through the vault in the order of names. Links are not followed: what they lead to is met at its own place. */
import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { type Folder, openFolder } from './folder.ts';
import { isReadable, joinPath } from './paths.ts';
import { canSee } from './scope.ts';
import type { VaultScope } from './vault.ts';

export interface Found {
  readonly path: string;
  readonly name: string;
  /** Open until the next is asked for. */
  readonly folder: Folder;
  readonly isFolder: boolean;
}

/** Every note below a folder that the scope may see; without `recursive` only what is in it, folders too. */
export async function* walk(
  root: string,
  path: string,
  { scope, recursive }: { scope: VaultScope; recursive: boolean },
): AsyncGenerator<Found> {
  const folder = openFolder(root, path);
  try {
    yield* contents(folder, { scope, recursive });
  } finally {
    folder.close();
  }
}

async function* contents(folder: Folder, options: { scope: VaultScope; recursive: boolean }): AsyncGenerator<Found> {
  const entries = (await readdir(folder.at(''), { withFileTypes: true })).filter((entry) => isShown(entry, folder, options.scope));
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    const found = { path: joinPath(folder.path, entry.name), name: entry.name, folder, isFolder: entry.isDirectory() };
    if (found.isFolder && options.recursive) yield* below(folder, entry.name, options);
    else yield found;
  }
}

async function* below(above: Folder, name: string, options: { scope: VaultScope; recursive: boolean }): AsyncGenerator<Found> {
  const folder = childIfThere(above, name);
  if (!folder) return;
  try {
    yield* contents(folder, options);
  } finally {
    folder.close();
  }
}

/** It may be gone, or no folder any more, since its name was read. */
function childIfThere(above: Folder, name: string): Folder | undefined {
  try {
    return above.child(name);
  } catch {
    return undefined;
  }
}

function isShown(entry: Dirent, folder: Folder, scope: VaultScope): boolean {
  if (entry.name.startsWith('.')) return false;
  const path = joinPath(folder.path, entry.name);
  return canSee(scope, path) && (entry.isDirectory() || (entry.isFile() && isReadable(path)));
}
