/**
 * Agent: one workspace per object, made by a driver and named by metadata.uid.
 * Owns the conditions WorkspaceReady and Ready.
 */
import type { Agent } from '#api/types.ts';
import type { Driver, WorkspaceState } from '#drivers/driver.ts';
import { StalledError, WaitingError } from '#lib/errors.ts';
import { type ConditionInput, setCondition } from '#runtime/conditions.ts';
import type { Controller, ReconcileContext, Result, Wake } from '#runtime/controller.ts';

export interface AgentDeps {
  /** Throws StalledError when nothing on this machine isolates as strongly as the agent asks for. */
  readonly driverFor: (agent: Agent) => Driver;
  readonly newIncarnation: () => string;
  /** Wakes an agent whose workspace started or exited. */
  readonly workspaceChanges: Wake;
}

export const AGENT_FINALIZER = 'agentiso.dev/workspace';
const STARTING_POLL_MS = 1_000;
const DELETE_POLL_MS = 100;
/** Back-off 1 s doubling to 30 s; more exits than this need a person. */
const MAX_RESTARTS = 5;
const MAX_BACKOFF_MS = 30_000;

export function agentController({ driverFor, newIncarnation, workspaceChanges }: AgentDeps): Controller<Agent> {
  const restarts: Restarts = new Map();
  return {
    name: 'agent',
    kind: 'Agent',
    finalizer: AGENT_FINALIZER,
    wakes: [workspaceChanges],
    async reconcile(agent, ctx) {
      if (agent.spec.desiredState === 'Suspended') {
        agent.status.phase = 'Failed';
        throw new StalledError('NotSupportedYet', 'this version cannot suspend an agent; set spec.desiredState to Running or Stopped');
      }
      const driver = driverOrFail(driverFor, agent);
      agent.status.observedGeneration = agent.metadata.generation;
      if (agent.spec.desiredState === 'Stopped') return stop(driver, agent, ctx);
      const workspace = await ensureWorkspace(driver, agent, { ctx, newIncarnation, restarts });
      return report(agent, driver, workspace, ctx);
    },
    async finalize(agent, ctx) {
      agent.status.phase = 'Stopping';
      const driver = driverOrFail(driverFor, agent);
      if (!(await isGone(driver, agent, ctx.signal))) return { requeueAfterMs: DELETE_POLL_MS };
      restarts.delete(agent.metadata.uid);
      return 'done';
    },
  };
}

function driverOrFail(driverFor: AgentDeps['driverFor'], agent: Agent): Driver {
  try {
    return driverFor(agent);
  } catch (error) {
    agent.status = { ...agent.status, phase: 'Failed' };
    throw error;
  }
}

interface Start {
  readonly ctx: ReconcileContext;
  readonly newIncarnation: () => string;
  readonly restarts: Restarts;
}

/** Which exit of which agent was counted, and when it may start again. Forgotten with the daemon: so are its workspaces. */
type Restarts = Map<string, { readonly incarnation: string; readonly count: number; readonly notBeforeMs: number }>;

/** What runs is kept, whoever started it; what exited is started anew if the restart policy says so. */
async function ensureWorkspace(driver: Driver, agent: Agent, start: Start): Promise<WorkspaceState> {
  const { uid: id, name: hostname } = agent.metadata;
  const existing = await driver.get(id, start.ctx.signal);
  if (existing && existing.phase !== 'exited') return existing;
  if (existing && !shouldRestart(agent, existing)) return existing;
  if (existing) waitBeforeRestart(agent, existing, start);
  return driver.create({ id, hostname, incarnation: start.newIncarnation() }, start.ctx.signal);
}

/** Throws until the back-off is over. */
function waitBeforeRestart(agent: Agent, exited: WorkspaceState, { ctx, restarts }: Start): void {
  const { uid } = agent.metadata;
  const why = exited.failure ?? 'exit code 0';
  let entry = restarts.get(uid);
  if (entry?.incarnation !== exited.incarnation) {
    const count = (entry?.count ?? 0) + 1;
    entry = { incarnation: exited.incarnation, count, notBeforeMs: ctx.now().getTime() + restartDelayMs(count) };
    restarts.set(uid, entry);
    ctx.events.warning(agent, 'Restarting', `the workspace exited (${why}), restart ${count} of ${MAX_RESTARTS}`);
  }
  agent.status = { ...agent.status, phase: 'Starting', restarts: entry.count };
  if (entry.count > MAX_RESTARTS) {
    agent.status = { ...agent.status, phase: 'Failed' };
    throw new StalledError('CrashLoop', `the workspace exited ${entry.count} times; last: ${why}`);
  }
  const leftMs = entry.notBeforeMs - ctx.now().getTime();
  if (leftMs > 0)
    throw new WaitingError('BackOff', `the workspace exited (${why}); it starts again in ${Math.ceil(leftMs / 1_000)} s`, leftMs);
}

async function stop(driver: Driver, agent: Agent, ctx: ReconcileContext): Promise<Result> {
  const gone = await isGone(driver, agent, ctx.signal);
  agent.status = { ...agent.status, phase: gone ? 'Stopped' : 'Stopping' };
  setCondition(
    agent,
    { type: 'Ready', status: 'False', reason: gone ? 'Stopped' : 'Stopping', message: 'spec.desiredState is Stopped' },
    ctx.now(),
  );
  return gone ? {} : { requeueAfterMs: DELETE_POLL_MS };
}

async function isGone(driver: Driver, agent: Agent, signal: AbortSignal): Promise<boolean> {
  const id = agent.metadata.uid;
  if (!(await driver.get(id, signal))) return true;
  await driver.delete(id, signal);
  return (await driver.get(id, signal)) === undefined;
}

function report(agent: Agent, driver: Driver, workspace: WorkspaceState, ctx: ReconcileContext): Result {
  const ready = workspaceCondition(workspace);
  agent.status = {
    ...agent.status,
    phase: phaseOf(workspace),
    isolation: { ...driver.isolation },
    incarnation: workspace.incarnation,
    workspaceId: workspace.id,
    ...(workspace.pid === undefined ? {} : { pid: workspace.pid }),
  };
  setCondition(agent, { ...ready, type: 'WorkspaceReady' }, ctx.now());
  setCondition(agent, { ...ready, type: 'Ready' }, ctx.now());
  return workspace.phase === 'starting' ? { requeueAfterMs: STARTING_POLL_MS } : {};
}

export function shouldRestart({ spec }: Agent, { failure }: WorkspaceState): boolean {
  switch (spec.restartPolicy) {
    case 'Always':
      return true;
    case 'OnFailure':
      return failure !== undefined;
    case 'Never':
      return false;
  }
}

export function workspaceCondition({ phase, failure }: WorkspaceState): Omit<ConditionInput, 'type'> {
  switch (phase) {
    case 'starting':
      return { status: 'False', reason: 'Starting', message: 'waiting for the guest agent' };
    case 'running':
      return { status: 'True', reason: 'Running', message: '' };
    case 'exited':
      return { status: 'False', reason: 'Exited', message: failure ?? 'the workspace exited and restartPolicy does not start it again' };
  }
}

function phaseOf({ phase, failure }: WorkspaceState): 'Starting' | 'Ready' | 'Failed' | 'Stopped' {
  switch (phase) {
    case 'starting':
      return 'Starting';
    case 'running':
      return 'Ready';
    case 'exited':
      return failure === undefined ? 'Stopped' : 'Failed';
  }
}

export function restartDelayMs(restarts: number): number {
  return Math.min(MAX_BACKOFF_MS, 1_000 * 2 ** (restarts - 1));
}
