/** A part of a file as an answer holds it: lines of a text, or bytes as base64. Pure. */
import { isUtf8 } from 'node:buffer';
import { AgentisoError } from '#lib/errors.ts';

/** What one answer carries. */
export const MAX_PART_BYTES = 1024 * 1024;
export const USUAL_LINES = 2000;
export const USUAL_BYTES = 262_144;

const NEWLINE = 0x0a;

export interface FilePart {
  readonly content: string;
  readonly encoding: 'utf-8' | 'base64';
  /** In lines of a text; in bytes of anything else. */
  readonly total: number;
  /** Where the rest begins; absent: that was all. */
  readonly nextOffset?: number;
}

export interface LinesWanted {
  /** How many lines to skip. */
  readonly offset: number;
  readonly limit: number;
  readonly maxBytes?: number;
}

/** UTF-8 without the one character that no text has. */
export function isText(bytes: Buffer): boolean {
  return isUtf8(bytes) && !bytes.includes(0);
}

/** Lines keep their ends: parts put together are the file. */
export function partOfText(bytes: Buffer, { offset, limit, maxBytes = MAX_PART_BYTES }: LinesWanted): FilePart {
  const { start, end, taken, total } = findLines(bytes, { offset, limit, maxBytes });
  if (taken === 0 && offset < total) {
    throw new AgentisoError('TooLarge', `line ${offset + 1} has more than ${maxBytes} bytes`, {
      hint: 'give encoding base64, where offset and limit count bytes',
    });
  }
  const next = offset + taken;
  return { content: bytes.toString('utf8', start, end), encoding: 'utf-8', total, ...(next < total && { nextOffset: next }) };
}

interface FoundLines {
  /** The wanted lines, so many of them as fit, in bytes. */
  readonly start: number;
  readonly end: number;
  readonly taken: number;
  /** Of the whole text. */
  readonly total: number;
}

/** By one look at every byte: a file may be millions of empty lines, and a list of them would take more memory than there is. */
function findLines(bytes: Buffer, { offset, limit, maxBytes }: Required<LinesWanted>): FoundLines {
  let total = 0;
  let [start, end, taken] = [bytes.length, bytes.length, 0];
  let lineStart = 0;
  const endLine = (at: number) => {
    if (total === offset) [start, end] = [lineStart, lineStart];
    const isNext = total === offset + taken && taken < limit;
    if (isNext && at - start <= maxBytes) {
      end = at;
      taken += 1;
    }
    total += 1;
    lineStart = at;
  };
  for (let at = 0; at < bytes.length; at++) if (bytes[at] === NEWLINE) endLine(at + 1);
  if (lineStart < bytes.length) endLine(bytes.length);
  return { start, end, taken, total };
}

/** `bytes` begin at the offset; `size` is that of the whole file. */
export function partOfBytes(bytes: Buffer, size: number, offset: number): FilePart {
  const next = offset + bytes.length;
  return { content: bytes.toString('base64'), encoding: 'base64', total: size, ...(next < size && { nextOffset: next }) };
}
