/** Lays one value over another: what the right side says wins, what it does not mention stays. */
import { definedKeys, isObject, type JsonObject } from '#lib/json.ts';
import { type FieldType, formOf, type ListType, type MapType, typeAt } from './field-type.ts';
import { groupItems, itemElement } from './list-items.ts';
import { mergeOrder } from './merge-order.ts';
import { ownOf, setOwn } from './own.ts';

/** `undefined` on one side means that it says nothing. Shares parts with both sides. */
export function merge(type: FieldType, left: unknown, right: unknown): unknown {
  if (right === undefined) return left;
  if (left === undefined || left === right) return right;
  const form = formOf(type, right);
  if (form === 'list' && type.list !== undefined) return mergeLists(type.list, left, right);
  if (form === 'map' && type.map !== undefined) return mergeMaps(type.map, left, right);
  return right;
}

function mergeMaps(map: MapType, left: unknown, right: unknown): unknown {
  const mine = mapOf(left);
  const theirs = mapOf(right);
  const keys = new Set([...definedKeys(mine), ...definedKeys(theirs)]);
  if (map.isAtomic || keys.size === 0) return right;
  const out: JsonObject = {};
  for (const key of keys) setOwn(out, key, merge(typeAt(map, key), ownOf(mine, key), ownOf(theirs, key)));
  return out;
}

/** What is no map (null above all) says nothing about keys: it does not clear them. */
function mapOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

function mergeLists(list: ListType, left: unknown, right: unknown): unknown {
  const mine = Array.isArray(left) ? left : [];
  const theirs = Array.isArray(right) ? right : [];
  if (list.isAtomic || (mine.length === 0 && theirs.length === 0)) return right;
  const leftGroups = groupItems(list, mine);
  const rightItems = new Map(theirs.map((item) => [itemElement(list, item), item]));
  const order = mergeOrder(
    mine.map((item) => itemElement(list, item)),
    [...rightItems.keys()],
  );
  return order.map(({ element, leftIndex }) => {
    if (leftIndex !== undefined) return mine[leftIndex];
    const group = leftGroups.get(element);
    // Duplicates cannot be merged with one item: it replaces them.
    return merge(list.items, group?.length === 1 ? group[0] : undefined, rightItems.get(element));
  });
}
