/** What the store asks before it writes, for tests of the engine alone. */
import { equalJson, type JsonObject } from '#lib/json.ts';
import type { KindObject, ManagedFieldsEntry } from '../meta.ts';
import { identityOf } from './manager-entry.ts';
import { treeOf, withoutManagedFields } from './server-fields.ts';

/** Is the result of an apply what is stored already, the times of managedFields aside? Then there is nothing to store. */
export function isSameApplied(live: KindObject, next: KindObject): boolean {
  return (
    equalJson(withoutManagedFields(treeOf(live)), withoutManagedFields(treeOf(next))) &&
    equalJson(timeless(live.metadata.managedFields), timeless(next.metadata.managedFields))
  );
}

/** By identity, because the order depends on the times. */
function timeless(entries: readonly ManagedFieldsEntry[] | undefined): JsonObject {
  return Object.fromEntries((entries ?? []).map(({ time: _, ...entry }) => [identityOf(entry), entry]));
}
