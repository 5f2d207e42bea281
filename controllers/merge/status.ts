/** The ends of a merge, in its status. */
import type { Merge } from '#api/types.ts';
import { toSeconds } from '#lib/clock.ts';
import { getCondition, setCondition } from '#runtime/conditions.ts';
import type { ReconcileContext, Result, WithStatus } from '#runtime/controller.ts';

export interface Verdict {
  readonly reason: string;
  readonly message: string;
}

export const AT_ONCE: Result = { requeueAfterMs: 0 };
/** What people change, such as the target, nobody tells us. */
export const LOOK_AGAIN: Result = { requeueAfterMs: 30_000 };
/** Somebody is at work there, and waits for it to land. */
const LOOK_SOON: Result = { requeueAfterMs: 5_000 };

/** When to look whether what it failed for is over. */
export function lookAgain(reason: string | undefined): Result {
  return reason === 'TargetDirty' ? LOOK_SOON : LOOK_AGAIN;
}

export function setReady(merge: Merge, status: 'True' | 'False', { reason, message }: Verdict, ctx: ReconcileContext): void {
  setCondition(merge, { type: 'Ready', status, reason, message }, ctx.now());
}

/** The merged commit is not forgotten when all that is missing is room for it. */
export function fail(merge: WithStatus<Merge>, verdict: Verdict, ctx: ReconcileContext): Result {
  const known = getCondition(merge, 'Ready');
  Object.assign(merge.status, { phase: 'Failed', reason: verdict.reason, finishedAt: toSeconds(ctx.now()) });
  forgetPlace(merge);
  if (verdict.reason !== 'TargetDirty') delete merge.status.candidate;
  if (known?.reason !== verdict.reason || known.message !== verdict.message) ctx.events.warning(merge, verdict.reason, verdict.message);
  setReady(merge, 'False', verdict, ctx);
  return lookAgain(verdict.reason);
}

/** It waits, and says for what. */
export function wait(merge: WithStatus<Merge>, { reason, message }: Verdict, ctx: ReconcileContext): void {
  merge.status.waitsFor = message;
  setReady(merge, 'False', { reason, message: `waits for ${message}` }, ctx);
}

export function forgetPlace({ status }: WithStatus<Merge>): void {
  delete status.position;
  delete status.waitsFor;
}

/** From the beginning, with what is there now. */
export function startOver(merge: WithStatus<Merge>): Result {
  const { status } = merge;
  for (const field of [
    'reason',
    'candidate',
    'startedAt',
    'finishedAt',
    'sources',
    'conflicts',
    'totalCommitsApplied',
    'targetBefore',
    'targetAfter',
  ] as const) {
    delete status[field];
  }
  forgetPlace(merge);
  status.phase = 'Pending';
  return AT_ONCE;
}
