/** Where a workspace belongs and what it starts from. What is wrong with the repository is mended outside, and nobody says when: it is tried again. */
import type { Agent } from '#api/types.ts';
import type { Driver } from '#drivers/driver.ts';
import { StalledError, WaitingError } from '#lib/errors.ts';
import { getCondition, setCondition } from '#runtime/conditions.ts';
import type { ReconcileContext, WithStatus } from '#runtime/controller.ts';
import type { AgentDeps, Place } from './deps.ts';

const RETRY_MS = 5_000;

export async function findPlace(
  agent: WithStatus<Agent>,
  driver: Driver,
  { deps, ctx }: { readonly deps: AgentDeps; readonly ctx: ReconcileContext },
): Promise<Place> {
  try {
    return await deps.placeOf(agent, driver);
  } catch (error) {
    if (!(error instanceof StalledError)) throw error;
    const { reason, message } = error;
    if (getCondition(agent, 'WorkspaceReady')?.message !== message) ctx.events.warning(agent, reason, message);
    agent.status.phase = 'Pending';
    setCondition(agent, { type: 'WorkspaceReady', status: 'False', reason, message }, ctx.now());
    throw new WaitingError(reason, message, RETRY_MS);
  }
}
