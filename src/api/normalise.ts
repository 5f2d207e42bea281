/**
 * A copy of a value in the shape of its schema: keys in the schema's order (so files read the same whoever wrote them), defaults
 * filled in, stray nulls dropped, unknown fields and duplicate list entries reported. Validation of what is left is ajv's work.
 */
import type { FieldProblem } from '#lib/errors.ts';
import { copyJson, formatPath, isObject, type JsonObject } from '#lib/json.ts';
import { nearest } from '#lib/suggest.ts';
import type { Schema } from './schema.ts';

type Segments = (string | number)[];

export function normalise(schema: Schema, value: unknown, problems: FieldProblem[], at: Segments = []): unknown {
  if (Array.isArray(value)) return normaliseList(schema, value, problems, at);
  if (isObject(value)) return normaliseMap(schema, value, problems, at);
  return value;
}

function normaliseList(schema: Schema, list: readonly unknown[], problems: FieldProblem[], at: Segments): unknown[] {
  const items = schema.items;
  if (!items) return copyJson([...list]);
  const copy = list.map((item, index) => normalise(items, item, problems, [...at, index]));
  reportDuplicates(schema, copy, problems, at);
  return copy;
}

function normaliseMap(schema: Schema, map: JsonObject, problems: FieldProblem[], at: Segments): JsonObject {
  const copy: JsonObject = {};
  const { properties = NONE } = schema;
  for (const key in properties) {
    const member = properties[key];
    if (member) setMember(copy, key, { schema: member, value: Object.hasOwn(map, key) ? map[key] : undefined, problems, at });
  }
  for (const key in map) {
    if (!Object.hasOwn(properties, key)) setExtra(copy, key, { schema, value: map[key], problems, at });
  }
  return copy;
}

const NONE: Readonly<Record<string, Schema>> = {};

/** A key that the schema does not name: an entry of a free map, kept as it is, or a mistake. */
function setExtra(copy: JsonObject, key: string, member: Member): void {
  const { schema, value, problems, at } = member;
  const { properties, additionalProperties } = schema;
  if (isObject(additionalProperties)) setMember(copy, key, { ...member, schema: additionalProperties as Schema });
  else if (!properties || schema['x-kubernetes-preserve-unknown-fields'] || additionalProperties === true) copy[key] = copyJson(value);
  else if (value !== undefined) problems.push(unknownField(properties, key, at));
}

interface Member {
  readonly schema: Schema;
  readonly value: unknown;
  readonly problems: FieldProblem[];
  readonly at: Segments;
}

function setMember(copy: JsonObject, key: string, { schema, value, problems, at }: Member): void {
  const present = value === null && !schema.nullable ? undefined : value;
  const chosen = present === undefined ? schema.default : present;
  if (chosen === undefined) return;
  copy[key] = normalise(schema, chosen, problems, [...at, key]);
}

function unknownField(properties: Readonly<Record<string, Schema>>, key: string, at: Segments): FieldProblem {
  const known = Object.keys(properties);
  const meant = nearest(key, known);
  const path = formatPath([...at, key]);
  const accepted = meant ? `did you mean ${JSON.stringify(meant)}?` : `accepted here: ${known.join(', ')}`;
  return { path, segments: [...at, key], kind: 'Unknown', message: `unknown field ${JSON.stringify(path)}; ${accepted}` };
}

function reportDuplicates(schema: Schema, list: readonly unknown[], problems: FieldProblem[], at: Segments): void {
  const keys = schema['x-kubernetes-list-map-keys'];
  const isSet = schema['x-kubernetes-list-type'] === 'set';
  if (!isSet && !keys) return;
  const seen = new Set<string>();
  list.forEach((item, index) => {
    const identity = JSON.stringify(keys && isObject(item) ? Object.fromEntries(keys.map((key) => [key, item[key]])) : item);
    if (seen.has(identity)) {
      const segments = [...at, index];
      problems.push({
        path: formatPath(segments),
        segments,
        kind: 'Duplicate',
        message: `Duplicate value: ${identity}; each may appear once`,
      });
    }
    seen.add(identity);
  });
}
