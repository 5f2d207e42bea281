/** The manifest files below a directory, by name and stamp, without reading any. Links that lead out of it are refused. */
import type { BigIntStats, Dirent } from 'node:fs';
import { lstat, readdir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '#lib/errors.ts';
import { isInside } from './directory.ts';

export interface TreeFile {
  /** Below the directory, with `/`. */
  readonly name: string;
  /** Where it really is. */
  readonly path: string;
  /** Another text has another stamp. */
  readonly stamp: string;
  readonly size: number;
  readonly changedAtMs: number;
}

export interface Refusal {
  readonly name: string;
  readonly why: string;
}

export interface Tree {
  /** Of the directory itself: another one in its place has another. */
  readonly identity: string;
  /** Where it really is. */
  readonly root: string;
  /** Sorted by name. */
  readonly files: readonly TreeFile[];
  readonly refused: readonly Refusal[];
  /** What could not be looked at. */
  readonly unreadable: readonly Refusal[];
}

interface Walk {
  readonly root: string;
  readonly onFolder: (path: string, identity: string) => void;
  readonly files: TreeFile[];
  readonly refused: Refusal[];
  readonly unreadable: Refusal[];
}

/** `onFolder` is called before a folder is listed: who watches it from then on misses nothing. Throws when the directory cannot be listed. */
export async function readTree(directory: string, onFolder: Walk['onFolder']): Promise<Tree> {
  const root = await realpath(directory);
  const walk: Walk = { root, onFolder, files: [], refused: [], unreadable: [] };
  const identity = await listFolder(walk, '');
  walk.files.sort((a, b) => (a.name < b.name ? -1 : 1));
  return { identity, root, files: walk.files, refused: walk.refused, unreadable: walk.unreadable };
}

async function listFolder(walk: Walk, name: string): Promise<string> {
  const path = join(walk.root, name);
  const identity = identityOf(await stat(path, { bigint: true }));
  walk.onFolder(path, identity);
  const entries = await readdir(path, { withFileTypes: true });
  await Promise.all(entries.map((entry) => lookAt(walk, name === '' ? entry.name : `${name}/${entry.name}`, entry)));
  return identity;
}

async function lookAt(walk: Walk, name: string, entry: Dirent): Promise<void> {
  // Folders such as .git, and what editors leave beside a file they save.
  if (entry.name.startsWith('.')) return;
  try {
    if (entry.isDirectory()) await listFolder(walk, name);
    else if (entry.isSymbolicLink()) await followLink(walk, name);
    else if (isManifestName(name)) await addFile(walk, name, join(walk.root, name));
  } catch (error) {
    // Gone between the listing and the look: the same as never seen.
    if (codeOf(error) === 'ENOENT' && !entry.isSymbolicLink()) return;
    if (!entry.isSymbolicLink() || isManifestName(name)) walk.unreadable.push({ name, why: messageOf(error) });
  }
}

/** A file elsewhere in the directory is read under both names; the content of a folder elsewhere in it is found where it lies. */
async function followLink(walk: Walk, name: string): Promise<void> {
  const target = await realpath(join(walk.root, name));
  const isFolder = (await stat(target)).isDirectory();
  if (!isFolder && !isManifestName(name)) return;
  if (!isInside(walk.root, target)) walk.refused.push({ name, why: `the link leads out of the directory, to ${target}` });
  else if (!isFolder) await addFile(walk, name, target);
}

async function addFile(walk: Walk, name: string, path: string): Promise<void> {
  const stats = await lstat(path, { bigint: true });
  if (!stats.isFile()) walk.refused.push({ name, why: 'not a regular file' });
  else walk.files.push({ name, path, stamp: stampOf(stats), size: Number(stats.size), changedAtMs: Number(stats.ctimeMs) });
}

function isManifestName(name: string): boolean {
  return /\.ya?ml$/.test(name);
}

export function stampOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join('-');
}

function identityOf({ dev, ino }: BigIntStats): string {
  return `${dev}-${ino}`;
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
