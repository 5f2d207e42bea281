/**
 * Agent: one workspace per object, made by a driver and named by metadata.uid, with a session to the guest inside.
 * Owns the conditions WorkspaceReady, RelayReady, InboxFull, BudgetExhausted, ProcessLimit, PlanHold and Ready; NetworkReady is the network controller's.
 */
import type { Agent } from '#api/types.ts';
import type { Driver, WorkspaceState } from '#drivers/driver.ts';
import type { Session } from '#guest/sessions.ts';
import { StalledError } from '#lib/errors.ts';
import { getCondition, isTrue, setCondition } from '#runtime/conditions.ts';
import type { Controller, ReconcileContext, Result, WithStatus } from '#runtime/controller.ts';
import { showBudget } from './budget.ts';
import { refused, relayCondition, summarise, unreachable, workspaceCondition } from './conditions.ts';
import { ensureForked, ensureRestored, RESTORE_PENDING } from './copies.ts';
import { showCrowding } from './crowding.ts';
import type { AgentDeps } from './deps.ts';
import { ensureGolden } from './golden.ts';
import { showInbox } from './inbox.ts';
import { ensurePlanHold, PLAN_HOLD } from './plan-hold.ts';
import { isReplaceDue, REPLACE_PENDING } from './replace.ts';
import { ensureRescued } from './rescue.ts';
import { Restarts } from './restarts.ts';
import {
  CONNECTING_MS,
  ensureConfigured,
  ensureSession,
  HEARTBEAT_LIMIT_MS,
  heartbeatAgeMs,
  isConnecting,
  sessionAgeMs,
} from './session.ts';
import { forgetCondition } from './settled.ts';
import { ShownCards } from './show-card.ts';
import { endStop, ensureStopped } from './stop.ts';
import { ensureSuspended, SUSPEND_PENDING } from './suspend.ts';
import { ensureWorkspace, isGone, type Keeping } from './workspace.ts';

export const AGENT_FINALIZER = 'agentiso.dev/workspace';
const STARTING_POLL_MS = 1_000;
const DELETE_POLL_MS = 100;
/** Between two looks at whether an agent that is to be replaced still holds a Task; heartbeats wake it sooner. */
const REPLACE_POLL_MS = 500;
/** A lost heartbeat is noticed this long after it counts as lost, at most. */
const HEARTBEAT_MARGIN_MS = 500;

/** What this pass has done is written down before the next step. */
const ON_DISK_FIRST: Result = { requeueAfterMs: 1 };

export function agentController(deps: AgentDeps): Controller<Agent> {
  const restarts = new Restarts();
  const cards = new ShownCards();
  return {
    name: 'agent',
    kind: 'Agent',
    finalizer: AGENT_FINALIZER,
    wakes: [deps.workspaceChanges, ...(deps.inbox ? [deps.inbox.changes] : [])],
    watches: deps.watches ?? [],
    async reconcile(agent, ctx) {
      try {
        return await ensureWished(agent, { deps, ctx, restarts });
      } finally {
        await cards.show(agent, deps, ctx);
      }
    },
    async finalize(agent, ctx) {
      const { uid } = agent.metadata;
      agent.status.phase = 'Stopping';
      const rescued = await ensureRescued(agent, driverInUse(deps, agent), { deps, ctx });
      // On disk before anything goes: whoever comes after a crash finds an empty workspace and must know why.
      if (rescued === 'now') return ON_DISK_FIRST;
      deps.sessions.close(uid, 'the agent is being deleted');
      if (!(await isGone(driverInUse(deps, agent), agent, ctx.signal))) return { requeueAfterMs: DELETE_POLL_MS };
      restarts.forget(uid);
      cards.forget(uid);
      deps.inbox?.forget(uid);
      await deps.forget(agent);
      return 'done';
    },
  };
}

/** Brings the agent to the state that its spec asks for. */
async function ensureWished(agent: WithStatus<Agent>, { deps, ctx, restarts }: Omit<Keeping, 'previous'>): Promise<Result> {
  await showInbox(agent, deps, ctx.now());
  showBudget(agent, ctx);
  agent.status.observedGeneration = agent.metadata.generation;
  if (agent.spec.desiredState === 'Stopped') return ensureStopped(driverInUse(deps, agent), agent, { deps, ctx, restarts });
  await endStop(agent, deps, ctx);
  if (agent.spec.desiredState === 'Running') forgetCondition(agent, SUSPEND_PENDING);
  else if (await ensureSuspended(driverInUse(deps, agent), agent, { deps, ctx })) return {};
  const keeping = { deps, ctx, restarts, previous: driverInUse(deps, agent) };
  const chosen = chosenDriver(deps, agent, ctx.now());
  const isCopied =
    (await ensureForked(chosen, agent, keeping)) ||
    (await ensureGolden(chosen, agent, keeping)) ||
    (await ensureRestored(keeping.previous, agent, keeping));
  return isCopied ? ON_DISK_FIRST : keepRunning(agent, chosen, keeping);
}

/** What announces an end of the run, and is looked at again soon. */
const PENDING = [REPLACE_PENDING, RESTORE_PENDING, SUSPEND_PENDING];

async function keepRunning(agent: WithStatus<Agent>, chosen: Driver, keeping: Keeping): Promise<Result> {
  agent.status = { ...agent.status, ...keeping.restarts.unwritten(agent) };
  const isReplaced = await isReplaceDue(chosen, agent, keeping);
  // Until it may be replaced, it stays where it is.
  const isMoveOff = !isReplaced && getCondition(agent, REPLACE_PENDING) !== undefined;
  const driver = isMoveOff ? (keeping.previous ?? chosen) : chosen;
  const workspace = await ensureWorkspace(driver, agent, { ...keeping, isReplaced });
  const result = await attend(agent, driver, workspace, keeping);
  const isPending = PENDING.some((type) => getCondition(agent, type) !== undefined);
  return isPending ? { requeueAfterMs: Math.min(REPLACE_POLL_MS, result.requeueAfterMs ?? REPLACE_POLL_MS) } : result;
}

interface Attending {
  readonly deps: AgentDeps;
  readonly ctx: ReconcileContext;
}

/** What there is to do for a workspace that exists: talk to it, and say how it is. */
async function attend(agent: WithStatus<Agent>, driver: Driver, workspace: WorkspaceState, { deps, ctx }: Attending): Promise<Result> {
  const isSameRun = agent.status.incarnation === workspace.incarnation;
  agent.status = {
    ...withoutPid(agent),
    isolation: { ...driver.isolation, ...(workspace.transport !== undefined && { transport: workspace.transport }) },
    incarnation: workspace.incarnation,
    workspaceId: workspace.id,
    ...(workspace.pid === undefined ? {} : { pid: workspace.pid }),
  };
  setCondition(agent, workspaceCondition(workspace), ctx.now());
  showCrowding(agent, workspace, ctx);
  const { conditions = [] } = agent.status;
  const session = workspace.phase === 'running' ? await ensureSession(agent, deps) : undefined;
  // The daemon is new and the agent is not: what was true of it stays until the first connection, or its failure, says otherwise.
  if (isSameRun && session && isConnecting(session.state, deps.monotonicMs()) && isTrue(agent, 'RelayReady')) {
    return { requeueAfterMs: CONNECTING_MS };
  }
  setCondition(agent, relayCondition(session?.state), ctx.now());
  summarise(agent, { workspace, session: session?.state, sessionMs: sessionAgeMs(session, deps.monotonicMs()) }, ctx.now());
  if (workspace.phase !== 'running') forgetCondition(agent, PLAN_HOLD);
  if (workspace.phase === 'starting') return { requeueAfterMs: STARTING_POLL_MS };
  if (session === undefined) return {};
  await ensurePrepared(agent, session, deps).catch((error: unknown) => {
    // As if it had never been ready in this pass: nothing changes for an agent that stays as it is.
    agent.status = { ...agent.status, conditions };
    throw unreachable(agent, error, ctx.now());
  });
  const held = await ensurePlanHold(driver, agent, { deps, ctx });
  if (held !== undefined) return held === 'now' ? ON_DISK_FIRST : { requeueAfterMs: STARTING_POLL_MS };
  return { requeueAfterMs: Math.max(0, HEARTBEAT_LIMIT_MS - heartbeatAgeMs(session.state, deps.monotonicMs())) + HEARTBEAT_MARGIN_MS };
}

async function ensurePrepared(agent: WithStatus<Agent>, session: Session, deps: AgentDeps): Promise<void> {
  if (session.state.isControlOpen) await deps.prepare?.(agent, session);
  await ensureConfigured(agent, session, deps);
  showWork(agent, deps);
}

function showWork(agent: WithStatus<Agent>, { workOf }: AgentDeps): void {
  const work = workOf?.(agent);
  if (!work) return;
  const { head: _head, wip: _wip, ...rest } = agent.status.git ?? {};
  agent.status.git = { ...rest, ...work };
}

/** The pid of a process that has ended may soon be somebody else's. */
function withoutPid({ status }: Agent): NonNullable<Agent['status']> {
  const { pid: _ended, ...rest } = status ?? {};
  return rest;
}

function chosenDriver({ driverFor }: AgentDeps, agent: WithStatus<Agent>, now: Date): Driver {
  try {
    return driverFor(agent);
  } catch (error) {
    throw refused(agent, error, now);
  }
}

/** Where the workspace is, whatever the spec asks for by now; undefined when there never was one. */
function driverInUse({ driverFor }: AgentDeps, agent: Agent): Driver | undefined {
  const driver = agent.status?.isolation?.driver as 'process' | 'sandbox' | 'vm' | undefined;
  if (driver !== undefined) return driverFor({ ...agent, spec: { ...agent.spec, isolation: { driver } } });
  try {
    return driverFor(agent);
  } catch (error) {
    if (error instanceof StalledError) return undefined;
    throw error;
  }
}
