/** Request bodies as values, and what is wrong with them in the words of Kubernetes. Pure. */
import { isUtf8 } from 'node:buffer';
import type { KindObject } from '#api/meta.ts';
import { messageOf } from '#lib/errors.ts';
import { isObject, type JsonObject } from '#lib/json.ts';
import { type Duplicate, duplicatesInJson, hasDuplicates } from './duplicates.ts';
import { complaintAbout } from './json-complaint.ts';
import { type ParsedBody, parseBesideKnown } from './known-parts.ts';
import { isTooDeep, MAX_YAML_BRACKETS, MAX_YAML_BYTES, problemIn, TOO_DEEP } from './limits.ts';
import { bodyFormatOf } from './media-type.ts';
import { decodeProtobuf } from './protobuf.ts';
import { RequestError } from './request-error.ts';
import { parseYamlBody } from './yaml-body.ts';

export interface BodyPurpose {
  /** What the body has to be: named when it is not. */
  readonly kind: string;
  /** The stored object that it may replace: the parts of the body that are its own are the same objects. */
  readonly old?: KindObject | undefined;
}

export interface Decoded<T> {
  readonly value: T;
  /** Strict decoding wants these: `duplicate field "spec.x"`. */
  readonly duplicates: () => readonly string[];
}

export function decodeBody(contentType: string | undefined, bytes: Uint8Array, { kind, old }: BodyPurpose): Decoded<JsonObject> {
  const decode = DECODERS[bodyFormatOf(contentType)];
  try {
    const { value, duplicates } = decode(bytes, old);
    return { value: objectFrom(value), duplicates };
  } catch (error) {
    throw error instanceof RequestError ? error : unrecognized(kind, messageOf(error), bytes);
  }
}

/** What a body that is no object of its kind is answered with. */
export function unrecognized(kind: string, problem: string, bytes: Uint8Array): RequestError {
  return new RequestError(400, `the object provided is unrecognized (must be of type ${kind}): ${problem} (${summaryOf(bytes)})`);
}

const DECODERS = {
  json: (bytes: Uint8Array, old: KindObject | undefined) => {
    try {
      return decodeJson(bytes, old);
    } catch (error) {
      throw new Error(`couldn't get version/kind; json parse error: ${messageOf(error)}`, { cause: error });
    }
  },
  yaml: (bytes: Uint8Array) => decodeYaml(bytes),
  protobuf: (bytes: Uint8Array) => ({ value: decodeProtobuf(bytes), duplicates: none }),
};

const none = (): readonly string[] => [];

/** The parser bears as many levels as fit in here, and the look at its result tells too many: no need to count them before. */
const SMALL_BYTES = 4096;

/** Throws an Error with the complaint of Go's decoder. */
export function decodeJson(bytes: Uint8Array, old?: KindObject): Decoded<unknown> {
  const text = textOf(bytes);
  if (bytes.length > SMALL_BYTES && isTooDeep(bytes)) throw new Error(TOO_DEEP);
  const body = parsedBody(text, old);
  const { value } = body;
  const problem = problemIn(value, 0, body.known);
  if (problem) throw new Error(problem);
  return { value, duplicates: () => duplicatesOf(text, body).map(({ path }) => `duplicate field ${JSON.stringify(path)}`) };
}

const NOTHING_KNOWN: readonly unknown[] = [];

function parsedBody(text: string, old: KindObject | undefined): ParsedBody {
  const isPlain = !text.includes('\\u');
  const parsed = old && isPlain ? parseBesideKnown(text, old) : undefined;
  return parsed ?? { value: parseJson(text, isPlain), text, known: NOTHING_KNOWN };
}

/** Nearly every body has none, and that is quickly seen. */
function duplicatesOf(text: string, { value, text: parsed, known }: ParsedBody): readonly Duplicate[] {
  return hasDuplicates(parsed, value, known) ? duplicatesInJson(text) : [];
}

function parseJson(text: string, isPlain: boolean): unknown {
  try {
    return JSON.parse(isPlain ? text : wellFormed(text));
  } catch (error) {
    throw new Error(complaintAbout(text) ?? messageOf(error), { cause: error });
  }
}

const ESCAPES = /\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[dD][89a-fA-F][0-9a-fA-F]{2}|.)/gs;

/** Half a character, which no file could hold, becomes the sign for what cannot be read. */
function wellFormed(text: string): string {
  // A pair is twelve characters long, any other escape two.
  return text.replace(ESCAPES, (found) => (found.length === 6 ? '\\ufffd' : found));
}

/** Clients send JSON as YAML, which it is: parsed as what it is, a thousand times faster. */
export function decodeYaml(bytes: Uint8Array): Decoded<unknown> {
  const text = textOf(bytes);
  if (text.startsWith('{')) {
    const value = valueOfJson(bytes);
    if (value) return { value, duplicates: () => duplicatesOf(text, { value, text, known: NOTHING_KNOWN }).map(describeInYaml) };
  }
  if (bytes.length > MAX_YAML_BYTES)
    throw new RequestError(413, `Request entity too large: limit is ${MAX_YAML_BYTES} for YAML; send it as JSON`);
  if (isTooDeep(bytes, MAX_YAML_BRACKETS)) throw new Error(`yaml: ${TOO_DEEP}`);
  const { value, duplicates } = parseYamlBody(text);
  return { value, duplicates: () => duplicates().map(describeInYaml) };
}

/** Undefined for what is not JSON, or not allowed: the YAML parser then says why. */
function valueOfJson(bytes: Uint8Array): unknown {
  try {
    return decodeJson(bytes).value;
  } catch {
    return undefined;
  }
}

function describeInYaml({ line, key }: Duplicate): string {
  return `line ${line}: key ${JSON.stringify(key)} already set in map`;
}

function textOf(bytes: Uint8Array): string {
  if (!isUtf8(bytes)) throw new Error('invalid UTF-8');
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

function objectFrom(value: unknown): JsonObject {
  if (isObject(value)) return value;
  if (value === null) throw new Error(`Object 'Kind' is missing in 'null'`);
  const what = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
  throw new Error(`json: cannot unmarshal ${what} into an object`);
}

const SUMMARY_BYTES = 30;

function summaryOf(bytes: Uint8Array): string {
  if (bytes.length === 0) return '<empty>';
  const start = Buffer.from(bytes.subarray(0, SUMMARY_BYTES));
  const text = start[0] === 0x7b ? start.toString('utf8') : start.toString('hex');
  return bytes.length > SUMMARY_BYTES ? `${text} ...` : text;
}
