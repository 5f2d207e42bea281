/** What no body may exceed, whatever its format: the same bounds as for files, as every object may be written to one. */
import { isObject, type JsonObject } from '#lib/json.ts';

/** Far more than any schema has, far less than would exhaust the stack of whoever walks the value. */
export const MAX_DEPTH = 100;
/** Enough for every honest use of anchors in YAML; a bomb needs millions. */
export const MAX_ALIASES = 100;

export const TOO_DEEP = `exceeded max depth of ${MAX_DEPTH}`;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** Of `[` and `{`, and of `]` and `}`, which differ in this bit only. */
const CURLY = 0x20;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/** A YAML parser takes a thousand times as long as JSON's: what is larger has to come as JSON. */
export const MAX_YAML_BYTES = 1024 * 1024;
/** In YAML a bracket may be part of a text, where nobody closes it; this many are never that. */
export const MAX_YAML_BRACKETS = 2_000;

/** Whether JSON text is nested too deeply, without parsing it. */
export function isTooDeep(bytes: Uint8Array, limit = MAX_DEPTH): boolean {
  let depth = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) {
      at = endOfString(bytes, at);
      continue;
    }
    const bracket = byte | CURLY;
    if (bracket === OPEN && ++depth > limit) return true;
    if (bracket === CLOSE) depth--;
  }
  return false;
}

function endOfString(bytes: Uint8Array, start: number): number {
  for (let at = start + 1; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH) at++;
  }
  return bytes.length;
}

/**
 * The first thing about a value that cannot be kept: nesting, numbers without end, or the one key that is no key. `known`: parts that were
 * looked at before, in the same place.
 */
export function problemIn(value: unknown, depth = 0, known: readonly unknown[] = NONE): string | undefined {
  if (typeof value === 'string' || known.includes(value)) return undefined;
  if (depth >= MAX_DEPTH && typeof value === 'object' && value !== null) return TOO_DEEP;
  if (Array.isArray(value)) return firstProblem(value, depth, known);
  if (isObject(value)) {
    if (Object.hasOwn(value, '__proto__')) return '__proto__ cannot be a key';
    return Object.getPrototypeOf(value) === Object.prototype ? problemInMap(value, depth, known) : 'only plain data is accepted';
  }
  const isPlain = typeof value === 'number' ? Number.isFinite(value) : typeof value !== 'bigint';
  return isPlain ? undefined : `${String(value)} is not a number that JSON knows`;
}

const NONE: readonly unknown[] = [];

function firstProblem(members: readonly unknown[], depth: number, known: readonly unknown[]): string | undefined {
  for (const member of members) {
    const problem = problemIn(member, depth + 1, known);
    if (problem) return problem;
  }
  return undefined;
}

function problemInMap(map: JsonObject, depth: number, known: readonly unknown[]): string | undefined {
  for (const key in map) {
    const problem = problemIn(map[key], depth + 1, known);
    if (problem) return problem;
  }
  return undefined;
}
