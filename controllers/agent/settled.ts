/** Conditions that announce an end of the run: a Task that was being handed out when the mark was written shows by the time it is settled. */
import type { Agent } from '#api/types.ts';
import { getCondition } from '#runtime/conditions.ts';
import type { WithStatus } from '#runtime/controller.ts';

export const SETTLE_MS = 500;

export function isSettled(agent: Agent, type: string, now: Date): boolean {
  const mark = getCondition(agent, type);
  return mark?.status === 'True' && now.getTime() - Date.parse(mark.lastTransitionTime) >= SETTLE_MS;
}

export function forgetCondition(agent: WithStatus<Agent>, type: string): void {
  const { conditions } = agent.status;
  if (conditions?.some((each) => each.type === type)) agent.status.conditions = conditions.filter((each) => each.type !== type);
}
