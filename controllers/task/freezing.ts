/** A running attempt and what it may use: it is given more while there is some, frozen when there is none, and thawed when there is again. */
import type { Agent, Task } from '#api/types.ts';
import { getCondition, isTrue, setCondition } from '#runtime/conditions.ts';
import type { WithStatus } from '#runtime/controller.ts';
import { type Means, RETRY_MS } from './attending.ts';
import { BUDGET_EXHAUSTED } from './budgets.ts';

export interface BudgetLook {
  readonly isFrozen: boolean;
  /** When to look again; undefined: when something changes. */
  readonly inMs: number | undefined;
}

export async function watchBudget(task: WithStatus<Task>, agent: Agent, { deps, ctx }: Means): Promise<BudgetLook> {
  const { budgets, attempts } = deps;
  budgets.record(task);
  if (task.status.phase !== 'Running') return { isFrozen: false, inMs: undefined };
  const before = budgets.usedUp(task, ctx.now());
  const wasFrozen = isTrue(task, 'Frozen');
  if (before.over === undefined && !wasFrozen) return { isFrozen: false, inMs: before.inMs };
  const verdict = before.over === undefined ? undefined : await budgets.reserve(task, agent.metadata.name, ctx.now());
  const isFrozen = verdict !== undefined;
  // Said again with each look: what cannot be told now is told then.
  if (!(await attempts.freeze(agent.metadata.uid, { taskUid: task.metadata.uid, attempt: task.status.attempt ?? 0, isFrozen }))) {
    return { isFrozen: wasFrozen, inMs: RETRY_MS };
  }
  if (verdict) freeze(task, verdict.message, { wasFrozen, ctx });
  else if (wasFrozen) thaw(task, ctx);
  return { isFrozen, inMs: isFrozen ? undefined : budgets.usedUp(task, ctx.now()).inMs };
}

function freeze(
  task: WithStatus<Task>,
  message: string,
  { wasFrozen, ctx }: { readonly wasFrozen: boolean; readonly ctx: Means['ctx'] },
): void {
  setCondition(task, { type: 'Frozen', status: 'True', reason: BUDGET_EXHAUSTED, message }, ctx.now());
  if (!wasFrozen) ctx.events.warning(task, 'Frozen', `attempt ${task.status.attempt} stands still: ${message}`);
}

/** For how long it stood still is not counted against it. */
function thaw(task: WithStatus<Task>, ctx: Means['ctx']): void {
  const sinceMs = Date.parse(getCondition(task, 'Frozen')?.lastTransitionTime ?? '');
  const seconds = Math.max(0, Math.round((ctx.now().getTime() - sinceMs) / 1_000));
  task.status.budget = { ...task.status.budget, frozenSeconds: (task.status.budget?.frozenSeconds ?? 0) + seconds };
  setCondition(task, { type: 'Frozen', status: 'False', reason: 'Thawed', message: 'it may use more' }, ctx.now());
  ctx.events.normal(task, 'Thawed', `attempt ${task.status.attempt} goes on: it may use more`);
}
