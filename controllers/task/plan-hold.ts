/** What is known of an agent's workspace while it plans: the agent's own condition says it (controllers/agent/plan-hold.ts). Pure. */
import type { Agent, Task } from '#api/types.ts';
import { getCondition } from '#runtime/conditions.ts';
import { needsPlan } from './card.ts';
import { isAlive } from './roster.ts';

const PLAN_HOLD = 'PlanHold';

/** It cannot write to its workspace, or may be about to be kept from it. */
export function isPlanHeld(agent: Agent): boolean {
  const hold = getCondition(agent, PLAN_HOLD);
  return hold !== undefined && hold.status !== 'False';
}

/** Undefined: not decided yet. */
export function isPlanEnforced(agent: Agent): boolean | undefined {
  const { status, reason } = getCondition(agent, PLAN_HOLD) ?? {};
  return status === undefined || reason === 'Holding' ? undefined : status === 'True';
}

/** It may begin, and its owner could not yet: it is told, and started, when it can. The owner's controller sees the Task, and lets go. */
export function awaitsRelease(task: Task, agent: Agent | undefined): boolean {
  if (needsPlan(task) || task.status?.phase !== 'Claimed' || !agent) return false;
  return isPlanHeld(agent) && isAlive(agent, task.status.ownerIncarnation);
}
