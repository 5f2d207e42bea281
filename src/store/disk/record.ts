/** One line of the journal or the snapshot: checksum, space, JSON. A line is whole or it is not there. */
import { crc32 } from 'node:zlib';

export const NEWLINE = 0x0a;
const CHECKSUM_LENGTH = 8;

export function encodeRecord(json: string): string {
  return `${crc32(json).toString(16).padStart(CHECKSUM_LENGTH, '0')} ${json}\n`;
}

/** The value of a line without its newline; undefined when the line is torn or damaged. */
export function decodeRecord(line: Buffer): unknown {
  if (line.length < CHECKSUM_LENGTH + 3 || line[CHECKSUM_LENGTH] !== 0x20) return undefined;
  const body = line.subarray(CHECKSUM_LENGTH + 1);
  const checksum = Number.parseInt(line.toString('latin1', 0, CHECKSUM_LENGTH), 16);
  if (checksum !== crc32(body)) return undefined;
  return JSON.parse(body.toString('utf8'));
}

/** Lines of a buffer, without newlines; the rest after the last newline is returned at the end as `rest`. */
export function* splitLines(data: Buffer): Generator<Buffer, Buffer> {
  let start = 0;
  for (let end = data.indexOf(NEWLINE); end !== -1; end = data.indexOf(NEWLINE, start)) {
    yield data.subarray(start, end);
    start = end + 1;
  }
  return data.subarray(start);
}
