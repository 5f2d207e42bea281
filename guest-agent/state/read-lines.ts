/**
 * Lines of a journal as a crash may have left them. A line that begins with a space was written together with the line before it. Of a write
 * that was never finished any part may be on disk: what is behind the first bad line of it is torn as well. Pure.
 */
import { NEWLINE } from './line-file.ts';

export interface ReadLines<R> {
  readonly records: readonly R[];
  /** Behind the last good line: the next one goes here. */
  readonly end: number;
  /** Behind it there is something else than empty lines. */
  readonly isTorn: boolean;
  /** Lines that nobody can read, counted from 1, and why. */
  readonly spoiled: readonly { readonly line: number; readonly why: unknown }[];
}

interface Found<R> {
  readonly number: number;
  readonly end: number;
  readonly isContinuation: boolean;
  readonly read: { readonly record: R } | { readonly why: unknown };
}

/** `parse` throws for what is not a record. */
export function readLines<R>(content: Buffer, parse: (value: unknown) => R): ReadLines<R> {
  const records: R[] = [];
  const spoiled: { line: number; why: unknown }[] = [];
  /** From a bad line on, as long as it may be the torn end of the last write. */
  let suspicious: Found<R>[] = [];
  let end = 0;
  const take = (found: readonly Found<R>[]) => {
    for (const { read, number } of found) {
      if ('record' in read) records.push(read.record);
      else spoiled.push({ line: number, why: read.why });
    }
    end = found.at(-1)?.end ?? end;
    suspicious = [];
  };
  const lines = linesOf(content, parse);
  for (const found of lines) {
    const isOpen = 'why' in found.read || (suspicious.length > 0 && found.isContinuation);
    if (isOpen) suspicious.push(found);
    else take([...suspicious, found]);
  }
  // Without room behind it the last write was finished: the file is as long as it was to be.
  if (suspicious.at(-1)?.end === content.length) take(suspicious);
  return { records, spoiled, end, isTorn: !isRoom(content, end) };
}

/** Whole lines, without empty ones. */
function linesOf<R>(content: Buffer, parse: (value: unknown) => R): Found<R>[] {
  const found: Found<R>[] = [];
  let number = 0;
  for (let start = 0; start < content.length; ) {
    number += 1;
    const end = content[start] === NEWLINE ? start : content.indexOf(NEWLINE, start);
    if (end < 0) break;
    if (end > start) found.push({ number, end: end + 1, isContinuation: content[start] === 0x20, read: read(content, start, end, parse) });
    start = end + 1;
  }
  return found;
}

function read<R>(content: Buffer, start: number, end: number, parse: (value: unknown) => R): Found<R>['read'] {
  try {
    return { record: parse(JSON.parse(content.toString('utf8', start, end))) };
  } catch (why) {
    return { why };
  }
}

function isRoom(content: Buffer, from: number): boolean {
  for (let at = from; at < content.length; at += 1) if (content[at] !== NEWLINE) return false;
  return true;
}
