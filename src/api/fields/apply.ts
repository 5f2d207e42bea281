/** Server-side apply: merges a configuration into the stored object, and records what its manager owns from now on. */
import { equalJson, isObject, type JsonObject } from '#lib/json.ts';
import type { KindObject, ManagedFieldsEntry } from '../meta.ts';
import type { Schema } from '../schema.ts';
import { typedProblems } from './check-typed.ts';
import { compare } from './compare.ts';
import { isEmpty } from './field-set.ts';
import { type FieldType, typeOf } from './field-type.ts';
import { identityOf, makeEntry } from './manager-entry.ts';
import { bringUpToDate, type Managers, readManagers, writeManagers } from './managers.ts';
import { merge } from './merge.ts';
import { prune } from './prune.ts';
import { trackedPart, treeOf, withoutManagedFields } from './server-fields.ts';
import { setOfValue } from './set-of-value.ts';
import { refuseConflicts, takeChanged, withoutServerFields } from './settle.ts';
import { trackChanges, type Writer } from './track.ts';
import { TypedPatchError } from './typed-error.ts';
import { applyWithUpgrade, syncLastApplied } from './upgrade.ts';

export interface ApplyRequest {
  readonly schema: Schema;
  /** The stored object; undefined = the apply creates it. */
  readonly live: KindObject | undefined;
  /** The parsed body. Its resourceVersion is a precondition for the caller to check; it is not merged. */
  readonly config: KindObject;
  readonly writer: Writer;
  readonly force: boolean;
}

/**
 * The merged object with its managedFields, before defaulting and validation; fields that the endpoint or the server sets are for the
 * caller to put back. Throws TypedPatchError, and FieldConflictError unless forced.
 */
export function applyConfig(request: ApplyRequest): KindObject {
  const { schema, live, config, writer, force } = request;
  const type = typeOf(schema);
  refuseUntyped(type, 'patch', config);
  if (live !== undefined) refuseUntyped(type, 'live', live);
  const result = applyWithUpgrade({ type, manager: writer.manager, live }, (isForced) => mergeConfig(request, force || isForced));
  return syncLastApplied(result, config, writer.manager);
}

function refuseUntyped(type: FieldType, role: 'patch' | 'live', obj: KindObject): void {
  const problems = typedProblems(type, treeOf(obj), { allowsDuplicates: role === 'live' });
  if (problems.length > 0) throw new TypedPatchError(role, obj, problems);
}

function mergeConfig({ schema, live, config, writer }: ApplyRequest, isForced: boolean): KindObject {
  const type = typeOf(schema);
  const managers = liveManagers(schema, live, writer);
  const me = { ...writer, operation: 'Apply' } as const;
  const id = identityOf(me);
  const last = managers.get(id);
  const before = live === undefined ? {} : withoutManagedFields(treeOf(live));
  const merged = toTree(merge(type, before, mergeable(config)));
  const set = setOfValue(type, trackedPart(treeOf(config), writer.subresource));
  managers.set(id, { entry: makeEntry(me), set });
  const next = last === undefined || isEmpty(last.set) ? merged : prune(type, { merged, managers, last: last.set });

  const changes = compare(type, trackedPart(before, writer.subresource), trackedPart(next, writer.subresource));
  if (!isForced) refuseConflicts(managers, id, changes);
  takeChanged(managers, id, changes);
  const owned = withoutServerFields(set);
  // As upstream: the time is that of the last change of the object. Who only came to own, or gave up, what is there has made none.
  const time = equalJson(before, next) ? last?.entry.time : writer.now;
  managers.set(id, { entry: makeEntry({ ...me, time }), set: owned });
  return withManagedFields(next, writeManagers(managers));
}

/** An object without a record gets one at its first apply: all it has belongs to whoever wrote it before. */
function liveManagers(schema: Schema, live: KindObject | undefined, writer: Writer): Managers {
  const managers: Managers = readManagers(live?.metadata.managedFields) ?? new Map();
  if (live !== undefined && managers.size === 0) {
    trackChanges(schema, { live: undefined, next: live, writer: { ...writer, manager: 'before-first-apply' }, managers });
  }
  bringUpToDate(managers, typeOf(schema), writer.apiVersion);
  return managers;
}

function mergeable(config: KindObject): JsonObject {
  const tree = withoutManagedFields(treeOf(config));
  if (!isObject(tree['metadata'])) return tree;
  const { resourceVersion: _, ...metadata } = tree['metadata'];
  return { ...tree, metadata };
}

function toTree(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

function withManagedFields(tree: JsonObject, managedFields: ManagedFieldsEntry[] | undefined): KindObject {
  const metadata = { ...toTree(tree['metadata']), ...(managedFields !== undefined && { managedFields }) };
  // Merged from two objects of the kind; what is still missing is for the caller's validation to find.
  return { ...tree, metadata } as unknown as KindObject;
}
