/** Bodies in Kubernetes' protobuf: the few messages that kubectl's typed commands send, as the JSON they stand for. */
import type { JsonObject } from '#lib/json.ts';
import { problemIn } from './limits.ts';
import { unsupportedBody } from './media-type.ts';
import { type Field, type Message, messageFor, TYPE_META } from './protobuf-messages.ts';
import { asText, type Bytes, malformed, readFields, toNumber, type Wire } from './protobuf-wire.ts';

const PREFIX = [0x6b, 0x38, 0x73, 0x00];

/** Throws an Error for bytes that are no message, a RequestError for a message of a kind that is not known. */
export function decodeProtobuf(bytes: Bytes): JsonObject {
  if (bytes.length === 0) throw new Error('empty data');
  if (PREFIX.some((byte, at) => bytes[at] !== byte)) {
    throw new Error(`provided data does not appear to be a protobuf message, expected prefix [${PREFIX.join(' ')}]`);
  }
  const { typeMeta, raw } = envelopeOf(bytes.subarray(PREFIX.length));
  const { apiVersion = '', kind = '' } = typeMeta;
  const message = messageFor(String(apiVersion), String(kind));
  if (!message) throw unsupportedBody();
  return { apiVersion, kind, ...decode(raw, message) };
}

function envelopeOf(bytes: Bytes): { typeMeta: JsonObject; raw: Bytes } {
  let typeMeta: JsonObject = {};
  let raw: Bytes = new Uint8Array();
  for (const { number, wire } of readFields(bytes)) {
    if (number === 1) typeMeta = decode(bytesOf(wire), TYPE_META);
    else if (number === 2) raw = bytesOf(wire);
  }
  return { typeMeta, raw };
}

/** Fields nobody knows are passed over. */
function decode(bytes: Bytes, message: Message): JsonObject {
  const result: JsonObject = {};
  for (const { number, wire } of readFields(bytes)) {
    const field = message[number];
    if (field) put(result, field, wire);
  }
  return result;
}

function put(result: JsonObject, field: Field, wire: Wire): void {
  const { name, type, many } = field;
  if (many === 'map')
    putEntry(
      memberOf(result, name, () => ({})),
      entryOf(wire, type),
    );
  else if (many === 'list') memberOf(result, name, (): unknown[] => []).push(valueFrom(wire, type));
  else {
    const value = valueFrom(wire, type);
    if (field.isPointer || !isZero(value)) result[name] = value;
  }
}

function memberOf<T>(result: JsonObject, name: string, make: () => T): T {
  result[name] ??= make();
  return result[name] as T;
}

function putEntry(map: JsonObject, { key, value }: Entry): void {
  if (key === '__proto__') throw new Error('__proto__ cannot be a key');
  map[key] = value;
}

/** Go encodes fields that are no pointers even when they are empty. */
function isZero(value: unknown): boolean {
  return value === '' || value === 0 || value === false || value === undefined;
}

interface Entry {
  key: string;
  value: unknown;
}

function entryOf(wire: Wire, type: Field['type']): Entry {
  const entry: Entry = { key: '', value: '' };
  for (const { number, wire: member } of readFields(bytesOf(wire))) {
    if (number === 1) entry.key = asText(bytesOf(member));
    else if (number === 2) entry.value = valueFrom(member, type);
  }
  return entry;
}

function valueFrom(wire: Wire, type: Field['type']): unknown {
  if (typeof type === 'object') return decode(bytesOf(wire), type);
  switch (type) {
    case 'text':
      return asText(bytesOf(wire));
    case 'integer':
      return toNumber(varintOf(wire));
    case 'boolean':
      return varintOf(wire) !== 0n;
    case 'base64':
      return Buffer.from(bytesOf(wire)).toString('base64');
    case 'json':
      return jsonOf(bytesOf(wire));
    case 'time':
      return timeOf(bytesOf(wire), 'seconds');
    case 'microTime':
      return timeOf(bytesOf(wire), 'microseconds');
  }
}

/** FieldsV1 is a message whose only field is JSON text. */
function jsonOf(bytes: Bytes): unknown {
  let value: unknown = {};
  for (const { number, wire } of readFields(bytes)) if (number === 1) value = JSON.parse(asText(bytesOf(wire)));
  const problem = problemIn(value);
  if (problem) throw new Error(problem);
  return value;
}

function bytesOf(wire: Wire): Bytes {
  if (typeof wire === 'bigint') throw malformed('a number where text or a message was expected');
  return wire;
}

function varintOf(wire: Wire): bigint {
  if (typeof wire !== 'bigint') throw malformed('text where a number was expected');
  return wire;
}

/** An empty one was never set. */
function timeOf(bytes: Bytes, precision: 'seconds' | 'microseconds'): string | undefined {
  if (bytes.length === 0) return undefined;
  let seconds = 0;
  let nanoseconds = 0;
  for (const { number, wire } of readFields(bytes)) {
    if (number === 1) seconds = toNumber(varintOf(wire));
    else if (number === 2) nanoseconds = toNumber(varintOf(wire));
  }
  const date = new Date(seconds * 1000);
  if (Number.isNaN(date.getTime())) throw malformed('a time that does not exist');
  const text = date.toISOString().slice(0, 19);
  if (precision === 'seconds') return `${text}Z`;
  return `${text}.${String(Math.floor(nanoseconds / 1000)).padStart(6, '0')}Z`;
}
