/** One header of a tar archive: ustar, with GNU's long names. Pure. */

export const BLOCK = 512;

export interface TarEntry {
  readonly name: string;
  readonly type: 'file' | 'folder' | 'other';
  readonly mode: number;
  readonly size: number;
  /** Seconds since 1970. */
  readonly time: number;
}

const LONG_NAME = '././@LongLink';
const MAX_NAME_BYTES = 100;

/** With whatever has to come before it. */
export function formatHeader(entry: TarEntry): Buffer {
  const name = Buffer.from(entry.name);
  const own = rawHeader(entry, name.subarray(0, MAX_NAME_BYTES), entry.type === 'folder' ? '5' : '0');
  if (name.length <= MAX_NAME_BYTES) return own;
  const text = Buffer.concat([name, Buffer.alloc(1)]);
  const long = rawHeader({ ...entry, mode: 0, time: 0, size: text.length }, Buffer.from(LONG_NAME), 'L');
  return Buffer.concat([long, text, padding(text.length), own]);
}

export function padding(size: number): Buffer {
  return Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);
}

function rawHeader({ mode, size, time }: TarEntry, name: Buffer, type: string): Buffer {
  const header = Buffer.alloc(BLOCK);
  name.copy(header, 0);
  header.write(octal(mode & 0o7777, 8), 100, 'latin1');
  header.write(octal(0, 8), 108, 'latin1');
  header.write(octal(0, 8), 116, 'latin1');
  if (size < 0o100000000000) header.write(octal(size, 12), 124, 'latin1');
  else header.writeBigUInt64BE(BigInt(size), 128);
  if (size >= 0o100000000000) header[124] = 0x80;
  header.write(octal(Math.max(0, Math.floor(time)), 12), 136, 'latin1');
  header.write(' '.repeat(8), 148, 'latin1');
  header.write(type, 156, 'latin1');
  header.write('ustar\x0000', 257, 'latin1');
  header.write(
    `${octal(
      header.reduce((sum, byte) => sum + byte, 0),
      7,
    )} `,
    148,
    'latin1',
  );
  return header;
}

function octal(value: number, width: number): string {
  return `${value.toString(8).padStart(width - 1, '0')}\0`;
}

/** As it stands; long names are told by headers before it. */
export interface RawHeader extends TarEntry {
  readonly flag: string;
}

/** Undefined for a block of zeros, which ends an archive. Throws on what is no header. */
export function parseHeader(block: Buffer): RawHeader | undefined {
  if (block.every((byte) => byte === 0)) return undefined;
  const sum = block.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 0x20 : byte), 0);
  if (sum !== number(block, 148, 8)) throw new Error('the agent sent something that is no tar archive');
  const flag = block.toString('latin1', 156, 157);
  const hasPrefix = block.toString('latin1', 257, 263) === 'ustar\0';
  const prefix = hasPrefix ? text(block, 345, 155) : '';
  return {
    name: `${prefix === '' ? '' : `${prefix}/`}${text(block, 0, MAX_NAME_BYTES)}`,
    type: ['0', '\0', '7'].includes(flag) ? 'file' : flag === '5' ? 'folder' : 'other',
    flag,
    mode: number(block, 100, 8),
    size: number(block, 124, 12),
    time: number(block, 136, 12),
  };
}

function text(block: Buffer, at: number, length: number): string {
  const end = block.indexOf(0, at);
  return block.toString('utf8', at, end < 0 || end > at + length ? at + length : end);
}

/** Octal digits, or for what is too large for them, binary. */
function number(block: Buffer, at: number, length: number): number {
  if (((block[at] as number) & 0x80) !== 0) return Number(block.readBigUInt64BE(at + length - 8));
  const digits = text(block, at, length).trim();
  if (!/^[0-7]*$/.test(digits)) throw new Error('the agent sent something that is no tar archive');
  return digits === '' ? 0 : Number.parseInt(digits, 8);
}
