/** Takes out of a merged object what its applier owned and no longer mentions, unless somebody else owns it. */
import type { JsonObject } from '#lib/json.ts';
import { difference, type FieldSet, intersection, NO_FIELDS, union } from './field-set.ts';
import type { FieldType } from './field-type.ts';
import type { Managers } from './managers.ts';
import { withNamedFields } from './named.ts';
import { removeFields } from './remove.ts';
import { setOfValue } from './set-of-value.ts';

interface Pruning {
  readonly merged: JsonObject;
  /** With the applier's new set. */
  readonly managers: Managers;
  /** What the applier owned before. */
  readonly last: FieldSet;
}

export function prune(type: FieldType, { merged, managers, last }: Pruning): JsonObject {
  const named = (set: FieldSet) => withNamedFields(type, set);
  const fieldsOf = (value: JsonObject) => named(setOfValue(type, value));
  const lastNamed = named(last);
  const all = fieldsOf(merged);
  const owned = [...managers.values()].reduce((sum, { set }) => union(sum, set), NO_FIELDS);
  const bare = removeFields(type, merged, lastNamed);
  const kept = removeFields(type, merged, difference(all, union(fieldsOf(bare), named(owned))));
  return removeFields(type, merged, intersection(difference(all, fieldsOf(kept)), lastNamed));
}
