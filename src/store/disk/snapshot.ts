/**
 * The snapshot: every object with what is known of its file, as of one version. It makes the journal before it superfluous
 * and a start fast: YAML is parsed only for files that changed since.
 */
import { closeSync, existsSync, openSync, readSync, rmSync } from 'node:fs';
import { type FileHandle, open, rename, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { KindObject } from '#api/meta.ts';
import { AgentisoError } from '#lib/errors.ts';
import { isObject } from '#lib/json.ts';
import { syncDirectory } from './journal.ts';
import { mustBeFile } from './must-be-file.ts';
import { decodeRecord, encodeRecord, splitLines } from './record.ts';

/** Raised when older code could misread what newer code wrote. */
export const FORMAT = 1;

export interface SnapshotHeader {
  readonly format: number;
  readonly resourceVersion: number;
  /** The first journal segment that is not in this snapshot. */
  readonly firstSegment: number;
  /** How many rows follow. */
  readonly rows?: number;
}

export interface SnapshotRow {
  readonly object: KindObject;
  /** As the files room encodes it; absent for objects that have no file yet. */
  readonly file?: unknown;
}

export interface LoadedSnapshot {
  readonly header: SnapshotHeader | undefined;
  /** Rows that did not survive; their objects are looked for in the YAML files. */
  readonly damagedRows: number;
  readonly bytes: number;
}

/** As text, and then as bytes, this much is in the way of other work at a time. */
const WRITE_BYTES = 128 * 1024;
/** No more than this is left to the disk at a time: the journal's next write waits behind all of it. */
const SYNC_BYTES = 1024 * 1024;
const READ_BYTES = 4 * 1024 * 1024;

/** Written beside, flushed, then renamed: a crash leaves the old snapshot or the new one. Gives way to other work as it goes. */
export async function writeSnapshot(path: string, header: SnapshotHeader, rows: Iterable<SnapshotRow>): Promise<number> {
  const temporary = unfinished(path);
  const file = await open(temporary, 'w', 0o600);
  let bytes = 0;
  let synced = 0;
  try {
    let text = encodeRecord(JSON.stringify(header));
    for (const row of rows) {
      text += encodeRecord(JSON.stringify(row));
      if (text.length < WRITE_BYTES) continue;
      bytes += await writeWhole(file, text);
      text = '';
      await nextTurn();
      if (bytes - synced < SYNC_BYTES) continue;
      await file.datasync();
      synced = bytes;
    }
    bytes += await writeWhole(file, text);
    await file.sync();
  } catch (error) {
    // What there is of it only takes space that somebody else waits for.
    await unlink(temporary);
    throw error;
  } finally {
    await file.close();
  }
  await rename(temporary, path);
  await syncDirectory(dirname(path));
  return bytes;
}

function unfinished(path: string): string {
  return `${path}.new`;
}

/** All of it or an error: a disk that fills up takes a part without complaint. */
async function writeWhole(file: FileHandle, text: string): Promise<number> {
  await file.writeFile(text);
  return Buffer.byteLength(text);
}

export function readSnapshot(path: string, onRow: (row: SnapshotRow) => void): LoadedSnapshot {
  // Left by one who was killed while writing it; the next snapshot may be a long time off.
  rmSync(unfinished(path), { force: true });
  let header: SnapshotHeader | undefined;
  let damagedRows = 0;
  let rows = 0;
  let bytes = 0;
  for (const line of linesOf(path)) {
    bytes += line.length + 1;
    const record = decodeRecord(line);
    if (header === undefined && isHeader(record)) header = checkedFormat(record);
    else if (isRow(record)) {
      rows++;
      onRow(record);
    } else damagedRows++;
  }
  const isHeadless = header === undefined && existsSync(path);
  const missing = isHeadless ? 1 : Math.max(0, (header?.rows ?? 0) - rows);
  return { header, damagedRows: Math.max(damagedRows, missing), bytes };
}

/** In pieces, so that a large store never has its whole snapshot in memory at once. A line is good until the next one is asked for. */
function* linesOf(path: string): Generator<Buffer> {
  if (!existsSync(path)) return;
  mustBeFile(path);
  const fd = openSync(path, 'r');
  try {
    let buffer = Buffer.allocUnsafeSlow(READ_BYTES);
    let kept = 0;
    for (;;) {
      if (kept === buffer.length) buffer = Buffer.concat([buffer], buffer.length * 2);
      const length = readSync(fd, buffer, kept, buffer.length - kept, null);
      if (length === 0) break;
      const rest = yield* splitLines(buffer.subarray(0, kept + length));
      rest.copy(buffer, 0);
      kept = rest.length;
    }
    if (kept > 0) yield buffer.subarray(0, kept);
  } finally {
    closeSync(fd);
  }
}

function checkedFormat(header: SnapshotHeader): SnapshotHeader {
  if (header.format <= FORMAT) return header;
  throw new AgentisoError('Unavailable', `the store was written by a newer agentiso (format ${header.format}, this one knows ${FORMAT})`, {
    reason: 'NewerFormat',
    hint: 'run the newer agentiso again, or start with an empty directory',
  });
}

function isHeader(record: unknown): record is SnapshotHeader {
  return isObject(record) && typeof record['format'] === 'number' && typeof record['resourceVersion'] === 'number';
}

function isRow(record: unknown): record is SnapshotRow {
  return isObject(record) && isObject(record['object']);
}
