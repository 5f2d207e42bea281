/** Writes protobuf messages. A message is the list of its fields, each already encoded. */

export type Field = Buffer | undefined;

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;

/** Seven bits a byte, the lowest first. Lengths and keys are all we write besides counts, so below 2^53 is enough. */
function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 0x7f) {
    bytes.push((rest % 0x80) | 0x80);
    rest = Math.floor(rest / 0x80);
  }
  bytes.push(rest);
  return Buffer.from(bytes);
}

function key(number: number, wireType: number): Buffer {
  return varint((number << 3) | wireType);
}

export function message(fields: readonly Field[]): Buffer {
  return Buffer.concat(fields.filter((field) => field !== undefined));
}

/** Present even if empty: an empty message says something, unlike an empty string. */
export function nested(number: number, content: Buffer): Field {
  return Buffer.concat([key(number, BYTES), varint(content.length), content]);
}

export function string(number: number, value: string): Field {
  return value === '' ? undefined : nested(number, Buffer.from(value));
}

export function strings(number: number, values: readonly string[]): Field {
  return message(values.map((value) => nested(number, Buffer.from(value))));
}

/** Of zero and above only. */
export function int64(number: number, value: number): Field {
  return value === 0 ? undefined : Buffer.concat([key(number, VARINT), varint(value)]);
}

export function double(number: number, value: number): Field {
  if (value === 0) return undefined;
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return Buffer.concat([key(number, FIXED64), bytes]);
}

export function bool(number: number, value: boolean): Field {
  return value ? alternativeBool(number, value) : undefined;
}

/** As one of several alternatives, where also false must be seen. */
export function alternativeBool(number: number, value: boolean): Field {
  return Buffer.concat([key(number, VARINT), varint(value ? 1 : 0)]);
}
