/** What the board knows of a Task: the few facts that decide about others, taken out of the object. Pure. */
import type { Task } from '#api/types.ts';

export interface Card {
  readonly name: string;
  readonly uid: string;
  readonly version: string;
  readonly priority: number;
  readonly created: string;
  readonly assignTo: string | undefined;
  readonly dependsOn: readonly string[];
  /** What it is to the tasks that depend on it. */
  readonly face: Face;
  /** The agent that has it. */
  readonly holder: string | undefined;
  readonly attempt: number;
  /** It would start if its dependencies and a place allowed; one that waits out its back-off takes nobody's place. */
  readonly isWilling: boolean;
}

/** Open: may still succeed. Hopeless: failed, or waits for one that failed. Circle: waits for itself. */
export type Face = 'Open' | 'Succeeded' | 'Hopeless' | 'Circle';

/** Reasons of a Task that goes again after a pause. */
export const BACKOFF_REASONS: ReadonlySet<string> = new Set(['AttemptFailed', 'AttemptLost', 'LeaseExpired']);

export function cardOf(task: Task, finalizer: string): Card {
  const { metadata, spec, status } = task;
  return {
    name: metadata.name,
    uid: metadata.uid,
    version: metadata.resourceVersion,
    priority: spec.priority,
    created: metadata.creationTimestamp,
    assignTo: spec.assignTo,
    dependsOn: spec.dependsOn ?? [],
    face: faceOf(task),
    holder: isHeld(task) ? status?.owner : undefined,
    attempt: status?.attempt ?? 0,
    isWilling: (metadata.finalizers ?? []).includes(finalizer) && isWilling(task),
  };
}

export function isHeld({ status }: Task): boolean {
  return status?.phase === 'Claimed' || status?.phase === 'Running';
}

export function isFinished({ status }: Task): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

/** What this version does not act on; a task that asks for it fails at once. */
export function unsupportedFields({ spec }: Task): string[] {
  const asked: [string, boolean][] = [
    ['spec.prompt', typeof spec.prompt === 'string'],
    ['spec.verify', (spec.verify ?? []).length > 0],
    ['spec.planRequired', spec.planRequired],
  ];
  return asked.filter(([, isAsked]) => isAsked).map(([field]) => field);
}

function faceOf({ status }: Task): Face {
  if (status?.phase === 'Succeeded') return 'Succeeded';
  if (status?.phase === 'Failed' || status?.reason === 'DependencyFailed') return 'Hopeless';
  return status?.reason === 'DependencyCycle' ? 'Circle' : 'Open';
}

function isWilling(task: Task): boolean {
  if (isHeld(task) || isFinished(task) || task.metadata.deletionTimestamp !== undefined || task.spec.cancelled) return false;
  return !BACKOFF_REASONS.has(task.status?.reason ?? '') && unsupportedFields(task).length === 0;
}

/** By priority, then age, then name. */
export function compareTurn(a: Turn, b: Turn): number {
  return a.priority - b.priority || compare(a.created, b.created) || compare(a.name, b.name);
}

export type Turn = Pick<Card, 'priority' | 'created' | 'name'>;

export function turnOf({ metadata, spec }: Task): Turn {
  return { name: metadata.name, priority: spec.priority, created: metadata.creationTimestamp };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
