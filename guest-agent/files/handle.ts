/**
 * Files of the workspace, found so that no link leads out of it, not even one that is swapped while we look: what a path led to is held by
 * a descriptor that cannot do anything yet (O_PATH), the kernel is asked where that really is, and only then is it opened or changed,
 * through the descriptor and never by its path again.
 */
import { constants, type Stats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { lazy } from '../lazy-modules.ts';
import { isInside, outsideWorkspace, relativeInWorkspace } from '../workspace-path.ts';
import { toFileError } from './file-error.ts';

/** Linux, the same number on every architecture that Node runs on; Node has no name for it. */
const O_PATH = 0o10000000;
const { O_DIRECTORY } = constants;

/** A place in the workspace that was verified: use `path`, it means the same thing whatever happens to the names. */
export interface Held {
  readonly path: string;
  readonly realPath: string;
  close(): Promise<void>;
}

/** The directory a path ends in, and the name in it. */
export interface Entry {
  readonly directory: Held;
  /** Empty: the path is the root itself. */
  readonly name: string;
}

/** `path` as it came in the request, for complaints. */
export interface Wanted {
  readonly root: string;
  readonly path: string;
}

/** Follows links, but only to places inside. */
export async function hold(wanted: Wanted, at: string, flags = 0): Promise<Held> {
  const handle = await lazy.files.open(at, O_PATH | flags).catch((error) => {
    throw toFileError(error, wanted.path);
  });
  const path = descriptorPath(handle);
  try {
    const realPath = await lazy.files.readlink(path);
    if (!isInside(wanted.root, realPath)) throw outsideWorkspace(wanted.path);
    return { path, realPath, close: () => handle.close() };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** What the whole path leads to, the last link followed as well. */
export async function holdTarget(wanted: Wanted): Promise<Held> {
  return withEntry(wanted, {}, ({ directory, name }) => hold(wanted, child(directory, name)));
}

/** Everything but the last name is walked, one directory after the other, and made where it is missing and `makeParents` says so. */
export async function withEntry<T>(
  wanted: Wanted,
  { makeParents = false }: { readonly makeParents?: boolean | undefined },
  use: (entry: Entry) => Promise<T>,
): Promise<T> {
  const names = relativeInWorkspace(wanted.root, wanted.path).split('/');
  const name = names.pop() ?? '';
  let directory = await hold(wanted, wanted.root, O_DIRECTORY);
  try {
    for (const step of names) {
      const below = await descend(wanted, child(directory, step), makeParents);
      await directory.close();
      directory = below;
    }
    return await use({ directory, name });
  } finally {
    await directory.close();
  }
}

/** mkdir follows no link: a name that is one stays as it is. */
async function descend(wanted: Wanted, at: string, makeParents: boolean): Promise<Held> {
  if (makeParents) {
    await lazy.files.mkdir(at).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw toFileError(error, wanted.path);
    });
  }
  return hold(wanted, at, O_DIRECTORY);
}

export function child({ path }: Held, name: string): string {
  return name === '' ? path : `${path}/${name}`;
}

/** undefined: there is nothing of this name. A link is described, not followed. */
export async function lstatEntry({ directory, name }: Entry, { path }: Wanted): Promise<Stats | undefined> {
  return lazy.files.lstat(name === '' ? `${directory.path}/.` : child(directory, name)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw toFileError(error, path);
  });
}

function descriptorPath(handle: FileHandle): string {
  return `/proc/self/fd/${handle.fd}`;
}
