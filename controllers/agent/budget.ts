/** Whether the agent has anything left of a budget of its own. What it runs is frozen by the task controller; here it is said. */
import { exhaustionOf } from '#api/agent-budget.ts';
import type { Agent } from '#api/types.ts';
import { getCondition, setCondition } from '#runtime/conditions.ts';
import type { ReconcileContext, WithStatus } from '#runtime/controller.ts';

const EXHAUSTED = 'BudgetExhausted';

export function showBudget(agent: WithStatus<Agent>, ctx: ReconcileContext): void {
  const shortage = exhaustionOf(agent);
  const before = getCondition(agent, EXHAUSTED);
  if (shortage === undefined) {
    // A budget that was never used up is not worth a line.
    if (before) setCondition(agent, { type: EXHAUSTED, status: 'False', reason: 'HasRoom', message: '' }, ctx.now());
    return;
  }
  const message = `${shortage}; it gets no new Task, and what it runs stands still when it has used what is set aside for it`;
  setCondition(agent, { type: EXHAUSTED, status: 'True', reason: 'NothingLeft', message }, ctx.now());
  if (before?.status !== 'True') ctx.events.warning(agent, EXHAUSTED, shortage);
}
