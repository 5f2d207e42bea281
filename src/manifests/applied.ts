/** What this process last applied, and whether it still stands. Pure. */
import type { Draft, KindObject, ManagedFieldsEntry, ObjectMeta } from '#api/meta.ts';
import { equalJson } from '#lib/json.ts';
import type { Declaration } from './directory-reader.ts';
import type { Problem } from './problem.ts';

export interface Applied {
  readonly config: Draft;
  readonly fieldManager: string;
  readonly file: string;
  readonly atMs: number;
  /** As it came out of the store; absent when it was refused. */
  readonly object?: KindObject;
  readonly failure?: Failure;
}

export interface Failure {
  readonly problem: Problem;
  /** Which object it was refused for: another one, or one that was changed, is another case. */
  readonly against: string;
  readonly retryMs: number;
}

/** Somebody who keeps changing a declared field is put right this often, not as fast as two programs can fight. */
const DRIFT_MS = 1_000;

/** How soon the declaration has to be applied; undefined when there is nothing to do. */
export function applyInMs(
  declaration: Pick<Declaration, 'config' | 'fieldManager'>,
  live: KindObject | undefined,
  { applied, nowMs }: { readonly applied: Applied | undefined; readonly nowMs: number },
): number | undefined {
  // Its end comes first; then it is made again.
  if (live?.metadata.deletionTimestamp !== undefined) return undefined;
  if (!applied || applied.config !== declaration.config || applied.fieldManager !== declaration.fieldManager) return 0;
  if (applied.failure) {
    return applied.failure.against === caseOf(live) ? Math.max(0, applied.atMs + applied.failure.retryMs - nowMs) : 0;
  }
  if (!live) return 0;
  return stands(applied, live) ? undefined : Math.max(0, applied.atMs + DRIFT_MS - nowMs);
}

export function caseOf(live: KindObject | undefined): string {
  return live ? `${live.metadata.uid} ${live.metadata.generation}` : '';
}

/** Nobody touched what the manifest says. Status and finalizers of controllers move all the time and are no reason to apply. */
function stands({ object, config, fieldManager }: Applied, live: KindObject): boolean {
  if (object?.metadata.uid === live.metadata.uid && object.metadata.resourceVersion === live.metadata.resourceVersion) return true;
  if (!object || object.metadata.uid !== live.metadata.uid || object.metadata.generation !== live.metadata.generation) return false;
  const entry = entryOf(live, fieldManager);
  return entry !== undefined && equalJson(entry.fieldsV1, entryOf(object, fieldManager)?.fieldsV1) && says(live.metadata, config.metadata);
}

function says(live: Partial<ObjectMeta>, { labels, annotations, finalizers, ownerReferences }: Partial<ObjectMeta>): boolean {
  return (
    Object.entries(labels ?? {}).every(([name, value]) => live.labels?.[name] === value) &&
    Object.entries(annotations ?? {}).every(([name, value]) => live.annotations?.[name] === value) &&
    (finalizers ?? []).every((name) => live.finalizers?.includes(name)) &&
    (ownerReferences ?? []).every(({ uid }) => live.ownerReferences?.some((owner) => owner.uid === uid))
  );
}

/** The record of who applied an object is in the object, so that it is known after a restart without being kept twice. */
export function isAppliedBy(object: KindObject, fieldManager: string): boolean {
  return entryOf(object, fieldManager) !== undefined;
}

function entryOf({ metadata }: KindObject, fieldManager: string): ManagedFieldsEntry | undefined {
  return metadata.managedFields?.find(({ manager, operation }) => manager === fieldManager && operation === 'Apply');
}
