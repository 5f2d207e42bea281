/** Reading files, directories and what is known of them. */
import { Buffer } from 'node:buffer';
import { constants, type Stats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import type { FileInfo } from '#protocol/control.ts';
import { ProtocolError } from '#protocol/protocol-error.ts';
import { lazy } from '../lazy-modules.ts';
import { toFileError } from './file-error.ts';
import { holdTarget, lstatEntry, type Wanted, withEntry } from './handle.ts';

const MAX_ENTRIES = 100_000;

export interface OpenedFile {
  readonly handle: FileHandle;
  readonly stats: Stats;
}

/** Only plain files: nothing else has a content. The caller closes the handle. */
export async function openFile(wanted: Wanted, flags: number = constants.O_RDONLY): Promise<OpenedFile> {
  const target = await holdTarget(wanted);
  try {
    const stats = await lazy.files.stat(target.path);
    if (!stats.isFile()) throw new ProtocolError('Invalid', `${wanted.path} is not a plain file`);
    return { handle: await lazy.files.open(target.path, flags), stats };
  } catch (error) {
    throw toFileError(error, wanted.path);
  } finally {
    await target.close();
  }
}

/** Sorted by name. Links are listed as links. */
export async function listDirectory(wanted: Wanted): Promise<readonly FileInfo[]> {
  const target = await holdTarget(wanted);
  try {
    if (!(await lazy.files.stat(target.path)).isDirectory()) throw new ProtocolError('Invalid', `${wanted.path} is not a directory`);
    const names = await lazy.files.readdir(`${target.path}/.`, { encoding: 'buffer' });
    if (names.length > MAX_ENTRIES) throw new ProtocolError('TooLarge', `${wanted.path} has more than ${MAX_ENTRIES} entries`);
    const base = Buffer.from(`${target.path}/`);
    const infos: FileInfo[] = [];
    for (const name of names) {
      const stats = await lazy.files.lstat(Buffer.concat([base, name])).catch(ignoreGone);
      if (stats !== undefined) infos.push(toInfo(name.toString(), stats));
    }
    return infos.sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    throw toFileError(error, wanted.path);
  } finally {
    await target.close();
  }
}

/** Says of a link that it is one. */
export async function statFile(wanted: Wanted): Promise<FileInfo> {
  return withEntry(wanted, {}, async (entry) => {
    const stats = await lstatEntry(entry, wanted);
    if (stats === undefined) throw new ProtocolError('NotFound', `${wanted.path} does not exist`);
    return toInfo(entry.name === '' ? '.' : entry.name, stats);
  });
}

function ignoreGone(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

export function toInfo(name: string, stats: Stats): FileInfo {
  return { name, kind: toKind(stats), size: stats.size, mode: stats.mode & 0o7777, modified: stats.mtime.toISOString() };
}

function toKind(stats: Stats): FileInfo['kind'] {
  if (stats.isFile()) return 'file';
  if (stats.isDirectory()) return 'directory';
  return stats.isSymbolicLink() ? 'link' : 'other';
}
