/**
 * Field sets outlive schemas. What was owned piece by piece and is one leaf now is owned as a whole by whoever owned a piece.
 * (The other way round there is nothing to do: who owned the whole owns the container.)
 */
import { type FieldSet, isEmpty, NO_FIELDS } from './field-set.ts';
import { type FieldType, type ListType, type MapType, typeAt } from './field-type.ts';

/** The same object if nothing had to change. */
export function followSchema(type: FieldType, set: FieldSet): FieldSet {
  let out: Record<string, FieldSet> | undefined;
  for (const element in set) {
    const node = set[element];
    if (element === '.' || node === undefined || isEmpty(node)) continue;
    const followed = followNode(childType(type, element), node);
    if (followed === node) continue;
    out ??= { ...set };
    out[element] = followed;
  }
  return out ?? set;
}

function followNode(type: FieldType, node: FieldSet): FieldSet {
  const container = containerOf(type);
  if (container === undefined) return node;
  return container.isAtomic ? NO_FIELDS : followSchema(type, node);
}

/** As a value of no form would be read: a map first, a list last. Free maps had no kind to begin with. */
function containerOf({ map, scalar, list }: FieldType): MapType | ListType | undefined {
  if (map !== undefined) return isFree(map) ? undefined : map;
  return scalar === undefined ? list : undefined;
}

function isFree({ fields, others }: MapType): boolean {
  return fields.size === 0 && others?.scalar === 'untyped';
}

const UNKNOWN: FieldType = {};

function childType({ map, list }: FieldType, element: string): FieldType {
  if (map !== undefined) return element.startsWith('f:') ? typeAt(map, element.slice(2)) : (map.others ?? UNKNOWN);
  return list?.items ?? UNKNOWN;
}
