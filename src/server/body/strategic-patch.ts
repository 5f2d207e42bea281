/**
 * Strategic merge patch, as far as the core kinds we have need it: maps merge as in a merge patch unless they say otherwise, and a few
 * lists merge item by item. Every other list is replaced, as in Kubernetes where a list has no merge key.
 */
import { isObject, type JsonObject } from '#lib/json.ts';
import { goKind } from '../metadata-types.ts';
import { inOrder } from './list-order.ts';
import { RequestError } from './request-error.ts';

const DELETE_FROM = '$deleteFromPrimitiveList/';
const ORDER = '$setElementOrder/';

/** By path: the key of the items, or null where they are their own. */
const MERGED_LISTS: ReadonlyMap<string, string | null> = new Map([
  ['metadata.finalizers', null],
  ['metadata.ownerReferences', 'uid'],
  ['status.conditions', 'type'],
]);

export function applyStrategicPatch(target: JsonObject, patch: unknown): JsonObject {
  if (!isObject(patch)) {
    throw new RequestError(400, `json: cannot unmarshal ${goKind(patch)} into Go value of type map[string]interface {}`);
  }
  return merged(target, patch, '') ?? {};
}

/** Undefined: the patch deletes it. */
function merged(target: JsonObject, patch: JsonObject, path: string): JsonObject | undefined {
  const { $patch = 'merge' } = patch;
  if ($patch === 'delete') return undefined;
  if ($patch !== 'merge' && $patch !== 'replace') {
    throw new RequestError(400, `error decoding patch: Unknown patch type: ${String($patch)}`);
  }
  const result: JsonObject = $patch === 'replace' ? {} : retained(target, patch['$retainKeys']);
  for (const key of keysOf(patch)) {
    const value = mergedMember(result, patch, key, path === '' ? key : `${path}.${key}`);
    if (value === undefined || value === null) delete result[key];
    else result[key] = value;
  }
  return result;
}

/** What the patch merges into: all of it, or only what it says that is to stay. */
function retained(target: JsonObject, keys: unknown): JsonObject {
  if (!Array.isArray(keys)) return { ...target };
  return Object.fromEntries(Object.entries(target).filter(([key]) => keys.includes(key)));
}

/** What the patch is about, directives for lists included. */
function keysOf(patch: JsonObject): ReadonlySet<string> {
  const keys = new Set<string>();
  for (const key of Object.keys(patch)) {
    if (key === '__proto__') throw new RequestError(400, 'error decoding patch: __proto__ cannot be a key');
    if (key.startsWith(DELETE_FROM)) keys.add(key.slice(DELETE_FROM.length));
    else if (key.startsWith(ORDER)) keys.add(key.slice(ORDER.length));
    else if (!key.startsWith('$')) keys.add(key);
  }
  return keys;
}

function mergedMember(result: JsonObject, patch: JsonObject, key: string, path: string): unknown {
  const before = Object.hasOwn(result, key) ? result[key] : undefined;
  const value = Object.hasOwn(patch, key) ? patch[key] : undefined;
  const itemKey = MERGED_LISTS.get(path);
  if (itemKey !== undefined && (value === undefined || Array.isArray(value))) {
    const removed = asList(patch[`${DELETE_FROM}${key}`]);
    const order = patch[`${ORDER}${key}`];
    return mergedList({ before: asList(before), patch: asList(value), removed, order: Array.isArray(order) ? order : undefined }, itemKey);
  }
  if (isObject(value)) return merged(isObject(before) ? before : {}, value, path);
  return Object.hasOwn(patch, key) ? value : before;
}

interface ListPatch {
  readonly before: readonly unknown[];
  readonly patch: readonly unknown[];
  readonly removed: readonly unknown[];
  readonly order: readonly unknown[] | undefined;
}

function mergedList({ before, patch, removed, order }: ListPatch, itemKey: string | null): unknown[] {
  const idOf = (item: unknown) => (itemKey !== null && isObject(item) ? item[itemKey] : item);
  const items = new Map(before.map((item) => [idOf(item), item]));
  if (patch.some((item) => isObject(item) && item['$patch'] === 'replace')) return patch.filter((item) => !isDirective(item));
  for (const item of patch) {
    const id = idOf(item);
    if (isObject(item) && item['$patch'] === 'delete') items.delete(id);
    else items.set(id, mergedItem(items.get(id), item));
  }
  for (const item of removed) items.delete(item);
  const ids = inOrder({ all: [...items.keys()], asked: (order ?? patch).map(idOf), before: before.map(idOf) });
  return ids.map((id) => items.get(id));
}

/** An item that is none: it says that the others are all there is to be. */
function isDirective(item: unknown): boolean {
  return isObject(item) && Object.hasOwn(item, '$patch');
}

function mergedItem(before: unknown, item: unknown): unknown {
  if (!isObject(item)) return item;
  const { $patch: _directive, ...fields } = item;
  return { ...(isObject(before) ? before : {}), ...fields };
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
