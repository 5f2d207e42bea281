/** Plans that have to be approved before work starts: rounds and time limits. Pure. */
import type { Task } from '#api/types.ts';
import { getCondition } from '#runtime/conditions.ts';

/** For a plan to come, and for the answer to it. */
export const PLAN_LIMIT_MS = 10 * 60_000;
/** The last refusal fails the Task. */
export const PLAN_ROUNDS = 3;

/** Whether a submitted plan waits for an answer. */
export function hasOpenPlan(task: Task): boolean {
  return getCondition(task, 'PlanApproved')?.status === 'Unknown';
}

/** A plan that nobody answered, because its owner was gone, does not count as a round. */
export function nextRound({ status }: Task): number {
  const { round = 0, feedback } = status?.plan ?? {};
  return round === 0 || feedback !== undefined ? round + 1 : round;
}

/** When the present step of a claimed Task has taken too long, and what to say then. By times in the status: a restart changes nothing. */
export function planLimit(task: Task): { readonly atMs: number; readonly message: string } {
  const { plan, lease, owner } = task.status ?? {};
  if (hasOpenPlan(task)) {
    const message = `nobody has answered the plan of round ${plan?.round} within 10 minutes`;
    return { atMs: Date.parse(plan?.submittedAt ?? '') + PLAN_LIMIT_MS, message };
  }
  const askedMs = Date.parse(getCondition(task, 'PlanApproved')?.lastTransitionTime ?? '');
  const claimedMs = Date.parse(lease?.renewTime ?? '');
  const sinceMs = Math.max(...[askedMs, claimedMs].filter((ms) => !Number.isNaN(ms)));
  return { atMs: sinceMs + PLAN_LIMIT_MS, message: `${owner} has submitted no plan within 10 minutes` };
}
