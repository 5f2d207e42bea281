/**
 * Open folders of the vault. A folder is reached from the vault's own one name at a time, and no link is followed on the way, so that what
 * was allowed is what is opened, whatever somebody moves meanwhile. What is in it is reached through its descriptor.
 */
import { closeSync, constants, fsync, mkdirSync, openSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { AgentisoError, InvalidError, isCode, NotFoundError } from '#lib/errors.ts';
import { joinPath, outside, parentOf, segmentsOf } from './paths.ts';

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY;
const NO_LINK = constants.O_NOFOLLOW;

const flush = promisify(fsync);

/** Opened and closed at once: that takes microseconds, and to wait for another thread to do it ten times as long. */
export class Folder {
  readonly path: string;
  readonly #fd: number;

  private constructor(path: string, fd: number) {
    this.path = path;
    this.#fd = fd;
  }

  static openRoot(root: string): Folder {
    return new Folder('', openSync(root, FOLDER));
  }

  /** A name in this folder, wherever the folder may be by now; empty: the folder itself. */
  at(name: string): string {
    return `/proc/self/fd/${this.#fd}/${name}`;
  }

  child(name: string, { create = false } = {}): Folder {
    const path = joinPath(this.path, name);
    try {
      return new Folder(path, openSync(this.at(name), FOLDER | NO_LINK));
    } catch (error) {
      if (!create || codeOf(error) !== 'ENOENT') throw folderError(error, path);
    }
    mkdirSync(this.at(name), { mode: 0o700 });
    return this.child(name);
  }

  /** Names that were made or removed here are on disk when this resolves. */
  async sync(): Promise<void> {
    await flush(this.#fd);
  }

  close(): void {
    closeSync(this.#fd);
  }
}

export async function withFolder<T>(root: string, path: string, work: (folder: Folder) => Promise<T> | T): Promise<T> {
  const folder = openFolder(root, path);
  try {
    return await work(folder);
  } finally {
    folder.close();
  }
}

/** Close it. */
export function openFolder(root: string, path: string, options: { readonly create?: boolean } = {}): Folder {
  let folder = Folder.openRoot(root);
  for (const name of segmentsOf(path)) {
    const above = folder;
    try {
      folder = above.child(name, options);
    } finally {
      above.close();
    }
  }
  return folder;
}

/** Makes what is missing; on disk, with every folder above it, when this resolves. */
export async function ensureFolder(root: string, path: string): Promise<void> {
  if (existsIn(root, path)) return;
  openFolder(root, path, { create: true }).close();
  for (let above = parentOf(path); ; above = parentOf(above)) {
    await withFolder(root, above, (folder) => folder.sync());
    if (above === '') return;
  }
}

function existsIn(root: string, path: string): boolean {
  try {
    openFolder(root, path).close();
    return true;
  } catch (error) {
    if (isCode(error, 'NotFound')) return false;
    throw error;
  }
}

function folderError(error: unknown, path: string): unknown {
  const code = codeOf(error);
  if (code === 'ENOENT') return new NotFoundError(`there is no folder ${path}`);
  if (code === 'ENOTDIR' || code === 'ELOOP') return new InvalidError(`${path} is no folder`);
  return error;
}

/** Where a path really leads, as far as it exists; the rest stays as it is. `root` has no links in it. */
export async function resolveLinks(root: string, path: string): Promise<string> {
  const missing: string[] = [];
  for (let known = path; ; known = parentOf(known)) {
    const real = await realpathOf(join(root, known), path);
    if (real !== undefined) return [insideOf(root, real, path), ...missing].filter((part) => part !== '').join('/');
    if (known === '') throw new AgentisoError('IoError', `the vault ${root} is gone`);
    missing.unshift(known.slice(parentOf(known).length).replace('/', ''));
  }
}

async function realpathOf(file: string, path: string): Promise<string | undefined> {
  try {
    return await realpath(file);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    if (code === 'ELOOP' || code === 'EACCES') throw outside(path);
    throw error;
  }
}

function insideOf(root: string, real: string, path: string): string {
  if (real === root) return '';
  if (!real.startsWith(`${root}/`)) throw outside(path);
  return real.slice(root.length + 1);
}

export function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code;
}
