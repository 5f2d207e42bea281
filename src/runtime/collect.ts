/**
 * The garbage collector's judgement of one object, on live reads only and by uid only: is it to be deleted because its owners are gone,
 * or is it an owner whose deletion waits for its dependents?
 */
import { FOREGROUND_FINALIZER, type KindObject, keyOf, type ObjectKey, ORPHAN_FINALIZER, type OwnerReference } from '#api/meta.ts';
import type { Client, DeleteOptions } from '#client/client.ts';
import { AgentisoError, ignoreNotFound, isCode } from '#lib/errors.ts';

/** 'waiting': being deleted in the foreground, so it wants its dependents gone first. 'unknown': not ours to tell, so taken as live. */
export type OwnerState = 'live' | 'waiting' | 'absent' | 'unknown';

/** 'release': it lives on without the owners that are gone or going. */
export type Verdict = 'keep' | 'release' | 'delete' | 'deleteWithDependents';

export interface CollectDeps {
  readonly client: Client;
  /** Where owners and dependents are looked for. */
  readonly kinds: readonly string[];
}

/** One look at one object. Throws what calls for another look. */
export async function collect(deps: CollectDeps, key: ObjectKey): Promise<void> {
  const object = await ignoreNotFound(deps.client.get<KindObject>(key));
  if (!object) return;
  if (isWaiting(object, ORPHAN_FINALIZER)) await orphanDependents(deps, object);
  else if (isWaiting(object, FOREGROUND_FINALIZER)) await deleteDependents(deps, object);
  else await collectDependent(deps, object);
}

/** Its deletion was asked for, and the collector has to act before it can end. */
export function waitsForCollector(object: KindObject): boolean {
  return isWaiting(object, ORPHAN_FINALIZER) || isWaiting(object, FOREGROUND_FINALIZER);
}

async function orphanDependents(deps: CollectDeps, owner: KindObject): Promise<void> {
  const dependents = await listDependents(deps, owner);
  await all(dependents.map((dependent) => dropOwners(deps.client, dependent, new Set([owner.metadata.uid]))));
  await dropFinalizer(deps.client, owner, ORPHAN_FINALIZER);
}

/** The owner goes when no dependent blocks it any more; the change of the last one brings the next look. */
async function deleteDependents(deps: CollectDeps, owner: KindObject): Promise<void> {
  const dependents = await listDependents(deps, owner);
  await all(dependents.map((dependent) => collectDependent(deps, dependent)));
  const left = await listDependents(deps, owner);
  if (!left.some((dependent) => blocks(dependent, owner))) await dropFinalizer(deps.client, owner, FOREGROUND_FINALIZER);
}

async function collectDependent(deps: CollectDeps, object: KindObject): Promise<void> {
  const { ownerReferences: owners = [], deletionTimestamp, uid, resourceVersion } = object.metadata;
  if (owners.length === 0 || deletionTimestamp !== undefined) return;
  const states = await Promise.all(owners.map((owner) => ownerState(deps, object, owner)));
  const verdict = judge(states);
  if (verdict === 'release') await dropOwners(deps.client, object, goneOwners(owners, states));
  if (verdict === 'delete' || verdict === 'deleteWithDependents') {
    const propagationPolicy = await policyFor(deps, object, verdict);
    // The version too: an owner added in this moment must save it.
    const options: DeleteOptions = { propagationPolicy, preconditions: { uid, resourceVersion } };
    await ignoreNotFound(deps.client.delete(keyOf(object), options));
  }
}

/** Pure: what the states of all owners mean for an object. */
export function judge(states: readonly OwnerState[]): Verdict {
  const kept = states.some((state) => state === 'live' || state === 'unknown');
  if (kept) return states.some((state) => state === 'absent' || state === 'waiting') ? 'release' : 'keep';
  return states.includes('waiting') ? 'deleteWithDependents' : 'delete';
}

async function ownerState({ client, kinds }: CollectDeps, object: KindObject, { kind, name, uid }: OwnerReference): Promise<OwnerState> {
  if (!kinds.includes(kind)) return 'unknown';
  const owner = await ignoreNotFound(client.get<KindObject>({ kind, namespace: object.metadata.namespace, name }));
  if (owner?.metadata.uid !== uid) return 'absent';
  return isWaiting(owner, FOREGROUND_FINALIZER) ? 'waiting' : 'live';
}

/**
 * Foreground goes down the tree only while there is somebody further down who is not being deleted yet:
 * in a circle of owners everybody would otherwise wait for everybody.
 */
async function policyFor(deps: CollectDeps, object: KindObject, verdict: Verdict): Promise<'Background' | 'Foreground' | 'Orphan'> {
  const finalizers = object.metadata.finalizers ?? [];
  if (finalizers.includes(ORPHAN_FINALIZER)) return 'Orphan';
  if (finalizers.includes(FOREGROUND_FINALIZER)) return 'Foreground';
  if (verdict === 'delete') return 'Background';
  const dependents = await listDependents(deps, object);
  return dependents.some(({ metadata }) => metadata.deletionTimestamp === undefined) ? 'Foreground' : 'Background';
}

async function listDependents({ client, kinds }: CollectDeps, owner: KindObject): Promise<KindObject[]> {
  const { uid, namespace } = owner.metadata;
  const lists = await Promise.all(kinds.map((kind) => client.list<KindObject>(kind, { namespace })));
  return lists.flatMap(({ items }) => items.filter((object) => object.metadata.uid !== uid && refersTo(object, uid)));
}

async function dropOwners(client: Client, object: KindObject, uids: ReadonlySet<string>): Promise<void> {
  const { ownerReferences = [], ...rest } = object.metadata;
  const left = ownerReferences.filter(({ uid }) => !uids.has(uid));
  await ignoreNotFound(client.update({ ...object, metadata: left.length === 0 ? rest : { ...rest, ownerReferences: left } }));
}

async function dropFinalizer(client: Client, object: KindObject, finalizer: string): Promise<void> {
  const finalizers = (object.metadata.finalizers ?? []).filter((name) => name !== finalizer);
  await ignoreNotFound(client.update({ ...object, metadata: { ...object.metadata, finalizers } }));
}

/** One dependent in trouble does not hold up the others; a change in between is no trouble, but needs another look. */
async function all(work: readonly Promise<void>[]): Promise<void> {
  const failures = (await Promise.allSettled(work)).flatMap((settled) => (settled.status === 'rejected' ? [settled.reason] : []));
  const [first] = failures;
  if (first === undefined) return;
  if (failures.every((error) => isCode(error, 'Conflict'))) throw first;
  throw new AgentisoError('Unavailable', `${failures.length} of ${work.length} dependents could not be released or deleted`, {
    cause: first,
  });
}

function goneOwners(owners: readonly OwnerReference[], states: readonly OwnerState[]): ReadonlySet<string> {
  return new Set(owners.filter((_, index) => states[index] === 'absent' || states[index] === 'waiting').map(({ uid }) => uid));
}

function isWaiting({ metadata }: KindObject, finalizer: string): boolean {
  return metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes(finalizer);
}

function refersTo({ metadata }: KindObject, uid: string): boolean {
  return (metadata.ownerReferences ?? []).some((owner) => owner.uid === uid);
}

function blocks({ metadata }: KindObject, owner: KindObject): boolean {
  return (metadata.ownerReferences ?? []).some(({ uid, blockOwnerDeletion }) => uid === owner.metadata.uid && blockOwnerDeletion);
}
