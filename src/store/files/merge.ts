/** Three-way merge of plain values: what a person changed in a file, over what we changed meanwhile. */
import { equalJson, formatPath, isObject, type JsonObject } from '#lib/json.ts';

export interface Merged {
  readonly value: unknown;
  /** Fields that both changed, differently. */
  readonly conflicts: readonly string[];
}

export function mergeEdit(base: unknown, edit: unknown, current: unknown): Merged {
  const conflicts: string[] = [];
  const value = merge({ base, edit, current }, [], conflicts);
  return { value, conflicts };
}

interface Sides {
  readonly base: unknown;
  readonly edit: unknown;
  readonly current: unknown;
}

function merge({ base, edit, current }: Sides, at: (string | number)[], conflicts: string[]): unknown {
  if (equalJson(edit, base)) return current;
  if (equalJson(current, base) || equalJson(edit, current)) return edit;
  if (isObject(edit) && isObject(current)) return mergeMaps({ base: isObject(base) ? base : {}, edit, current }, at, conflicts);
  if (isNamedList(edit) && isNamedList(current))
    return mergeNamedLists({ base: isNamedList(base) ? base : [], edit, current }, at, conflicts);
  conflicts.push(formatPath(at));
  return current;
}

function mergeMaps(
  sides: { base: JsonObject; edit: JsonObject; current: JsonObject },
  at: (string | number)[],
  conflicts: string[],
): JsonObject {
  const merged: JsonObject = {};
  for (const key of new Set([...Object.keys(sides.current), ...Object.keys(sides.edit)])) {
    const value = merge({ base: sides.base[key], edit: sides.edit[key], current: sides.current[key] }, [...at, key], conflicts);
    if (value !== undefined) merged[key] = value;
  }
  return merged;
}

type NamedList = readonly (JsonObject & { name: string })[];

/** Lists of named things (roles, tasks) merge by name; the edit decides their order. */
function mergeNamedLists(
  sides: { base: NamedList; edit: NamedList; current: NamedList },
  at: (string | number)[],
  conflicts: string[],
): unknown[] {
  const named = (list: NamedList, name: string) => list.find((item) => item.name === name);
  const names = new Set([...sides.edit, ...sides.current].map(({ name }) => name));
  const merged: unknown[] = [];
  for (const name of names) {
    const item = { base: named(sides.base, name), edit: named(sides.edit, name), current: named(sides.current, name) };
    const value = merge(item, [...at, name], conflicts);
    if (value !== undefined) merged.push(value);
  }
  return merged;
}

/** A name that stands twice names nothing: such a list is merged as a whole, and validation sees what is in it. */
function isNamedList(value: unknown): value is NamedList {
  if (!Array.isArray(value) || !value.every((item) => isObject(item) && typeof item['name'] === 'string')) return false;
  return new Set((value as NamedList).map(({ name }) => name)).size === value.length;
}
