/** The fields that a value mentions: what its author would own. */
import { isObject, type JsonObject } from '#lib/json.ts';
import { type FieldSet, NO_FIELDS, nodeOf } from './field-set.ts';
import { type FieldType, formOf, type ListType, type MapType, typeAt } from './field-type.ts';
import { groupItems } from './list-items.ts';
import { ownOf } from './own.ts';
import { fieldElement } from './path-element.ts';

export function setOfValue(type: FieldType, value: unknown): FieldSet {
  return walk(type, value).below;
}

/** Of one node: whether it is a leaf, and the set below it. */
interface Walked {
  readonly isLeaf: boolean;
  readonly below: FieldSet;
}

/** Pruning can leave nothing of an item. It has no name any more, but its list is not empty. */
const NAMELESS = '?:';
const LEAF: Walked = { isLeaf: true, below: NO_FIELDS };
const NOTHING: Walked = { isLeaf: false, below: NO_FIELDS };

function walk(type: FieldType, value: unknown): Walked {
  switch (formOf(type, value)) {
    case 'scalar':
      return LEAF;
    case 'list':
      return walkList(type.list, value);
    case 'map':
      return walkMap(type.map, value);
    default:
      return NOTHING;
  }
}

function walkList(list: ListType | undefined, value: unknown): Walked {
  if (list === undefined || list.isAtomic) return LEAF;
  if (!Array.isArray(value)) return NOTHING;
  const below: Record<string, FieldSet> = {};
  const named = value.filter((item) => item !== null);
  if (named.length < value.length) below[NAMELESS] = NO_FIELDS;
  for (const [element, items] of groupItems(list, named)) {
    const inside = items.length === 1 ? walk(list.items, items[0]).below : NO_FIELDS;
    below[element] = nodeOf(inside, true) ?? NO_FIELDS;
  }
  return { isLeaf: false, below };
}

function walkMap(map: MapType | undefined, value: unknown): Walked {
  if (map === undefined || map.isAtomic) return LEAF;
  if (!isObject(value)) return NOTHING;
  const below: Record<string, FieldSet> = {};
  for (const key of Object.keys(value)) {
    const member = ownOf(value, key);
    if (member === undefined) continue;
    const { isLeaf, below: inside } = walk(typeAt(map, key), member);
    const node = nodeOf(inside, isLeaf || isNothing(member) || !map.fields.has(key));
    if (node !== undefined) below[fieldElement(key)] = node;
  }
  return { isLeaf: false, below };
}

function isNothing(member: unknown): boolean {
  return member === null || (isObject(member) && isEmptyMap(member));
}

function isEmptyMap(map: JsonObject): boolean {
  return Object.keys(map).length === 0;
}
