/** Reads a field set that came from outside: one spelling per path and one order, nothing that is not a path, no depth without end. */
import { isObject, type JsonObject } from '#lib/json.ts';
import { MAX_DEPTH } from './check-typed.ts';
import { type FieldSet, isEmpty, NO_FIELDS, nodeOf } from './field-set.ts';
import { canonicalElement } from './path-element.ts';

/** Throws SyntaxError if it is no field set. Gives the same object back if there is nothing to put right. */
export function decodeFields(fields: unknown): FieldSet {
  if (isObject(fields) && read.has(fields)) return fields as FieldSet;
  const set = isCanonical(fields, 0) ? fields : readChildren(fields, 0);
  read.add(set);
  return set;
}

/** The sets of stored objects come here with every write; they are never changed. */
const read = new WeakSet<object>();

/** What the server itself stored passes: looking costs far less than reading. */
function isCanonical(fields: unknown, depth: number): fields is FieldSet {
  if (!isObject(fields) || depth > MAX_DEPTH) return false;
  let count = 0;
  let last = '';
  for (const key in fields) {
    if (key < last || !isCanonicalKey(key, depth) || !isCanonical(fields[key], depth + 1)) return false;
    last = key;
    count++;
  }
  // A node of nothing but `.` is spelled `{}`.
  return count !== 1 || fields['.'] === undefined;
}

function isCanonicalKey(key: string, depth: number): boolean {
  return key.startsWith('f:') || (key === '.' ? depth > 0 : canonicalElement(key) === key);
}

function readChildren(fields: unknown, depth: number): FieldSet {
  const out: Record<string, FieldSet> = {};
  for (const [key, below] of Object.entries(readMap(fields, depth))) {
    const element = key === '.' ? undefined : canonicalElement(key);
    if (element !== undefined) out[element] = readNode(below, depth + 1);
  }
  return out;
}

function readMap(fields: unknown, depth: number): JsonObject {
  if (fields === null || fields === undefined) return {};
  if (!isObject(fields) || depth > MAX_DEPTH) throw new SyntaxError('not a set of fields');
  return fields;
}

function readNode(fields: unknown, depth: number): FieldSet {
  const children = readChildren(fields, depth);
  const isOwn = isEmpty(children) || Object.hasOwn(readMap(fields, depth), '.');
  return nodeOf(children, isOwn) ?? NO_FIELDS;
}
