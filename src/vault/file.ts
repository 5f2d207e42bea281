/** One file in an open folder: read whole, within limits, as text; written whole or not at all. */
import { createHash, randomBytes } from 'node:crypto';
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  fsync,
  lstatSync,
  mkdirSync,
  open,
  openSync,
  readFile,
  readFileSync,
  rename,
  rmSync,
  writeFile,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { AgentisoError, InvalidError } from '#lib/errors.ts';
import { codeOf, type Folder } from './folder.ts';
import { joinPath } from './paths.ts';

export const MAX_NOTE_BYTES = 10 * 1024 * 1024;
/** What is smaller is read at once, in less time than it takes to ask another thread. */
const MAX_WAIT_BYTES = 64 * 1024;
const readWhole = promisify(readFile) as (fd: number) => Promise<Buffer>;
const writeWhole = promisify(writeFile);
const flush = promisify(fsync);
const make = promisify(open) as (path: string, flags: string, mode: number) => Promise<number>;
const moveTo = promisify(rename);

/** Where files are made before they get their name. In the vault, because a file can be renamed only within one file system. */
export const NEW_FILES = '.agentiso';

/** Changes with whatever happens to the file. */
export type Mark = string;

export interface ReadFile {
  readonly content: string;
  readonly mark: Mark;
}

export function versionOf(content: string): string {
  return createHash('sha256').update(content).digest('hex').slice(0, 32);
}

/** Undefined when there is none. Links, pipes and devices are refused and not waited for. */
export async function readText(folder: Folder, name: string): Promise<ReadFile | undefined> {
  const path = joinPath(folder.path, name);
  const fd = openToRead(folder, name);
  if (fd === undefined) return undefined;
  try {
    const stat = fstatSync(fd, { bigint: true });
    if (!stat.isFile()) throw notAFile(path);
    if (stat.size > MAX_NOTE_BYTES) throw tooLarge(path);
    const bytes = stat.size > MAX_WAIT_BYTES ? await readWhole(fd) : readFileSync(fd);
    // It may have grown since it was measured.
    if (bytes.length > MAX_NOTE_BYTES) throw tooLarge(path);
    return { content: toText(bytes, path), mark: markOf(stat) };
  } finally {
    closeSync(fd);
  }
}

function openToRead(folder: Folder, name: string): number | undefined {
  try {
    return openSync(folder.at(name), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    // A link that leads nowhere, or a socket.
    if (codeOf(error) === 'ELOOP' || codeOf(error) === 'ENXIO') throw notAFile(joinPath(folder.path, name));
    throw error;
  }
}

function notAFile(path: string): InvalidError {
  return new InvalidError(`${path} is not a file`);
}

export function tooLarge(path: string): AgentisoError {
  return new AgentisoError('TooLarge', `${path} is larger than ${MAX_NOTE_BYTES} bytes`, { hint: 'split it into several notes' });
}

function toText(bytes: Buffer, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new InvalidError(`${path} is not text in UTF-8`, [], { cause: error });
  }
}

/** Undefined when there is no file of this name. */
export function markAt(folder: Folder, name: string): Mark | undefined {
  const stat = lstatSync(folder.at(name), { bigint: true, throwIfNoEntry: false });
  return stat && markOf(stat);
}

function markOf({ dev, ino, size, mtimeNs, ctimeNs, mode }: BigIntStats): Mark {
  return [dev, ino, size, mtimeNs, ctimeNs, mode].join(' ');
}

/** Whoever opens the name finds the old file or the new one, whole; after this resolves, also when the machine dies. */
export async function replaceFile(root: string, folder: Folder, name: string, content: string): Promise<void> {
  const { fresh, fd } = await openNew(root);
  try {
    await writeWhole(fd, content);
    await flush(fd);
    await giveName(fresh, folder, name);
    await folder.sync();
  } catch (error) {
    rmSync(fresh, { force: true });
    throw error;
  } finally {
    closeSync(fd);
  }
}

/**
 * As `replaceFile`, for what can be made again at any time: whole for every reader, but not on disk at once. Nothing of it waits in place:
 * to take the name of another file makes the file system write this one out, which takes milliseconds on a busy disk.
 */
export async function replaceDerived(root: string, folder: Folder, name: string, content: string): Promise<Mark> {
  const { fresh, fd } = await openNew(root);
  try {
    await writeWhole(fd, content);
    await giveName(fresh, folder, name);
    return markOf(fstatSync(fd, { bigint: true }));
  } catch (error) {
    rmSync(fresh, { force: true });
    throw error;
  } finally {
    closeSync(fd);
  }
}

async function giveName(fresh: string, folder: Folder, name: string): Promise<void> {
  try {
    await moveTo(fresh, folder.at(name));
  } catch (error) {
    if (codeOf(error) === 'EISDIR' || codeOf(error) === 'ENOTDIR') throw notAFile(joinPath(folder.path, name));
    throw error;
  }
}

async function openNew(root: string): Promise<{ readonly fresh: string; readonly fd: number }> {
  const fresh = join(root, NEW_FILES, randomBytes(12).toString('hex'));
  try {
    return { fresh, fd: await make(fresh, 'wx', 0o600) };
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    // Somebody who tidied up took the folder away; and others may be about to make it again.
    mkdirSync(dirname(fresh), { recursive: true, mode: 0o700 });
    return { fresh, fd: await make(fresh, 'wx', 0o600) };
  }
}
