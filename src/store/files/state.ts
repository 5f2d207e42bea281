/** What we know of one file: which version of the object it shows, and how to tell that somebody else touched it. */
import type { Stats } from 'node:fs';
import { crc32 } from 'node:zlib';
import type { KindObject } from '#api/meta.ts';

export interface Fingerprint {
  readonly inode: number;
  readonly size: number;
  readonly modifiedMs: number;
}

/** Replaced, never changed: a snapshot may still be writing an older one. */
export interface FileState extends Fingerprint {
  /** The object as the file shows it (its file view), the base for the next edit. */
  readonly shows: KindObject;
  /** The version of the object the file was written from; 0 while it shows an edit that is not written back yet. */
  readonly version: number;
  /** Of the bytes: tells a change that left size and time as they were. */
  readonly checksum: number;
  /** The text, where it is a person's own and not what we would write: comments and formatting live on in it. */
  readonly text?: string;
}

export function fingerprintOf(stat: Stats): Fingerprint {
  return { inode: stat.ino, size: stat.size, modifiedMs: stat.mtimeMs };
}

export function isUntouched(state: Fingerprint, stat: Fingerprint): boolean {
  return state.inode === stat.inode && state.size === stat.size && state.modifiedMs === stat.modifiedMs;
}

export const checksumOf = (data: string | Buffer): number => crc32(data);

/** What is remembered over a restart, in a form that costs few bytes. */
export type FileMark = readonly [version: number, inode: number, size: number, modifiedMs: number, checksum: number, ownText: 0 | 1];

export function toMark({ version, inode, size, modifiedMs, checksum, text }: FileState): FileMark {
  return [version, inode, size, modifiedMs, checksum, text === undefined ? 0 : 1];
}

export function isMark(value: unknown): value is FileMark {
  return Array.isArray(value) && value.length === 6 && value.every((item) => typeof item === 'number');
}

export function markFingerprint([, inode, size, modifiedMs]: FileMark): Fingerprint {
  return { inode, size, modifiedMs };
}

export function toState(mark: FileMark, shows: KindObject, text: string | undefined): FileState {
  const [version, inode, size, modifiedMs, checksum] = mark;
  const state = { version, inode, size, modifiedMs, checksum, shows };
  return text === undefined ? state : { ...state, text };
}
