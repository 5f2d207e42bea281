/** Kubernetes' rules for one object: what create, update and delete may change and what the server sets. Pure. */
import { FOREGROUND_FINALIZER, formatKey, type KindObject, keyOf, type ObjectMeta, ORPHAN_FINALIZER } from '#api/meta.ts';
import { heldWhileEnding, isHeldBySpec, isNamespace } from '#api/namespace.ts';
import { ConflictError, type FieldProblem, InvalidError } from '#lib/errors.ts';
import { equalJson, type JsonObject } from '#lib/json.ts';

export interface DeleteRequest {
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

/** What the request took for granted is not, or no longer, so. */
export class PreconditionError extends ConflictError {
  readonly mismatch: Mismatch;

  constructor(message: string, mismatch: Mismatch) {
    const { field, actual, asked } = mismatch;
    super(message, {
      ...(field === 'uid' ? { reason: 'UidChanged' } : {}),
      hint: `the current ${field} is ${actual}, the request has ${asked}`,
    });
    this.mismatch = mismatch;
  }
}

export interface Mismatch {
  readonly field: 'uid' | 'resourceVersion';
  readonly asked: string;
  readonly actual: string;
}

/** An object whose name, namespace and kind are known, ready to be stored for the first time; the store stamps the version. */
export function created(draft: KindObject, uid: string, now: string): KindObject {
  const { status: _status, metadata, ...rest } = draft;
  const { deletionTimestamp: _deletion, deletionGracePeriodSeconds: _grace, ...kept } = metadata;
  return { ...rest, metadata: { ...kept, uid, resourceVersion: '', generation: 1, creationTimestamp: now } };
}

/** The object with these finalizers as well. */
export function held(object: KindObject, finalizers: readonly string[]): KindObject {
  const own = object.metadata.finalizers ?? [];
  const missing = finalizers.filter((name) => !own.includes(name));
  return missing.length === 0 ? object : { ...object, metadata: { ...object.metadata, finalizers: [...own, ...missing] } };
}

/** Who may still write: the version and uid in the request must be the current ones where they are given. */
export function checkPreconditions(current: KindObject, asked: { readonly uid?: string; readonly resourceVersion?: string }): void {
  if (asked.uid !== undefined && asked.uid !== '' && asked.uid !== current.metadata.uid) {
    throw new PreconditionError(
      `${formatKey(keyOf(current))}: the uid ${asked.uid} is not that of the stored object, ${current.metadata.uid}`,
      { field: 'uid', asked: asked.uid, actual: current.metadata.uid },
    );
  }
  if (asked.resourceVersion !== undefined && asked.resourceVersion !== current.metadata.resourceVersion) {
    throw new PreconditionError(
      `${formatKey(keyOf(current))}: the object has been modified; please apply your changes to the latest version and try again`,
      { field: 'resourceVersion', asked: asked.resourceVersion, actual: current.metadata.resourceVersion },
    );
  }
}

/** Spec and metadata of `next` over `current`; status stays. */
export function updated(current: KindObject, next: KindObject): KindObject {
  // Who sends back what they were given has nothing in it that is not theirs to set.
  if (next.metadata === current.metadata && next.status === current.status) return next;
  const { deletionTimestamp: _deletion, deletionGracePeriodSeconds: _grace, ...asked } = next.metadata;
  const metadata: ObjectMeta = { ...asked, ...systemMetadata(current.metadata) };
  if (current.metadata.deletionTimestamp !== undefined) refuseNewFinalizers(current, metadata);
  const { status: _ignored, ...rest } = next;
  return current.status === undefined ? { ...rest, metadata } : { ...rest, metadata, status: current.status };
}

/**
 * The next generation if it asks for something else. After admission, or a default left out of a request would count as a change;
 * which also takes it from kinds that have none.
 */
export function withGeneration(current: KindObject, admitted: KindObject): KindObject {
  if (admitted.metadata.generation === undefined || equalMembers(current, admitted, ['metadata', 'status'])) return admitted;
  return { ...admitted, metadata: { ...admitted.metadata, generation: current.metadata.generation + 1 } };
}

/** Status of `next` over `current`; everything else stays, managedFields aside. Of a namespace the metadata is taken as well. */
export function statusUpdated(current: KindObject, next: KindObject): KindObject {
  const metadata = isNamespace(current) ? updated(current, next).metadata : trackedMetadata(current.metadata, next.metadata);
  const { status: _old, ...rest } = current;
  return next.status === undefined ? { ...rest, metadata } : { ...rest, metadata, status: next.status };
}

function trackedMetadata(current: ObjectMeta, { managedFields }: ObjectMeta): ObjectMeta {
  return managedFields === undefined ? current : { ...current, managedFields };
}

/** The object marked for deletion, or undefined when nothing holds it and it can go at once. */
export function marked(current: KindObject, request: DeleteRequest, now: string): KindObject | undefined {
  const finalizers = withPropagation(current.metadata.finalizers ?? [], request.propagationPolicy);
  if (finalizers.length === 0 && !isHeldBySpec(current)) return undefined;
  const metadata: ObjectMeta = { ...current.metadata, finalizers };
  if (finalizers.length === 0) delete metadata.finalizers;
  if (metadata.deletionTimestamp === undefined) {
    metadata.deletionTimestamp = now;
    metadata.deletionGracePeriodSeconds = 0;
    // Kinds that do not count generations have none to count on.
    if (metadata.generation !== undefined) metadata.generation += 1;
  }
  return heldWhileEnding({ ...current, metadata });
}

/** Deletion was asked for and the last finalizer is gone. */
export function isReleased(object: KindObject): boolean {
  const { deletionTimestamp, finalizers = [] } = object.metadata;
  return deletionTimestamp !== undefined && finalizers.length === 0 && !isHeldBySpec(object);
}

/** Equal but for the version and the times inside managedFields: writing it would tell nobody anything. */
export function isSame(a: KindObject, b: KindObject): boolean {
  return (
    equalMembers(a, b, ['metadata']) &&
    equalMembers(a.metadata, b.metadata, ['resourceVersion', 'managedFields']) &&
    (a.metadata.managedFields === b.metadata.managedFields || equalJson(withoutTimes(a.metadata), withoutTimes(b.metadata)))
  );
}

function withoutTimes({ managedFields }: ObjectMeta): unknown {
  return managedFields?.map(({ time: _time, ...entry }) => entry);
}

function equalMembers(a: object, b: object, except: readonly string[]): boolean {
  const left = a as JsonObject;
  const right = b as JsonObject;
  for (const key in left) if (!except.includes(key) && !equalJson(left[key], right[key])) return false;
  for (const key in right) if (left[key] === undefined && right[key] !== undefined && !except.includes(key)) return false;
  return true;
}

function systemMetadata(current: ObjectMeta): Partial<ObjectMeta> & { name: string; namespace: string } {
  const { name, namespace, uid, resourceVersion, generation, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds } = current;
  return {
    name,
    namespace,
    uid,
    resourceVersion,
    generation,
    creationTimestamp,
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp, deletionGracePeriodSeconds: deletionGracePeriodSeconds ?? 0 }),
  };
}

function refuseNewFinalizers(current: KindObject, metadata: ObjectMeta): void {
  const before = new Set(current.metadata.finalizers ?? []);
  const added = (metadata.finalizers ?? []).filter((name) => !before.has(name));
  if (added.length === 0) return;
  const problem: FieldProblem = {
    path: 'metadata.finalizers',
    segments: ['metadata', 'finalizers'],
    kind: 'Forbidden',
    message: `Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{${added.map((name) => JSON.stringify(name)).join(', ')}}`,
  };
  throw new InvalidError(`${formatKey(keyOf(current))}: ${problem.path}: ${problem.message}`, [problem]);
}

const PROPAGATION_FINALIZERS = { Background: [], Foreground: [FOREGROUND_FINALIZER], Orphan: [ORPHAN_FINALIZER] } as const;

/** A request that names no policy keeps the one asked for before; one that does replaces it, Background by none. */
function withPropagation(finalizers: string[], policy: DeleteRequest['propagationPolicy']): string[] {
  if (policy === undefined) return finalizers;
  const others = finalizers.filter((name) => name !== FOREGROUND_FINALIZER && name !== ORPHAN_FINALIZER);
  const next = [...others, ...PROPAGATION_FINALIZERS[policy]];
  const isSameSet = next.length === finalizers.length && next.every((name) => finalizers.includes(name));
  return isSameSet ? finalizers : next;
}
