/**
 * One line of a mail journal: a JSON object whose last member is the checksum of all before it. A line is whole or it is not there. One that
 * begins with a space was written together with the line before it.
 */
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

const SPACE = 0x20;
/** Of one line at most, beside its record: the mark in front, the checksum, the newline. */
const AROUND_BYTES = CHECKSUM_LENGTH + 2;

export interface EncodedRecords {
  readonly data: Buffer;
  readonly lengths: readonly number[];
  /** Of the messages among them: their JSON, which others need as well. */
  readonly jsons: readonly string[];
}

/** The lines of one write, one behind the other in one piece of memory. */
export function encodeRecords(records: readonly MailRecord[]): EncodedRecords {
  const jsons: string[] = [];
  const texts = records.map((record) => textOf(record, jsons));
  const data = Buffer.allocUnsafe(texts.reduce((sum, text) => sum + Buffer.byteLength(text) + AROUND_BYTES, 0));
  let end = 0;
  const lengths = texts.map((text, index) => {
    const start = end;
    if (index > 0) end = data.writeUInt8(SPACE, end);
    // The last brace gives way to the checksum.
    end += data.write(text, end) - 1;
    end += data.write(checksumOf(data.subarray(start, end)), end, 'latin1');
    return end - start;
  });
  return { data: data.subarray(0, end), lengths, jsons };
}

function textOf(record: MailRecord, jsons: string[]): string {
  if (record.is !== 'message') return JSON.stringify(record);
  const json = JSON.stringify(record.message);
  jsons.push(json);
  const key = record.key === undefined ? '' : `,"key":${JSON.stringify(record.key)}`;
  return `{"is":"message","message":${json}${key}}`;
}

export function encodeRecord(record: MailRecord): Buffer {
  return encodeRecords([record]).data;
}

/** The same line as the first of its write. */
export function toFirst(line: Buffer): Buffer {
  if (!isContinuation(line)) return line;
  const body = line.subarray(1, -(CHECKSUM_LENGTH + 1));
  return Buffer.concat([body, Buffer.from(checksumOf(body))]);
}

export function isContinuation(line: Buffer): boolean {
  return line[0] === SPACE;
}

function checksumOf(body: Buffer): string {
  return `,"crc":"${crc32(body).toString(16).padStart(8, '0')}"}\n`;
}

/** The record of a line, with or without its newline; undefined when the line is torn or damaged. */
export function decodeRecord(line: Buffer): MailRecord | undefined {
  const whole = line.at(-1) === NEWLINE ? line.subarray(0, -1) : line;
  const body = whole.subarray(0, Math.max(0, whole.length - CHECKSUM_LENGTH));
  const checksum = CHECKSUM.exec(whole.toString('latin1', body.length))?.[1];
  if (checksum === undefined || Number.parseInt(checksum, 16) !== crc32(body)) return undefined;
  const record: unknown = JSON.parse(`${body.toString('utf8')}}`);
  // The checksum says that one of us wrote it; a word that is not known is one of a later version.
  return isObject(record) && WORDS.has(record['is']) ? (record as unknown as MailRecord) : undefined;
}
