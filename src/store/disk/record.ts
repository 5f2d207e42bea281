/** One line of the journal or the snapshot: checksum, space, JSON. A line is whole or it is not there. */
import { crc32 } from 'node:zlib';

export const NEWLINE = 0x0a;
const SPACE = 0x20;
const CHECKSUM_LENGTH = 8;

export function encodeRecord(json: string): string {
  return `${checksumText(crc32(json))} ${json}\n`;
}

/** Several lines after some that are encoded already; each text is turned into bytes once. */
export function encodeRecords(encoded: string, jsons: readonly string[]): Buffer {
  const lengths = jsons.map((json) => Buffer.byteLength(json));
  const start = Buffer.byteLength(encoded);
  const data = Buffer.allocUnsafe(lengths.reduce((sum, length) => sum + length + CHECKSUM_LENGTH + 2, start));
  data.write(encoded, 0);
  let at = start;
  jsons.forEach((json, index) => {
    const body = at + CHECKSUM_LENGTH + 1;
    const end = body + (lengths[index] ?? 0);
    data.write(json, body);
    data.write(checksumText(crc32(data.subarray(body, end))), at, 'latin1');
    data[body - 1] = SPACE;
    data[end] = NEWLINE;
    at = end + 1;
  });
  return data;
}

function checksumText(checksum: number): string {
  return checksum.toString(16).padStart(CHECKSUM_LENGTH, '0');
}

/** The value of a line without its newline; undefined when the line is torn or damaged. */
export function decodeRecord(line: Buffer): unknown {
  if (line.length < CHECKSUM_LENGTH + 3 || line[CHECKSUM_LENGTH] !== SPACE) return undefined;
  const body = line.subarray(CHECKSUM_LENGTH + 1);
  // As text: read as a number, a damaged digit can still say the same (0 and +, 00 and 0x).
  if (line.toString('latin1', 0, CHECKSUM_LENGTH) !== checksumText(crc32(body))) return undefined;
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
