/** One line of a mail journal: a JSON object whose last member is the checksum of all before it. A line is whole or it is not there. */
import { crc32 } from 'node:zlib';
import { isObject } from '#lib/json.ts';
import type { Envelope } from './mail.ts';

export type MailRecord =
  | { readonly is: 'message'; readonly message: Envelope; readonly key?: string }
  | { readonly is: 'delivered'; readonly seq: number }
  | { readonly is: 'acked'; readonly ids: readonly string[]; readonly at: string }
  /** On purpose: nobody waits for it any more. */
  | { readonly is: 'withdrawn'; readonly ids: readonly string[]; readonly at: string }
  | { readonly is: 'dead'; readonly ids: readonly string[]; readonly at: string }
  /** The beginning of a rewritten journal: what the messages that are no longer in it have left behind. */
  | { readonly is: 'mailbox'; readonly nextSeq: number; readonly deadLetters: number };

/** Where a record stands in its journal, newline included. */
export interface Line {
  readonly offset: number;
  readonly length: number;
}

export const NEWLINE = 0x0a;
const CHECKSUM = /^,"crc":"([0-9a-f]{8})"\}$/;
const CHECKSUM_LENGTH = ',"crc":"00000000"}'.length;
const WORDS: ReadonlySet<unknown> = new Set<MailRecord['is']>(['message', 'delivered', 'acked', 'withdrawn', 'dead', 'mailbox']);

export function encodeRecord(record: MailRecord): Buffer {
  const body = JSON.stringify(record).slice(0, -1);
  const checksum = crc32(body).toString(16).padStart(8, '0');
  return Buffer.from(`${body},"crc":"${checksum}"}\n`);
}

/** The record of a line, with or without its newline; undefined when the line is torn or damaged. */
export function decodeRecord(line: Buffer): MailRecord | undefined {
  const whole = line.at(-1) === NEWLINE ? line.subarray(0, -1) : line;
  const body = whole.subarray(0, Math.max(0, whole.length - CHECKSUM_LENGTH));
  const checksum = CHECKSUM.exec(whole.toString('latin1', body.length))?.[1];
  if (checksum === undefined || Number.parseInt(checksum, 16) !== crc32(body)) return undefined;
  const { crc: _, ...record } = JSON.parse(whole.toString('utf8'));
  // The checksum says that one of us wrote it; a word that is not known is one of a later version.
  return isObject(record) && WORDS.has(record['is']) ? (record as unknown as MailRecord) : undefined;
}
