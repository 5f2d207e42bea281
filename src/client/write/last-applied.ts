/** kubectl's note of what was applied last: who reads it later may be kubectl, so it is written byte for byte as kubectl does. */
import { isObject, type JsonObject } from '#lib/json.ts';

export const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** Undefined when there is none, or when it is not what apply writes. */
export function lastAppliedOf(live: JsonObject): JsonObject | undefined {
  const text = annotationsOf(live)[LAST_APPLIED];
  if (typeof text !== 'string') return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function hasLastApplied(live: JsonObject): boolean {
  return typeof annotationsOf(live)[LAST_APPLIED] === 'string';
}

/** The configuration with the note of itself in its annotations. */
export function withLastApplied(config: JsonObject): JsonObject {
  const plain = withoutLastApplied(config);
  return withAnnotations(plain, { ...annotationsOf(plain), [LAST_APPLIED]: encodeAsGo(plain) });
}

/** The note as a server writes it at a server-side apply: the same text, or the next one would change it. */
export function noteOf(config: JsonObject): string {
  const metadata = isObject(config['metadata']) ? config['metadata'] : {};
  return encodeAsGo(metadata['annotations'] === undefined ? config : withoutLastApplied(config));
}

/** What is noted: it has annotations even when there are none, so that the next comparison finds no map gone. */
export function withoutLastApplied(config: JsonObject): JsonObject {
  const { [LAST_APPLIED]: _previous, ...annotations } = annotationsOf(config);
  return withAnnotations(config, annotations);
}

function annotationsOf({ metadata }: JsonObject): JsonObject {
  return isObject(metadata) && isObject(metadata['annotations']) ? metadata['annotations'] : {};
}

function withAnnotations(config: JsonObject, annotations: JsonObject): JsonObject {
  const metadata = isObject(config['metadata']) ? config['metadata'] : {};
  return { ...config, metadata: { ...metadata, annotations } };
}

/** Go's JSON: keys sorted by their bytes, characters that are special in HTML escaped, a line end. */
function encodeAsGo(value: unknown): string {
  const text = encode(value).replace(/[<>&\u2028\u2029]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return `${text}\n`;
}

/** Built by hand because JavaScript puts keys that look like numbers first, whatever order they were given in. */
function encode(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(encode).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? 'null';
  const keys = Object.keys(value).filter((key) => value[key] !== undefined);
  keys.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  return `{${keys.map((key) => `${JSON.stringify(key)}:${encode(value[key])}`).join(',')}}`;
}
