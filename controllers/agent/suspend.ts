/**
 * desiredState Suspended: an idle agent is held still with all that is in its memory; the same run goes on when it is Running again. A Task is not
 * held: until the agent has none it goes on, gets no new ones, and the condition SuspendPending says so. What does not run has nothing to keep.
 */
import type { Agent } from '#api/types.ts';
import type { Driver } from '#drivers/driver.ts';
import { getCondition, setCondition } from '#runtime/conditions.ts';
import type { ReconcileContext, WithStatus } from '#runtime/controller.ts';
import { isBusy } from './busy.ts';
import type { AgentDeps } from './deps.ts';
import { forgetCondition, isSettled } from './settled.ts';

export const SUSPEND_PENDING = 'SuspendPending';

interface Suspending {
  readonly deps: AgentDeps;
  readonly ctx: ReconcileContext;
}

/** False: it cannot be held yet, and is looked after as one that runs. */
export async function ensureSuspended(driver: Driver | undefined, agent: WithStatus<Agent>, { deps, ctx }: Suspending): Promise<boolean> {
  const { uid } = agent.metadata;
  const found = await driver?.get(uid, ctx.signal);
  if (driver === undefined || found === undefined || found.phase === 'exited') {
    show(agent, 'nothing runs; it starts when spec.desiredState is Running', ctx.now());
    return true;
  }
  if (!found.isSuspended) {
    const hold = holdOf(driver, agent, deps);
    if (hold || found.phase !== 'running' || !isSettled(agent, SUSPEND_PENDING, ctx.now())) {
      const { reason, message } = hold ?? { reason: 'Suspending', message: 'it is about to be held still' };
      if (hold && getCondition(agent, SUSPEND_PENDING)?.message !== message) ctx.events.normal(agent, SUSPEND_PENDING, message);
      setCondition(agent, { type: SUSPEND_PENDING, status: 'True', reason, message }, ctx.now());
      return false;
    }
    await driver.suspension?.suspend(uid, ctx.signal);
    ctx.events.normal(agent, 'Suspended', 'it is held still, with all that is in its memory');
  }
  // Of one that is held nothing is heard: without a session nobody takes it for dead.
  deps.sessions.close(uid, 'the agent is suspended');
  show(agent, 'spec.desiredState is Suspended', ctx.now());
  return true;
}

function holdOf(driver: Driver, agent: Agent, deps: AgentDeps): { readonly reason: string; readonly message: string } | undefined {
  if (driver.suspension === undefined)
    return { reason: 'SuspendUnsupported', message: `the ${driver.name} driver cannot hold an agent still here; give Running or Stopped` };
  return isBusy(agent, deps) ? { reason: 'TaskRunning', message: 'it is held still when it has no Task' } : undefined;
}

function show(agent: WithStatus<Agent>, message: string, now: Date): void {
  forgetCondition(agent, SUSPEND_PENDING);
  agent.status.phase = 'Suspended';
  for (const type of ['WorkspaceReady', 'RelayReady', 'Ready']) {
    setCondition(agent, { type, status: 'False', reason: 'Suspended', message }, now);
  }
}
