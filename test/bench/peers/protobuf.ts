/** The few pieces of the protobuf wire format that the etcd client needs. Pure. */

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;

export interface WireField {
  readonly number: number;
  /** A number for varints and a view, not a copy, for bytes; fixed-width fields are skipped. */
  readonly value: number | Buffer;
}

export function bytesField(number: number, value: Buffer | string): Buffer {
  const bytes = typeof value === 'string' ? Buffer.from(value) : value;
  return Buffer.concat([varint(number * 8 + BYTES), varint(bytes.length), bytes]);
}

export function varintField(number: number, value: number): Buffer {
  return Buffer.concat([varint(number * 8 + VARINT), varint(value)]);
}

/** Throws RangeError on bytes that end in the middle of a field. */
export function* fieldsOf(message: Buffer): Generator<WireField> {
  for (let offset = 0; offset < message.length; ) {
    const { field, end } = readField(message, offset);
    if (end > message.length) throw new RangeError('protobuf field longer than its message');
    if (field) yield field;
    offset = end;
  }
}

function readField(message: Buffer, start: number): { field?: WireField; end: number } {
  const tag = readVarint(message, start);
  const number = Math.floor(tag.value / 8);
  const type = tag.value % 8;
  if (type === FIXED64) return { end: tag.end + 8 };
  if (type === FIXED32) return { end: tag.end + 4 };
  if (type !== VARINT && type !== BYTES) throw new RangeError(`protobuf wire type ${type}`);
  const head = readVarint(message, tag.end);
  if (type === VARINT) return { field: { number, value: head.value }, end: head.end };
  const end = head.end + head.value;
  return { field: { number, value: message.subarray(head.end, end) }, end };
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Buffer.from([...bytes, rest]);
}

/** Arithmetic instead of shifts, which are 32 bits wide. Ids above 2^53 lose their low bits; revisions and counts never get there. */
function readVarint(message: Buffer, start: number): { value: number; end: number } {
  let value = 0;
  let scale = 1;
  for (let offset = start; ; offset += 1) {
    const byte = message[offset];
    if (byte === undefined) throw new RangeError('protobuf varint without an end');
    value += (byte % 128) * scale;
    if (byte < 128) return { value, end: offset + 1 };
    scale *= 128;
  }
}
