/** Reading a file that somebody may be writing to at this moment. */
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, type Stats } from 'node:fs';
import { MAX_DOCUMENT_BYTES } from '#api/manifest.ts';
import { emitYaml } from '#lib/emit-yaml.ts';
import { isBeingWritten } from '#lib/native.ts';
import { type FileState, type Fingerprint, fingerprintOf, isUntouched } from './state.ts';
import { fileView } from './view.ts';

export type Reading =
  | { readonly is: 'missing' }
  /** A link, a folder, a device: whatever it leads to is not in this directory. */
  | { readonly is: 'foreign'; readonly what: string }
  | { readonly is: 'unreadable'; readonly problem: string }
  /** It changed while it was read. */
  | { readonly is: 'moving' }
  | { readonly is: 'text'; readonly text: string; readonly fingerprint: Fingerprint };

/** Whoever has a file open for writing is not done with it, unless nothing came for so long. */
const WRITER_MS = 5_000;
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

export function statOf(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

export function readEdit(path: string): Reading {
  const stat = statOf(path);
  if (!stat) return { is: 'missing' };
  if (!stat.isFile()) return { is: 'foreign', what: whatIs(stat) };
  if (stat.size > MAX_DOCUMENT_BYTES) {
    return { is: 'unreadable', problem: `too large: ${stat.size} bytes; at most ${MAX_DOCUMENT_BYTES} (1 MiB) are accepted` };
  }
  const fd = openPlainFile(path);
  if (fd === undefined) return { is: 'moving' };
  try {
    return readWhole(fd);
  } finally {
    closeSync(fd);
  }
}

function whatIs(stat: Stats): string {
  if (stat.isSymbolicLink()) return 'a symbolic link';
  return stat.isDirectory() ? 'a folder' : 'a special file';
}

/** undefined when it is gone or became a link since it was looked at. */
function openPlainFile(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch {
    return undefined;
  }
}

function readWhole(fd: number): Reading {
  const before = fingerprintOf(fstatSync(fd));
  const data = readFileSync(fd);
  const after = fingerprintOf(fstatSync(fd));
  if (!isUntouched(before, after) || data.length !== after.size) return { is: 'moving' };
  if (Date.now() - after.modifiedMs < WRITER_MS && isBeingWritten(fd)) return { is: 'moving' };
  try {
    return { is: 'text', text: decoder.decode(data), fingerprint: after };
  } catch {
    return { is: 'unreadable', problem: 'not UTF-8 text; save the file as UTF-8' };
  }
}

/** An editor that writes in place shows us half a file first; a file that has rested this long is taken as whole. */
export const SETTLE_MS = 100;
/** The end of a file rarely changes (it is status), so an unchanged end means that all of it is there. */
const TAIL_LENGTH = 48;

/** Also one from the future: no clock will ever say that it rested. */
export function hasRested(modifiedMs: number, nowMs: number): boolean {
  return nowMs - modifiedMs >= SETTLE_MS || nowMs < modifiedMs - SETTLE_MS;
}

export function looksWhole(text: string, fingerprint: Fingerprint, state: FileState | undefined, nowMs: number): boolean {
  if (hasRested(fingerprint.modifiedMs, nowMs)) return true;
  if (!state || !text.endsWith('\n')) return false;
  const before = state.text ?? emitYaml(fileView(state.shows));
  return before.length > TAIL_LENGTH && text.endsWith(before.slice(-TAIL_LENGTH));
}
