/** desiredState Stopped: an idle agent ends at once, a busy one has its team's grace period, none outlives it. */
import type { Agent } from '#api/types.ts';
import type { Driver } from '#drivers/driver.ts';
import { getCondition, setCondition } from '#runtime/conditions.ts';
import type { ReconcileContext, Result, WithStatus } from '#runtime/controller.ts';
import type { AgentDeps } from './deps.ts';
import type { Restarts } from './restarts.ts';

const POLL_MS = 100;
/** Of the grace period: between SIGTERM and SIGKILL. */
const KILL_MS = 5_000;

interface Stopping {
  readonly deps: AgentDeps;
  readonly ctx: ReconcileContext;
  readonly restarts: Restarts;
}

export async function ensureStopped(
  driver: Driver | undefined,
  agent: WithStatus<Agent>,
  { deps, ctx, restarts }: Stopping,
): Promise<Result> {
  const { uid } = agent.metadata;
  const waitMs = driver === undefined ? 0 : await graceLeftMs(agent, deps, ctx);
  const isEnded = waitMs <= 0 && (driver === undefined || (await driver.stop(uid, ctx.signal)));
  const reason = isEnded ? 'Stopped' : 'Stopping';
  const { pid, ...status } = agent.status;
  agent.status = { ...status, ...(isEnded || pid === undefined ? {} : { pid }), phase: reason };
  for (const type of ['WorkspaceReady', 'RelayReady', 'Ready']) {
    setCondition(agent, { type, status: 'False', reason, message: 'spec.desiredState is Stopped' }, ctx.now());
  }
  if (!isEnded) return { requeueAfterMs: waitMs > 0 ? Math.min(waitMs, POLL_MS * 5) : POLL_MS };
  deps.sessions.close(uid, 'the agent was stopped');
  restarts.reset(uid);
  return {};
}

/** How long its tasks may go on; 0 for an agent without any. The period begins when the agent is first seen to be stopping. */
async function graceLeftMs(agent: Agent, deps: AgentDeps, ctx: ReconcileContext): Promise<number> {
  const isBusy = (deps.sessions.get(agent.metadata.uid)?.state.heartbeat?.runningTasks.length ?? 0) > 0;
  if (!isBusy) return 0;
  const ready = getCondition(agent, 'WorkspaceReady');
  const beganMs = ready?.reason === 'Stopping' ? Date.parse(ready.lastTransitionTime) : ctx.now().getTime();
  return beganMs + (await deps.graceMsOf(agent)) - KILL_MS - ctx.now().getTime();
}
