/** Kubernetes' rules for one object: what create, update and delete may change and what the server sets. Pure. */
import { formatKey, type KindObject, keyOf, type ObjectMeta } from '#api/meta.ts';
import { ConflictError, type FieldProblem, InvalidError } from '#lib/errors.ts';
import { equalJson, isObject, type JsonObject } from '#lib/json.ts';

export const FOREGROUND_FINALIZER = 'foregroundDeletion';
export const ORPHAN_FINALIZER = 'orphan';

export interface DeleteRequest {
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

/** An object whose name, namespace and kind are known, ready to be stored for the first time; the store stamps the version. */
export function created(draft: KindObject, uid: string, now: string): KindObject {
  const { status: _status, metadata, ...rest } = draft;
  const { deletionTimestamp: _deletion, deletionGracePeriodSeconds: _grace, ...kept } = metadata;
  return { ...rest, metadata: { ...kept, uid, resourceVersion: '', generation: 1, creationTimestamp: now } };
}

/** Who may still write: the version and uid in the request must be the current ones where they are given. */
export function checkPreconditions(current: KindObject, asked: { readonly uid?: string; readonly resourceVersion?: string }): void {
  if (asked.uid !== undefined && asked.uid !== '' && asked.uid !== current.metadata.uid) {
    throw new ConflictError(
      `${formatKey(keyOf(current))}: the uid ${asked.uid} is not that of the stored object, ${current.metadata.uid}`,
      {
        reason: 'UidChanged',
      },
    );
  }
  if (asked.resourceVersion !== undefined && asked.resourceVersion !== current.metadata.resourceVersion) {
    throw new ConflictError(
      `${formatKey(keyOf(current))}: the object has been modified; please apply your changes to the latest version and try again`,
      { hint: `the current resourceVersion is ${current.metadata.resourceVersion}, the request has ${asked.resourceVersion}` },
    );
  }
}

/** Spec and metadata of `next` over `current`; status stays. */
export function updated(current: KindObject, next: KindObject): KindObject {
  const metadata: ObjectMeta = { ...next.metadata, ...systemMetadata(current.metadata) };
  if (current.metadata.deletionTimestamp !== undefined) refuseNewFinalizers(current, metadata);
  const { status: _ignored, ...rest } = next;
  const object: KindObject = current.status === undefined ? { ...rest, metadata } : { ...rest, metadata, status: current.status };
  if (!equalJson(desired(current), desired(object))) metadata.generation = current.metadata.generation + 1;
  return object;
}

/** Status of `next` over `current`; everything else stays, managedFields aside. */
export function statusUpdated(current: KindObject, next: KindObject): KindObject {
  const metadata =
    next.metadata.managedFields === undefined ? current.metadata : { ...current.metadata, managedFields: next.metadata.managedFields };
  const { status: _old, ...rest } = current;
  return next.status === undefined ? { ...rest, metadata } : { ...rest, metadata, status: next.status };
}

/** The object marked for deletion, or undefined when nothing holds it and it can go at once. */
export function marked(current: KindObject, request: DeleteRequest, now: string): KindObject | undefined {
  const finalizers = withPropagation(current.metadata.finalizers ?? [], request.propagationPolicy);
  if (finalizers.length === 0) return undefined;
  const metadata: ObjectMeta = { ...current.metadata, finalizers };
  if (metadata.deletionTimestamp === undefined) {
    metadata.deletionTimestamp = now;
    metadata.deletionGracePeriodSeconds = 0;
    metadata.generation = current.metadata.generation + 1;
  }
  return { ...current, metadata };
}

/** Deletion was asked for and the last finalizer is gone. */
export function isReleased(object: KindObject): boolean {
  return object.metadata.deletionTimestamp !== undefined && (object.metadata.finalizers ?? []).length === 0;
}

/** Equal but for the version and the times inside managedFields: writing it would tell nobody anything. */
export function isSame(a: KindObject, b: KindObject): boolean {
  const { metadata: metadataA, ...restA } = a;
  const { metadata: metadataB, ...restB } = b;
  return equalJson(comparableMetadata(metadataA), comparableMetadata(metadataB)) && equalJson(restA, restB);
}

function comparableMetadata({ resourceVersion: _version, managedFields, ...rest }: ObjectMeta): JsonObject {
  return { ...rest, managedFields: managedFields?.map(({ time: _time, ...entry }) => entry) };
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
    message: `no new finalizers can be added if the object is being deleted, found new finalizers ${JSON.stringify(added)}`,
  };
  throw new InvalidError(`${formatKey(keyOf(current))}: ${problem.path}: ${problem.message}`, [problem]);
}

function withPropagation(finalizers: readonly string[], policy: DeleteRequest['propagationPolicy']): string[] {
  const wanted = policy === 'Foreground' ? FOREGROUND_FINALIZER : policy === 'Orphan' ? ORPHAN_FINALIZER : undefined;
  const others = finalizers.filter((name) => wanted === undefined || (name !== FOREGROUND_FINALIZER && name !== ORPHAN_FINALIZER));
  return wanted === undefined ? others : [...others, wanted];
}

/** Everything a person asks for: the object without metadata and status. */
function desired(object: KindObject): JsonObject {
  const { metadata: _metadata, status: _status, ...rest } = object;
  return isObject(rest) ? rest : {};
}
