/** Writing DER, the byte form of certificates: as much of it as X.509 needs. */

const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

function element(tag: number, content: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content]);
}

/** Below 128 the length itself; above, how many bytes it takes and then those. */
function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const bytes = bigEndian(length);
  return Buffer.from([0x80 | bytes.length, ...bytes]);
}

function bigEndian(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return bytes;
}

export function sequence(...members: readonly Uint8Array[]): Buffer {
  return element(TAG.sequence, Buffer.concat(members));
}

export function set(member: Uint8Array): Buffer {
  return element(TAG.set, member);
}

export function boolean(value: boolean): Buffer {
  return element(TAG.boolean, Buffer.from([value ? 0xff : 0x00]));
}

/** A positive integer of any size, most significant byte first; written as short as DER demands. */
export function integer(magnitude: Uint8Array): Buffer {
  const first = magnitude.findIndex((byte) => byte !== 0);
  const bytes = first < 0 ? Buffer.from([0]) : Buffer.from(magnitude.subarray(first));
  const isNegativeLooking = (bytes[0] ?? 0) >= 0x80;
  return element(TAG.integer, isNegativeLooking ? Buffer.concat([Buffer.from([0]), bytes]) : bytes);
}

export function octetString(content: Uint8Array): Buffer {
  return element(TAG.octetString, content);
}

export function bitString(content: Uint8Array, unusedBits = 0): Buffer {
  return element(TAG.bitString, Buffer.concat([Buffer.from([unusedBits]), content]));
}

export function utf8String(text: string): Buffer {
  return element(TAG.utf8String, Buffer.from(text, 'utf8'));
}

export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return element(TAG.oid, Buffer.from([first * 40 + second, ...rest].flatMap(base128)));
}

function base128(value: number): number[] {
  const bytes = [value % 128];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) bytes.unshift((rest % 128) | 0x80);
  return bytes;
}

/** X.509's rule: two-digit years up to 2049, four digits from 2050 on; whole seconds in UTC. */
export function time(date: Date): Buffer {
  const digits = date
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replace(/[-:T]/g, '');
  const isShort = date.getUTCFullYear() >= 1950 && date.getUTCFullYear() < 2050;
  return isShort ? element(TAG.utcTime, Buffer.from(digits.slice(2))) : element(TAG.generalizedTime, Buffer.from(digits));
}

/** `[n]` around whole elements. */
export function explicit(number: number, content: Uint8Array): Buffer {
  return element(0xa0 | number, content);
}

/** `[n]` in place of a primitive element's own tag. */
export function implicit(number: number, content: Uint8Array): Buffer {
  return element(0x80 | number, content);
}
