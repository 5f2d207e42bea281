/** Before a workspace is removed: nothing that is in it and nowhere else may go. The agent stays until that is certain. */
import type { Agent } from '#api/types.ts';
import type { Driver } from '#drivers/driver.ts';
import { messageOf, WaitingError } from '#lib/errors.ts';
import { getCondition, isTrue, setCondition } from '#runtime/conditions.ts';
import type { ReconcileContext, WithStatus } from '#runtime/controller.ts';
import type { AgentDeps } from './deps.ts';

const RETRY_MS = 5_000;
const RESCUED = 'Rescued';
const FAILED = 'RescueFailed';

/** now: by this pass, and only its status says so. before: there is nothing left to do. */
export async function ensureRescued(
  agent: WithStatus<Agent>,
  driver: Driver | undefined,
  { deps, ctx }: { readonly deps: AgentDeps; readonly ctx: ReconcileContext },
): Promise<'now' | 'before'> {
  if (driver === undefined || deps.rescue === undefined || isTrue(agent, RESCUED)) return 'before';
  try {
    const { ref, message } = await deps.rescue(agent, driver, ctx.signal);
    if (ref !== undefined) {
      agent.status.rescued = ref;
      ctx.events.normal(agent, RESCUED, message);
    }
    setCondition(agent, { type: RESCUED, status: 'True', reason: ref === undefined ? 'NothingToKeep' : 'Kept', message }, ctx.now());
    // What there was not needs no record.
    return ref === undefined ? 'before' : 'now';
  } catch (error) {
    // Cut short by the end of the daemon: the next one goes on.
    ctx.signal.throwIfAborted();
    const message = `what is in its workspace could not be kept: ${messageOf(error)}; to give it up, set the annotation agentiso.dev/discard-work: "true"`;
    if (getCondition(agent, RESCUED)?.message !== message) ctx.events.warning(agent, FAILED, message);
    setCondition(agent, { type: RESCUED, status: 'False', reason: FAILED, message }, ctx.now());
    throw new WaitingError(FAILED, message, RETRY_MS);
  }
}
