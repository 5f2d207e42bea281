/**
 * Which changes of its agents and tasks a team has to look at. Most are of no interest to it: times, progress, results, mail. Pure.
 * Whatever a pass reads of them has to be named here.
 */
import { type KindObject, keyOf } from '#api/meta.ts';
import type { Agent, Merge, Snapshot, Task } from '#api/types.ts';
import { equalJson } from '#lib/json.ts';
import { getCondition } from '#runtime/conditions.ts';
import type { Key } from '#runtime/controller.ts';
import { isOpen } from './summary.ts';

type Before<T> = T | undefined;

export function teamKey(object: KindObject): Key[] {
  const { namespace } = keyOf(object);
  return [{ kind: 'Team', namespace, name: (object as Agent | Task | Merge | Snapshot).spec.team }];
}

/** One that the team has made and that is gone: it may be wanted, or waited for. */
export function goldenConcern(object: KindObject, type: string): Key[] {
  return type === 'DELETED' && (object as Snapshot).spec.golden !== undefined ? teamKey(object) : [];
}

/** Whether it is there, to whom it belongs, whether it can work. People wait for this. */
export function agentConcern(object: KindObject, type: string, before: Before<KindObject>): Key[] {
  const isSame = type !== 'DELETED' && before !== undefined && isSameMember(object as Agent, before as Agent);
  return isSame ? [] : teamKey(object);
}

/**
 * What a busy agent changes all the time: that it works, that it has mail. Also that somebody asked something else of it, which it follows in
 * a moment: a team that looked sooner would say that it is not ready, and then that it is.
 */
export function busyConcern(object: KindObject, type: string, before: Before<KindObject>): Key[] {
  if (type === 'DELETED' || before === undefined) return [];
  const [{ status: now }, { status: then }] = [object as Agent, before as Agent];
  const isSame = now?.phase === then?.phase && pendingOf(now) === pendingOf(then) && isSameWish(object as Agent, before as Agent);
  return isSame ? [] : teamKey(object);
}

/** How far it is, and of one that the team has made also what it says. */
export function taskConcern(object: KindObject, type: string, before: Before<KindObject>): Key[] {
  const isSame = type !== 'DELETED' && before !== undefined && isSameWork(object as Task, before as Task);
  return isSame ? [] : teamKey(object);
}

/** Whether its end is still to come. */
export function mergeConcern(object: KindObject, type: string, before: Before<KindObject>): Key[] {
  const isSame = type !== 'DELETED' && before !== undefined && isSameMerge(object as Merge, before as Merge);
  return isSame ? [] : teamKey(object);
}

function isSameMerge(now: Merge, then: Merge): boolean {
  return isSameObject(now, then) && now.spec.team === then.spec.team && isOpen(now) === isOpen(then);
}

function isSameMember(now: Agent, then: Agent): boolean {
  return (
    isSameObject(now, then) && equalJson(now.metadata.annotations, then.metadata.annotations) && equalJson(factsOf(now), factsOf(then))
  );
}

function factsOf(agent: Agent): unknown {
  const { status } = agent;
  const { status: ready, reason, message } = getCondition(agent, 'Ready') ?? {};
  return [ready, reason, message, status?.isolation?.driver, status?.ip, status?.workspaceId, status?.incarnation];
}

function isSameWish(now: Agent, then: Agent): boolean {
  return now.metadata.generation === then.metadata.generation && isBehind(now) === isBehind(then);
}

function isBehind({ metadata, status }: Agent): boolean {
  return (status?.observedGeneration ?? metadata.generation) < metadata.generation;
}

function pendingOf(status: Agent['status']): number | undefined {
  return status?.messagesPending ?? status?.mailbox?.unacked;
}

function isSameWork(now: Task, then: Task): boolean {
  const isOwned = (now.metadata.ownerReferences ?? []).length > 0;
  return (
    isSameObject(now, then) &&
    (!isOwned || now.metadata.generation === then.metadata.generation) &&
    now.status?.phase === then.status?.phase &&
    now.status?.owner === then.status?.owner &&
    // One that was cancelled is done, one that has failed is not.
    (now.status?.reason === 'Cancelled') === (then.status?.reason === 'Cancelled')
  );
}

function isSameObject({ metadata: now }: KindObject, { metadata: then }: KindObject): boolean {
  return now.deletionTimestamp === then.deletionTimestamp && equalJson(now.ownerReferences, then.ownerReferences);
}
