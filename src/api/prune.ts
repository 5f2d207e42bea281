/** A value without the fields its schema does not know, and which those were. Values that need no cut are returned as they are. */
import { formatPath, isObject, type JsonObject } from '#lib/json.ts';
import type { Schema } from './schema.ts';

export interface Pruned<T> {
  readonly value: T;
  /** `spec.roles[0].cuont`, in the order met. */
  readonly unknown: readonly string[];
}

/** Parts that are those of `old` have been looked at before. */
export function prune<T>(schema: Schema, value: T, old?: unknown): Pruned<T> {
  const walking: Walk = { at: [], unknown: [] };
  return { value: walk(schema, value, old, walking) as T, unknown: walking.unknown };
}

interface Walk {
  readonly at: (string | number)[];
  readonly unknown: string[];
}

function walk(schema: Schema, value: unknown, old: unknown, walking: Walk): unknown {
  if (typeof value !== 'object' || value === null || value === old) return value;
  return Array.isArray(value) ? walkList(schema, value, old, walking) : walkMap(schema, value as JsonObject, old, walking);
}

function walkList({ items }: Schema, list: readonly unknown[], old: unknown, walking: Walk): unknown {
  if (!items) return list;
  const before: readonly unknown[] = Array.isArray(old) ? old : [];
  let copy: unknown[] | undefined;
  list.forEach((item, index) => {
    walking.at.push(index);
    const kept = walk(items, item, before[index], walking);
    walking.at.pop();
    if (kept === item) return;
    copy ??= [...list];
    copy[index] = kept;
  });
  return copy ?? list;
}

function walkMap(schema: Schema, map: JsonObject, old: unknown, walking: Walk): JsonObject {
  const before = isObject(old) ? old : NOTHING;
  let copy: JsonObject | undefined;
  for (const key in map) {
    const value = map[key];
    const member = memberSchema(schema, key);
    walking.at.push(key);
    if (member === undefined) {
      walking.unknown.push(formatPath(walking.at));
      copy ??= { ...map };
      delete copy[key];
    } else if (member !== ANYTHING) {
      const kept = walk(member, value, before[key], walking);
      if (kept !== value) {
        copy ??= { ...map };
        copy[key] = kept;
      }
    }
    walking.at.pop();
  }
  return copy ?? map;
}

const NOTHING: Readonly<JsonObject> = {};
/** Stands for: whatever it is, it may stay. */
const ANYTHING: Schema = {};

/** Undefined: the schema does not know the key. */
function memberSchema(schema: Schema, key: string): Schema | undefined {
  const { properties, additionalProperties } = schema;
  if (properties && Object.hasOwn(properties, key)) return properties[key];
  if (isObject(additionalProperties)) return additionalProperties as Schema;
  return !properties || additionalProperties === true || schema['x-kubernetes-preserve-unknown-fields'] ? ANYTHING : undefined;
}
