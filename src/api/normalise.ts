/**
 * A copy of a value in the shape of its schema: keys in the schema's order (so files read the same whoever wrote them), defaults
 * filled in, stray nulls dropped, unknown fields and duplicate list entries reported. Validation of what is left is ajv's work.
 * Parts that are those of `old` went through here before and stay as they are.
 */
import type { FieldProblem } from '#lib/errors.ts';
import { copyJson, formatPath, isObject, type JsonObject } from '#lib/json.ts';
import { nearest } from '#lib/suggest.ts';
import type { Schema } from './schema.ts';

export function normalise(schema: Schema, value: unknown, problems: FieldProblem[], old?: unknown): unknown {
  return walk({ schema, value, old }, { problems, at: [] });
}

/** `at` is where the walk is now: one stack for the whole walk, because every write of every object comes through here. */
interface Walk {
  readonly problems: FieldProblem[];
  readonly at: (string | number)[];
}

function walk({ schema, value, old }: Member, state: Walk): unknown {
  if (typeof value !== 'object' || value === null || value === old) return value;
  return Array.isArray(value) ? walkList(schema, value, state, old) : walkMap(schema, value as JsonObject, state, old);
}

function walkList(schema: Schema, list: readonly unknown[], state: Walk, old: unknown): unknown[] {
  const before = Array.isArray(old) ? old : NOTHING;
  const items = schema.items;
  if (!items) return copyJson([...list]);
  const copy = list.map((item, index) => {
    if (typeof item !== 'object') return item;
    state.at.push(index);
    const walked = walk({ schema: items, value: item, old: before[index] }, state);
    state.at.pop();
    return walked;
  });
  if (copy.length > 1) reportDuplicates(schema, copy, state);
  return copy;
}

function walkMap(schema: Schema, map: JsonObject, state: Walk, old: unknown): JsonObject {
  const copy: JsonObject = {};
  const before = isObject(old) ? old : NONE;
  const { properties = NONE } = schema;
  for (const key in properties)
    setMember(
      copy,
      key,
      { schema: properties[key] as Schema, value: Object.hasOwn(map, key) ? map[key] : undefined, old: before[key] },
      state,
    );
  for (const key in map) {
    if (!Object.hasOwn(properties, key)) setExtra(copy, key, { schema, value: map[key], old: before[key] }, state);
  }
  return copy;
}

const NONE: Readonly<Record<string, Schema>> = {};
const NOTHING: readonly unknown[] = [];

interface Member {
  readonly schema: Schema;
  readonly value: unknown;
  /** What stood there before. */
  readonly old: unknown;
}

function setMember(copy: JsonObject, key: string, { schema, value, old }: Member, state: Walk): void {
  const present = value === null && !schema.nullable ? undefined : value;
  const chosen = present === undefined ? schema.default : present;
  if (chosen === undefined) return;
  if (typeof chosen !== 'object' || chosen === old) {
    copy[key] = chosen;
    return;
  }
  state.at.push(key);
  copy[key] = walk({ schema, value: chosen, old }, state);
  state.at.pop();
}

/** A key that the schema does not name: an entry of a free map, kept as it is, or a mistake. */
function setExtra(copy: JsonObject, key: string, { schema, value, old }: Member, state: Walk): void {
  const { properties, additionalProperties } = schema;
  if (key === '__proto__') state.problems.push(forbiddenKey([...state.at, key]));
  else if (isObject(additionalProperties)) setMember(copy, key, { schema: additionalProperties as Schema, value, old }, state);
  else if (!properties || schema['x-kubernetes-preserve-unknown-fields'] || additionalProperties === true) copy[key] = copyJson(value);
  else if (value !== undefined) state.problems.push(unknownField(properties, [...state.at, key]));
}

/** JavaScript would take it for something else than data, here or in a program that reads the object. */
function forbiddenKey(segments: readonly (string | number)[]): FieldProblem {
  return { path: formatPath(segments), segments, kind: 'Forbidden', message: 'Forbidden: __proto__ cannot be used as a key' };
}

function unknownField(properties: Readonly<Record<string, Schema>>, segments: readonly (string | number)[]): FieldProblem {
  const known = Object.keys(properties);
  const meant = nearest(String(segments.at(-1)), known);
  const path = formatPath(segments);
  const accepted = meant ? `did you mean ${JSON.stringify(meant)}?` : `accepted here: ${known.join(', ')}`;
  return { path, segments, kind: 'Unknown', message: `unknown field ${JSON.stringify(path)}; ${accepted}` };
}

function reportDuplicates(schema: Schema, list: readonly unknown[], { problems, at }: Walk): void {
  const keys = schema['x-kubernetes-list-map-keys'];
  if (!keys && schema['x-kubernetes-list-type'] !== 'set') return;
  const seen = new Set<unknown>();
  list.forEach((item, index) => {
    const identity = identityOf(item, keys);
    if (seen.has(identity)) {
      const segments = [...at, index];
      const shown = JSON.stringify(keys && isObject(item) ? Object.fromEntries(keys.map((key) => [key, item[key]])) : item);
      problems.push({
        path: formatPath(segments),
        segments,
        kind: 'Duplicate',
        message: `Duplicate value: ${shown}`,
      });
    }
    seen.add(identity);
  });
}

/** Texts and numbers are their own identity; what has several parts is compared as text. */
function identityOf(item: unknown, keys: readonly string[] | undefined): unknown {
  if (!keys || !isObject(item)) return typeof item === 'object' ? JSON.stringify(item) : item;
  return keys.length === 1 ? item[keys[0] as string] : JSON.stringify(keys.map((key) => item[key]));
}
