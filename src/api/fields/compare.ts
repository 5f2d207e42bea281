/** What changed from one value to another, field by field. Parts that are the same object are not looked at. */
import { equalJson, isObject, type JsonObject } from '#lib/json.ts';
import { type FieldSet, type FieldSetDraft, insert } from './field-set.ts';
import { type FieldType, type Form, formOf, type ListType, type MapType, typeAt } from './field-type.ts';
import { groupItems } from './list-items.ts';
import { ownOf } from './own.ts';
import { fieldElement } from './path-element.ts';

export interface Comparison {
  readonly added: FieldSet;
  readonly removed: FieldSet;
  readonly modified: FieldSet;
}

interface Walk {
  readonly added: FieldSetDraft;
  readonly removed: FieldSetDraft;
  readonly modified: FieldSetDraft;
  /** Where the walk is; a stack. */
  readonly path: string[];
}

/** Both sides of one node; `undefined` = absent. */
interface Pair {
  readonly left: unknown;
  readonly right: unknown;
}

const NO_KEYS: JsonObject = {};

export function compare(type: FieldType, left: unknown, right: unknown): Comparison {
  const walk: Walk = { added: {}, removed: {}, modified: {}, path: [] };
  compareNode(walk, type, { left, right });
  return { added: walk.added, removed: walk.removed, modified: walk.modified };
}

function compareNode(walk: Walk, type: FieldType, pair: Pair): void {
  if (pair.left === pair.right) return;
  const form = formOf(type, pair.right === undefined ? pair.left : pair.right);
  const leftForm = pair.left === undefined ? form : formOf(type, pair.left);
  // Of a value that changes its form, both forms are looked at: what the old one had is gone.
  if (leftForm !== form) compareAs(walk, leftForm, type, pair);
  compareAs(walk, form, type, pair);
}

function compareAs(walk: Walk, form: Form | undefined, type: FieldType, pair: Pair): void {
  if (form === 'map' && type.map !== undefined) compareMaps(walk, type.map, pair);
  else if (form === 'list' && type.list !== undefined) compareLists(walk, type.list, pair);
  else compareLeaf(walk, pair);
}

function compareLeaf(walk: Walk, { left, right }: Pair): void {
  if (left === undefined) insert(walk.added, walk.path);
  else if (right === undefined) insert(walk.removed, walk.path);
  else if (!equalJson(left, right)) insert(walk.modified, walk.path);
}

/** A container that came or went is itself a change, besides what is in it. */
function noteContainer(walk: Walk, { left, right }: Pair): void {
  if (left === undefined) insert(walk.added, walk.path);
  else if (right === undefined) insert(walk.removed, walk.path);
}

function compareChild(walk: Walk, element: string, type: FieldType, pair: Pair): void {
  walk.path.push(element);
  compareNode(walk, type, pair);
  walk.path.pop();
}

function compareMaps(walk: Walk, map: MapType, pair: Pair): void {
  const left = isObject(pair.left) ? pair.left : NO_KEYS;
  const right = isObject(pair.right) ? pair.right : NO_KEYS;
  const leftKeys = Object.keys(left);
  const rightKeys = Object.keys(right);
  if (map.isAtomic || (leftKeys.length === 0 && rightKeys.length === 0)) {
    compareLeaf(walk, pair);
    return;
  }
  for (const key of rightKeys) {
    const before = ownOf(left, key);
    const after = ownOf(right, key);
    if (before !== after) compareChild(walk, fieldElement(key), typeAt(map, key), { left: before, right: after });
  }
  for (const key of leftKeys) {
    if (Object.hasOwn(right, key)) continue;
    compareChild(walk, fieldElement(key), typeAt(map, key), { left: ownOf(left, key), right: undefined });
  }
  noteContainer(walk, pair);
}

function compareLists(walk: Walk, list: ListType, pair: Pair): void {
  const left = Array.isArray(pair.left) ? pair.left : [];
  const right = Array.isArray(pair.right) ? pair.right : [];
  if (list.isAtomic || (left.length === 0 && right.length === 0)) {
    compareLeaf(walk, pair);
    return;
  }
  const leftGroups = groupItems(list, left);
  const rightGroups = groupItems(list, right);
  for (const [element, items] of leftGroups) compareItems(walk, list, element, { left: items, right: rightGroups.get(element) ?? [] });
  for (const [element, items] of rightGroups) {
    if (!leftGroups.has(element)) compareItems(walk, list, element, { left: [], right: items });
  }
  noteContainer(walk, pair);
}

interface ItemGroups {
  readonly left: readonly unknown[];
  readonly right: readonly unknown[];
}

/** Items that share a key cannot be compared one by one: they count as one thing, known by the item's path alone. */
function compareItems(walk: Walk, list: ListType, element: string, { left, right }: ItemGroups): void {
  if (left.length <= 1 && right.length <= 1) {
    compareChild(walk, element, list.items, { left: left[0], right: right[0] });
    return;
  }
  const path = [...walk.path, element];
  if (left.length >= 2 && right.length >= 2) {
    if (!equalJson(left, right)) insert(walk.modified, path);
  } else if (left.length >= 2) {
    compareChild(walk, element, list.items, { left: undefined, right: right[0] });
    insert(walk.removed, path);
  } else {
    compareChild(walk, element, list.items, { left: left[0], right: undefined });
    insert(walk.added, path);
  }
}
