/** Writing files: a new content appears whole or not at all. */
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { MAX_FILE_BYTES } from '#protocol/control.ts';
import { ProtocolError } from '#protocol/protocol-error.ts';
import { lazy } from '../lazy-modules.ts';
import { relativeInWorkspace } from '../workspace-path.ts';
import { toFileError } from './file-error.ts';
import { child, type Entry, holdTarget, lstatEntry, type Wanted, withEntry } from './handle.ts';
import { openFile } from './read.ts';

const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
const USUAL_MODE = 0o644;

type Content = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

export interface WriteOptions {
  /** Absent: as it was, or 0644. */
  readonly mode?: number | undefined;
  readonly makeParents?: boolean | undefined;
}

/** Resolves to the number of bytes. Through a link, the file it leads to is written, if that is inside; the link stays. */
export async function replaceFile(wanted: Wanted, content: Content, options: WriteOptions = {}): Promise<number> {
  const written = await replaceUnlessLink(wanted, content, options);
  if (written !== undefined) return written;
  // Walked again from the root: what the link led to a moment ago proves nothing.
  const path = await readTarget(wanted);
  const writtenThere = await replaceUnlessLink({ ...wanted, path }, content, options);
  if (writtenThere === undefined) throw new ProtocolError('Conflict', `${wanted.path} changed while it was being written`);
  return writtenThere;
}

async function readTarget(wanted: Wanted): Promise<string> {
  const target = await holdTarget(wanted).catch((error: unknown) => {
    throw isNotFound(error) ? new ProtocolError('Forbidden', `${wanted.path} is a link to nothing`) : error;
  });
  await target.close();
  return relativeInWorkspace(wanted.root, target.realPath);
}

/** undefined: the last name is a link. */
async function replaceUnlessLink(wanted: Wanted, content: Content, options: WriteOptions): Promise<number | undefined> {
  return withEntry(wanted, options, async (entry) => {
    const stats = await lstatEntry(entry, wanted);
    if (stats?.isSymbolicLink()) return undefined;
    if (stats !== undefined && !stats.isFile()) throw new ProtocolError('Invalid', `${wanted.path} is not a plain file`);
    return replaceIn(wanted, { entry, content, mode: options.mode ?? (stats ? stats.mode & 0o777 : USUAL_MODE) });
  });
}

interface Replacement {
  readonly entry: Entry;
  readonly content: Content;
  readonly mode: number;
}

async function replaceIn(wanted: Wanted, { entry, content, mode }: Replacement): Promise<number> {
  const { directory, name } = entry;
  const temporary = child(directory, `.agentiso-${lazy.crypto.randomUUID()}.tmp`);
  try {
    const handle = await lazy.files.open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    let isDone = false;
    try {
      const bytes = await writeAll(handle, content, { path: wanted.path, sizeBytes: 0 });
      await handle.chmod(mode);
      await lazy.files.rename(temporary, child(directory, name));
      isDone = true;
      return bytes;
    } finally {
      await handle.close();
      if (!isDone) await lazy.files.unlink(temporary);
    }
  } catch (error) {
    throw toFileError(error, wanted.path);
  }
}

/** Not whole or nothing: what was appended before a failure stays. */
export async function appendFile(wanted: Wanted, content: Content, options: WriteOptions = {}): Promise<number> {
  const opened = await openFile(wanted, O_WRONLY | O_APPEND).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  if (opened === undefined) return replaceFile(wanted, content, options);
  const { handle, stats } = opened;
  try {
    const bytes = await writeAll(handle, content, { path: wanted.path, sizeBytes: stats.size });
    if (options.mode !== undefined) await handle.chmod(options.mode);
    return bytes;
  } catch (error) {
    throw toFileError(error, wanted.path);
  } finally {
    await handle.close();
  }
}

async function writeAll(handle: FileHandle, content: Content, { path, sizeBytes }: { path: string; sizeBytes: number }): Promise<number> {
  let written = 0;
  for await (const chunk of content) {
    if (sizeBytes + written + chunk.length > MAX_FILE_BYTES) {
      throw new ProtocolError('TooLarge', `${path} would be larger than ${MAX_FILE_BYTES} bytes`);
    }
    for (let rest = chunk; rest.length > 0; ) rest = rest.subarray((await handle.write(rest)).bytesWritten);
    written += chunk.length;
  }
  return written;
}

function isNotFound(error: unknown): boolean {
  return error instanceof ProtocolError && error.code === 'NotFound';
}
