/** What the board knows of a Task: the few facts that decide about others, taken out of the object. Pure. */
import { shortName, type Task } from '#api/types.ts';
import { getCondition, isTrue } from '#runtime/conditions.ts';
import { filesToAvoid } from './avoiding.ts';
import { deadlineOf } from './request.ts';
import type { Demand } from './roster.ts';

export interface Card {
  readonly name: string;
  readonly uid: string;
  readonly version: string;
  readonly priority: number;
  readonly created: string;
  readonly demand: Demand;
  readonly dependsOn: readonly string[];
  /** What it is to the tasks that depend on it. */
  readonly face: Face;
  readonly isFinished: boolean;
  /** The agent that has it. */
  readonly holder: string | undefined;
  readonly attempt: number;
  /** It would start if its dependencies and a place allowed; one that waits out its back-off takes nobody's place. */
  readonly isWilling: boolean;
  /** The controller hands it to nobody. */
  readonly isPulledOnly: boolean;
  /** What agents read that may claim it; undefined for what only the controller hands out. */
  readonly offer: Offer | undefined;
  /** What it touches while it runs. */
  readonly files: readonly string[];
  /** What it would touch, of one that is kept from files in which branches do not fit. */
  readonly avoids: readonly string[];
  /** How long it took, of one that succeeded. */
  readonly tookMs: number | undefined;
}

export interface Offer {
  readonly title: string;
  readonly description: string;
  readonly from: string;
  readonly expiresAt: string | undefined;
}

/** Open: may still succeed. Hopeless: failed, or waits for one that failed. Circle: waits for itself. */
export type Face = 'Open' | 'Succeeded' | 'Hopeless' | 'Circle';

/** Reasons of a Task that goes again after a pause. */
export const BACKOFF_REASONS: ReadonlySet<string> = new Set([
  ...['AttemptFailed', 'AttemptLost', 'LeaseExpired', 'VerifyFailed', 'Stuck', 'NoEvidence', 'NoProgress'],
  'RateLimited',
]);

export function cardOf(task: Task, finalizer: string): Card {
  const { metadata, spec, status } = task;
  return {
    name: metadata.name,
    uid: metadata.uid,
    version: metadata.resourceVersion,
    priority: spec.priority,
    created: metadata.creationTimestamp,
    demand: spec,
    dependsOn: spec.dependsOn ?? [],
    face: faceOf(task),
    isFinished: isFinished(task),
    holder: isHeld(task) ? status?.owner : undefined,
    attempt: status?.attempt ?? 0,
    isWilling: (metadata.finalizers ?? []).includes(finalizer) && isWilling(task),
    isPulledOnly: isPulledOnly(task),
    offer: mayBePulled(task) ? offerOf(task) : undefined,
    files: status?.phase === 'Running' ? (spec.files ?? []) : [],
    avoids: filesToAvoid(task),
    tookMs: status?.phase === 'Succeeded' ? tookMs(task) : undefined,
  };
}

/** Also by an owner that says it cannot go on: it keeps the claim. */
export function isHeld({ status }: Task): boolean {
  const { phase, owner } = status ?? {};
  return phase === 'Claimed' || phase === 'Running' || (phase === 'Blocked' && owner !== undefined);
}

export function isFinished({ status }: Task): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

/** Nobody is assigned to it: a request is open to all by its nature. */
export function isPulledOnly({ spec }: Task): boolean {
  return spec.request !== undefined;
}

/** Those that may be claimed: also a prompt, where there is nobody whose backend takes prompts. */
export function mayBePulled(task: Task): boolean {
  return isPulledOnly(task) || typeof task.spec.prompt === 'string';
}

/** The attempt's work is done; the commands of `verify` say whether it is good. */
export function isVerifying({ status }: Task): boolean {
  return status?.phase === 'Running' && status.reason === 'Verifying';
}

/** Nobody gets any further with it, and a person is to say how it goes on. */
export function isAtStandstill({ status }: Task): boolean {
  return status?.phase === 'Failed' && status.reason === 'NoProgress';
}

export function needsPlan(task: Task): boolean {
  return task.spec.planRequired && !isTrue(task, 'PlanApproved');
}

/** The agent that is to plan it, and may not begin yet. */
export function plannerOf(task: Task): string | undefined {
  return task.status?.phase === 'Claimed' && needsPlan(task) ? task.status.owner : undefined;
}

/** Its plan came too late, or the answer to it: somebody has to say how it goes on. */
export function hasPlanTimedOut(task: Task): boolean {
  return task.status?.phase === 'Blocked' && task.status.reason === 'PlanTimeout' && getCondition(task, 'PlanApproved')?.status !== 'True';
}

/** What this version does not act on; a task that asks for it fails at once. */
export function unsupportedFields({ spec }: Task, { canVerify }: { readonly canVerify: boolean }): string[] {
  return (spec.verify ?? []).length > 0 && !canVerify ? ['spec.verify'] : [];
}

function offerOf(task: Task): Offer {
  const { metadata, spec, status } = task;
  const expiresMs = deadlineOf(task);
  return {
    title: spec.title ?? shortName(spec.team, metadata.name),
    description: spec.description ?? spec.prompt ?? '',
    from: spec.request?.by ?? status?.createdBy ?? 'orchestrator',
    expiresAt: expiresMs === undefined ? undefined : new Date(expiresMs).toISOString(),
  };
}

function tookMs({ status }: Task): number | undefined {
  const seconds = status?.result?.elapsedSeconds;
  return seconds === undefined ? undefined : seconds * 1_000;
}

function faceOf({ status }: Task): Face {
  if (status?.phase === 'Succeeded') return 'Succeeded';
  if (status?.phase === 'Failed' || status?.reason === 'DependencyFailed') return 'Hopeless';
  return status?.reason === 'DependencyCycle' ? 'Circle' : 'Open';
}

function isWilling(task: Task): boolean {
  if (isHeld(task) || isFinished(task) || task.metadata.deletionTimestamp !== undefined || task.spec.cancelled) return false;
  const { reason = '' } = task.status ?? {};
  // One that waits for a budget lets others go first that need less.
  return !BACKOFF_REASONS.has(reason) && reason !== 'BudgetExhausted' && !hasPlanTimedOut(task);
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
