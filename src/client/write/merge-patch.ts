/** JSON merge patches (RFC 7386): the difference of two values, and the three-way difference that client-side apply sends. */
import { equalJson, isObject, type JsonObject } from '#lib/json.ts';

/** What turns `from` into `to`; keys that `to` lacks become null. */
export function mergePatchBetween(from: JsonObject, to: JsonObject): JsonObject {
  const patch: JsonObject = {};
  for (const [key, value] of Object.entries(to)) {
    const change = changeOf(Object.hasOwn(from, key) ? from[key] : undefined, value);
    if (change !== undefined) patch[key] = change;
  }
  for (const key of Object.keys(from)) if (!Object.hasOwn(to, key)) patch[key] = null;
  return patch;
}

/** Undefined when there is nothing to change. */
function changeOf(before: unknown, value: unknown): unknown {
  if (!isObject(before) || !isObject(value)) return before !== undefined && equalJson(before, value) ? undefined : value;
  const inner = mergePatchBetween(before, value);
  return Object.keys(inner).length > 0 ? inner : undefined;
}

export interface ThreeWay {
  /** What was applied last time. Nothing when that is not known: then nothing is removed either. */
  readonly original: JsonObject | undefined;
  /** What is to be applied now. */
  readonly modified: JsonObject;
  readonly live: JsonObject;
}

/** Sets what is wanted and different, removes what was applied before and is not wanted any more, and leaves the rest alone. */
export function threeWayMergePatch({ original = {}, modified, live }: ThreeWay): JsonObject {
  const changes = withoutNulls(mergePatchBetween(live, modified));
  const removals = onlyNulls(mergePatchBetween(original, modified));
  return overlay(removals, changes);
}

/** An empty map that is a value stays; one that only held removals goes. */
function withoutNulls(patch: JsonObject): JsonObject {
  const kept: JsonObject = {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) continue;
    const inner = isObject(value) ? withoutNulls(value) : value;
    if (!isEmptied(value, inner)) kept[key] = inner;
  }
  return kept;
}

function isEmptied(before: unknown, after: unknown): boolean {
  return isObject(before) && Object.keys(before).length > 0 && isObject(after) && Object.keys(after).length === 0;
}

function onlyNulls(patch: JsonObject): JsonObject {
  const kept: JsonObject = {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) kept[key] = null;
    else if (isObject(value)) {
      const inner = onlyNulls(value);
      if (Object.keys(inner).length > 0) kept[key] = inner;
    }
  }
  return kept;
}

function overlay(base: JsonObject, over: JsonObject): JsonObject {
  const merged: JsonObject = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const below = base[key];
    merged[key] = isObject(below) && isObject(value) ? overlay(below, value) : value;
  }
  return merged;
}

/** What the patch makes of a value; null removes. */
export function applyMergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const result: JsonObject = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = applyMergePatch(result[key], value);
  }
  return result;
}
