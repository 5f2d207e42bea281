/** Whether the agent has as many processes as it may: what it runs then fails, or waits, and says little of why. */
import type { Agent } from '#api/types.ts';
import type { WorkspaceState } from '#drivers/driver.ts';
import { getCondition, setCondition } from '#runtime/conditions.ts';
import type { ReconcileContext, WithStatus } from '#runtime/controller.ts';

const CROWDED = 'ProcessLimit';

export function showCrowding(agent: WithStatus<Agent>, { crowded }: WorkspaceState, ctx: ReconcileContext): void {
  const before = getCondition(agent, CROWDED);
  if (crowded === undefined) {
    // One that always had room is not worth a line.
    if (before) setCondition(agent, { type: CROWDED, status: 'False', reason: 'HasRoom', message: '' }, ctx.now());
    return;
  }
  const { limit, isOwn } = crowded;
  const whose = isOwn ? 'its workspace' : "the daemon's control group";
  const message = `${whose} has reached its limit of ${limit} processes and threads (pids.max); more are refused until some end`;
  setCondition(agent, { type: CROWDED, status: 'True', reason: isOwn ? 'WorkspaceFull' : 'DaemonFull', message }, ctx.now());
  if (before?.status !== 'True') ctx.events.warning(agent, CROWDED, message);
}
