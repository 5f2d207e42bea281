/**
 * One copy of what neighbours have in common. Objects of a kind repeat most of each other (times, reasons, commands, whole lists),
 * and parsing makes all of it anew: at a hundred thousand objects that is a third of the memory.
 */
import { isObject, type JsonObject } from './json.ts';

/**
 * `value` with every part that equals the same part of `previous` replaced by it. Changes `value`, which nobody else may hold yet;
 * both must never be changed afterwards.
 */
export function shareJson<T>(value: T, previous: unknown): T {
  // For texts this compares the content and gives the copy that exists already.
  if (value === previous) return previous as T;
  if (Array.isArray(value)) return (Array.isArray(previous) ? shareList(value, previous) : value) as T;
  if (isObject(value) && isObject(previous)) return shareMap(value, previous) as T;
  return value;
}

function shareList(list: unknown[], previous: readonly unknown[]): readonly unknown[] {
  let isEqual = list.length === previous.length;
  for (let index = 0; index < list.length && index < previous.length; index++) {
    list[index] = shareJson(list[index], previous[index]);
    if (list[index] !== previous[index]) isEqual = false;
  }
  return isEqual ? previous : list;
}

/** The same keys in another order are another text: not shared as a whole. */
function shareMap(map: JsonObject, previous: JsonObject): JsonObject {
  const keys = Object.keys(previous);
  let isEqual = true;
  let count = 0;
  for (const key in map) {
    // What every object inherits is not something it says.
    const before = Object.hasOwn(previous, key) ? previous[key] : undefined;
    const shared = shareJson(map[key], before);
    if (shared !== before || keys[count] !== key) isEqual = false;
    map[key] = shared;
    count++;
  }
  return isEqual && count === keys.length ? previous : map;
}
