/** The wire of protobuf: numbered fields, each a number or a run of bytes. */

export type Bytes = Uint8Array;
export type Wire = bigint | Bytes;

export interface WireField {
  readonly number: number;
  readonly wire: Wire;
}

const VARINT = 0;
const EIGHT_BYTES = 1;
const LENGTH_DELIMITED = 2;
const FOUR_BYTES = 5;
const MAX_VARINT_BYTES = 10;

export function malformed(problem: string): Error {
  return new Error(`proto: malformed message: ${problem}`);
}

export function readFields(bytes: Bytes): readonly WireField[] {
  const fields: WireField[] = [];
  let at = 0;
  while (at < bytes.length) {
    const key = readVarint(bytes, at);
    const number = Number(key.value >> 3n);
    if (number === 0) throw malformed('field number 0');
    const { wire, end } = readWire(bytes, key.end, Number(key.value & 7n));
    fields.push({ number, wire });
    at = end;
  }
  return fields;
}

function readWire(bytes: Bytes, at: number, type: number): { wire: Wire; end: number } {
  switch (type) {
    case VARINT: {
      const { value, end } = readVarint(bytes, at);
      return { wire: value, end };
    }
    case LENGTH_DELIMITED: {
      const length = readVarint(bytes, at);
      return run(bytes, length.end, Number(length.value));
    }
    case EIGHT_BYTES:
      return run(bytes, at, 8);
    case FOUR_BYTES:
      return run(bytes, at, 4);
    default:
      throw malformed(`wire type ${type}`);
  }
}

function run(bytes: Bytes, start: number, length: number): { wire: Bytes; end: number } {
  const end = start + length;
  if (end > bytes.length) throw malformed('unexpected end');
  return { wire: bytes.subarray(start, end), end };
}

function readVarint(bytes: Bytes, start: number): { value: bigint; end: number } {
  let value = 0n;
  for (let length = 0; length < MAX_VARINT_BYTES; length++) {
    const byte = bytes[start + length];
    if (byte === undefined) throw malformed('unexpected end');
    value |= BigInt(byte & 0x7f) << BigInt(7 * length);
    if (byte < 0x80) return { value: BigInt.asUintN(64, value), end: start + length + 1 };
  }
  throw malformed('a number of more than 64 bits');
}

/** Whole numbers are signed, in 64 bits. */
export function toNumber(value: bigint): number {
  return Number(BigInt.asIntN(64, value));
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function asText(bytes: Bytes): string {
  try {
    return decoder.decode(bytes);
  } catch (error) {
    throw new Error('proto: invalid UTF-8', { cause: error });
  }
}
