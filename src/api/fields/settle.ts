/** Takes what a write changed from those who owned it. */
import type { Comparison } from './compare.ts';
import { FieldConflictError } from './conflict.ts';
import { difference, type FieldSet, intersection, isEmpty, pathsOf, union } from './field-set.ts';
import type { Managers } from './managers.ts';
import { SERVER_FIELDS } from './server-fields.ts';

/** Throws FieldConflictError if anybody but `me` owns a field that was changed. */
export function refuseConflicts(managers: Managers, me: string, { modified, added }: Comparison): void {
  const changed = union(modified, added);
  const conflicts = [...managers].flatMap(([id, { entry, set }]) =>
    id === me ? [] : pathsOf(intersection(set, changed)).map((path) => ({ owner: entry, path })),
  );
  if (conflicts.length > 0) throw new FieldConflictError(conflicts);
}

/** Changes `managers`: everybody but `me` loses what was changed or removed. Who owns nothing any more goes. */
export function takeChanged(managers: Managers, me: string | undefined, { modified, added, removed }: Comparison): void {
  const touched = union(union(modified, added), removed);
  for (const [id, { entry, set }] of managers) {
    const rest = id === me ? set : difference(set, touched);
    if (isEmpty(rest)) managers.delete(id);
    else if (rest !== set) managers.set(id, { entry, set: rest });
  }
}

export function withoutServerFields(set: FieldSet): FieldSet {
  return difference(set, SERVER_FIELDS);
}
