/** A value without the fields of a set. */
import { isObject, type JsonObject } from '#lib/json.ts';
import { type FieldSet, isEmpty, isMember } from './field-set.ts';
import { type FieldType, formOf, type ListType, type MapType, typeAt } from './field-type.ts';
import { itemElement } from './list-items.ts';
import { ownOf, setOwn } from './own.ts';
import { fieldElement } from './path-element.ts';

export function removeFields(type: FieldType, value: JsonObject, set: FieldSet): JsonObject {
  if (isEmpty(set)) return value;
  const rest = remove(type, value, set);
  return isObject(rest) ? rest : {};
}

/** What is emptied on the way becomes null, not absent: upstream does so, and defaulting cleans it up. */
function remove(type: FieldType, value: unknown, set: FieldSet): unknown {
  switch (formOf(type, value)) {
    case 'list':
      return type.list !== undefined && Array.isArray(value) ? removeItems(type.list, value, set) : null;
    case 'map':
      return type.map !== undefined && isObject(value) ? removeKeys(type.map, value, set) : null;
    default:
      return value;
  }
}

function removeItems(list: ListType, items: readonly unknown[], set: FieldSet): unknown {
  if (list.isAtomic) return null;
  const out: unknown[] = [];
  for (const item of items) {
    const node = set[itemElement(list, item)];
    if (node === undefined) out.push(item);
    else if (!isMember(node)) out.push(remove(list.items, item, node));
  }
  return out.length === 0 ? null : out;
}

function removeKeys(map: MapType, value: JsonObject, set: FieldSet): unknown {
  if (map.isAtomic) return null;
  const out: JsonObject = {};
  let count = 0;
  for (const key of Object.keys(value)) {
    const member = ownOf(value, key);
    const node = set[fieldElement(key)];
    if (member === undefined || (node !== undefined && isMember(node))) continue;
    setOwn(out, key, node === undefined ? member : remove(typeAt(map, key), member, node));
    count++;
  }
  return count === 0 ? null : out;
}
