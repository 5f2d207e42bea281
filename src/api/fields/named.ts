/** Makes containers count as owned by whoever owns something in them. */
import { type FieldSet, isMember, NO_FIELDS, nodeOf } from './field-set.ts';
import { type FieldType, typeAt } from './field-type.ts';

const UNKNOWN: FieldType = {};

/** A copy in which every declared field that has children is a member too; not list items, nor keys of free maps. */
export function withNamedFields(type: FieldType, set: FieldSet): FieldSet {
  const out: Record<string, FieldSet> = {};
  for (const element in set) {
    const node = set[element];
    if (element === '.' || node === undefined) continue;
    const isNamed = element.startsWith('f:') && type.map?.fields.has(element.slice(2)) === true;
    const below = withNamedFields(childType(type, element), node);
    out[element] = nodeOf(below, isNamed || isMember(node)) ?? NO_FIELDS;
  }
  return out;
}

function childType(type: FieldType, element: string): FieldType {
  if (element.startsWith('f:') && type.map !== undefined) return typeAt(type.map, element.slice(2));
  return element.startsWith('k:') ? (type.list?.items ?? UNKNOWN) : UNKNOWN;
}
