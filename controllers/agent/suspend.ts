/**
 * desiredState Suspended: an idle agent is held still with all that is in its memory; the same run goes on when it is Running again. A Task is not
 * held: until the agent has none it goes on, gets no new ones, and the condition SuspendPending says so. What does not run has nothing to keep.
 */
import type { Agent } from '#api/types.ts';
import type { Driver, WorkspaceState } from '#drivers/driver.ts';
import { isCode, messageOf, WaitingError } from '#lib/errors.ts';
import { getCondition, setCondition } from '#runtime/conditions.ts';
import type { ReconcileContext, WithStatus } from '#runtime/controller.ts';
import { isBusy } from './busy.ts';
import type { AgentDeps } from './deps.ts';
import { forgetCondition, isSettled } from './settled.ts';

export const SUSPEND_PENDING = 'SuspendPending';
const MIB = 1024 ** 2;
const RETRY_MS = 5_000;

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
    // So that a snapshot of it has everything; one that cannot be asked is suspended all the same.
    await deps.settle?.(agent, ctx.signal).catch((error: unknown) => ctx.log.debug({ err: error }, 'an agent was not settled'));
    await suspend(driver, agent, ctx);
  }
  // Of one that is held nothing is heard: without a session nobody takes it for dead.
  deps.sessions.close(uid, 'the agent is suspended');
  showPlace(agent, (await driver.get(uid, ctx.signal))?.savedAs, ctx.now());
  return true;
}

/** What there is no room for goes on; it is tried again. */
async function suspend(driver: Driver, agent: WithStatus<Agent>, ctx: ReconcileContext): Promise<void> {
  try {
    await driver.suspension?.suspend(agent.metadata.uid, ctx.signal);
  } catch (error) {
    if (!isCode(error, 'QuotaExceeded')) throw error;
    const message = `it goes on: ${messageOf(error)}`;
    if (getCondition(agent, SUSPEND_PENDING)?.message !== message) ctx.events.warning(agent, 'QuotaExceeded', message);
    setCondition(agent, { type: SUSPEND_PENDING, status: 'True', reason: 'QuotaExceeded', message }, ctx.now());
    throw new WaitingError('QuotaExceeded', message, RETRY_MS);
  }
  ctx.events.normal(agent, 'Suspended', 'it is held still, with all that is in its memory');
}

function showPlace(agent: WithStatus<Agent>, savedAs: WorkspaceState['savedAs'], now: Date): void {
  const { pid, ...status } = agent.status;
  // One whose memory is on the disk has no process.
  agent.status = { ...status, ...(savedAs === undefined && pid !== undefined && { pid }) };
  const place = savedAs
    ? `nothing of it runs, its memory is on disk (${Math.ceil(savedAs.bytes / MIB)} MiB, ${savedAs.path})`
    : 'its memory stays in the memory of this machine';
  show(agent, `spec.desiredState is Suspended; ${place}`, now);
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
