/**
 * Agent: one workspace per object, made by a driver and named by metadata.uid.
 * Owns the conditions WorkspaceReady and Ready.
 */
import type { Agent } from '#api/types.ts';
import type { Driver, WorkspaceState } from '#drivers/driver.ts';
import { StalledError, WaitingError } from '#lib/errors.ts';
import { type ConditionInput, getCondition, setCondition } from '#runtime/conditions.ts';
import type { Controller, ReconcileContext, Result, Wake } from '#runtime/controller.ts';
import { unmetDemand } from './demands.ts';

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
/** An agent that has run for so long is well again. */
const FORGET_RESTARTS_MS = 10 * 60 * 1_000;

export function agentController({ driverFor, newIncarnation, workspaceChanges }: AgentDeps): Controller<Agent> {
  const restarts: Restarts = new Map();
  const started = new Map<string, string>();
  return {
    name: 'agent',
    kind: 'Agent',
    finalizer: AGENT_FINALIZER,
    wakes: [workspaceChanges],
    async reconcile(agent, ctx) {
      const unmet = unmetDemand(agent);
      if (unmet) {
        agent.status.phase = 'Failed';
        throw unmet;
      }
      agent.status.observedGeneration = agent.metadata.generation;
      if (agent.spec.desiredState === 'Stopped') return stop(driverInUse(driverFor, agent), agent, { ctx, restarts });
      const driver = driverOrFail(driverFor, agent);
      const workspace = await ensureWorkspace(driver, agent, { ctx, newIncarnation, restarts, started });
      return report(agent, driver, workspace, ctx);
    },
    async finalize(agent, ctx) {
      agent.status.phase = 'Stopping';
      if (!(await isGone(driverInUse(driverFor, agent), agent, ctx.signal))) return { requeueAfterMs: DELETE_POLL_MS };
      restarts.delete(agent.metadata.uid);
      started.delete(agent.metadata.uid);
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

/** Where the workspace is, whatever the spec asks for by now; undefined when there never was one. */
function driverInUse(driverFor: AgentDeps['driverFor'], agent: Agent): Driver | undefined {
  const driver = agent.status?.isolation?.driver as 'process' | 'sandbox' | 'vm' | undefined;
  if (driver !== undefined) return driverFor({ ...agent, spec: { ...agent.spec, isolation: { driver } } });
  try {
    return driverFor(agent);
  } catch (error) {
    if (error instanceof StalledError) return undefined;
    throw error;
  }
}

interface Ending {
  readonly ctx: ReconcileContext;
  readonly restarts: Restarts;
}

interface Start extends Ending {
  readonly newIncarnation: () => string;
  /** uid → the incarnation this process started. */
  readonly started: Map<string, string>;
}

/** Which exit of which agent was counted, and when it may start again. Forgotten with the daemon: so are its workspaces. */
type Restarts = Map<string, { readonly incarnation: string; readonly count: number; readonly notBeforeMs: number }>;

/** What runs is kept, whoever started it; what exited by itself is started anew if the restart policy says so. */
async function ensureWorkspace(driver: Driver, agent: Agent, start: Start): Promise<WorkspaceState> {
  const { uid: id, name: hostname } = agent.metadata;
  const existing = await driver.get(id, start.ctx.signal);
  if (existing && existing.phase !== 'exited') return existing;
  if (existing && !wasEnded(agent, existing, start)) {
    if (!shouldRestart(agent, existing)) return existing;
    waitBeforeRestart(agent, existing, start);
  }
  const incarnation = start.newIncarnation();
  start.started.set(id, incarnation);
  return driver.create({ id, hostname, incarnation }, start.ctx.signal);
}

/** By a person's wish, or with the daemon that had started it: then nobody has seen it exit. */
function wasEnded(agent: Agent, { id, incarnation }: WorkspaceState, { started }: Start): boolean {
  const reason = getCondition(agent, 'WorkspaceReady')?.reason;
  return reason === 'Stopped' || reason === 'Stopping' || (reason !== 'Exited' && started.get(id) !== incarnation);
}

/** Throws until the back-off is over. */
function waitBeforeRestart(agent: Agent, exited: WorkspaceState, { ctx, restarts }: Start): void {
  const { uid } = agent.metadata;
  const why = exited.failure ?? 'exit code 0';
  let entry = restarts.get(uid);
  if (entry?.incarnation !== exited.incarnation) {
    const nowMs = ctx.now().getTime();
    const isRecent = entry !== undefined && nowMs - entry.notBeforeMs < FORGET_RESTARTS_MS;
    const count = (isRecent ? (entry?.count ?? 0) : 0) + 1;
    entry = { incarnation: exited.incarnation, count, notBeforeMs: nowMs + restartDelayMs(count) };
    restarts.set(uid, entry);
    ctx.events.warning(agent, 'Restarting', `the workspace exited (${why}), restart ${count} of ${MAX_RESTARTS}`);
  }
  agent.status = { ...withoutPid(agent), phase: 'Starting', restarts: entry.count };
  setCondition(agent, { type: 'WorkspaceReady', status: 'False', reason: 'Exited', message: `the workspace exited (${why})` }, ctx.now());
  if (entry.count > MAX_RESTARTS) {
    agent.status = { ...agent.status, phase: 'Failed' };
    throw new StalledError('CrashLoop', `the workspace exited ${entry.count} times; last: ${why}`);
  }
  const leftMs = entry.notBeforeMs - ctx.now().getTime();
  if (leftMs > 0)
    throw new WaitingError('BackOff', `the workspace exited (${why}); it starts again in ${Math.ceil(leftMs / 1_000)} s`, leftMs);
}

/** A person who stops an agent and lets it run again gives it a fresh start: its exits so far are forgotten. */
async function stop(driver: Driver | undefined, agent: Agent, { ctx, restarts }: Ending): Promise<Result> {
  const gone = !driver || (await driver.stop(agent.metadata.uid, ctx.signal));
  const reason = gone ? 'Stopped' : 'Stopping';
  agent.status = { ...(gone ? withoutPid(agent) : agent.status), phase: reason };
  for (const type of ['WorkspaceReady', 'Ready']) {
    setCondition(agent, { type, status: 'False', reason, message: 'spec.desiredState is Stopped' }, ctx.now());
  }
  if (gone) restarts.delete(agent.metadata.uid);
  return gone ? {} : { requeueAfterMs: DELETE_POLL_MS };
}

async function isGone(driver: Driver | undefined, agent: Agent, signal: AbortSignal): Promise<boolean> {
  const id = agent.metadata.uid;
  if (!driver || !(await driver.get(id, signal))) return true;
  await driver.delete(id, signal);
  return (await driver.get(id, signal)) === undefined;
}

function report(agent: Agent, driver: Driver, workspace: WorkspaceState, ctx: ReconcileContext): Result {
  const ready = workspaceCondition(workspace);
  agent.status = {
    ...withoutPid(agent),
    phase: phaseOf(workspace),
    isolation: { ...driver.isolation },
    incarnation: workspace.incarnation,
    workspaceId: workspace.id,
    ...(workspace.pid === undefined ? {} : { pid: workspace.pid }),
  };
  setCondition(agent, { ...ready, type: 'WorkspaceReady' }, ctx.now());
  setCondition(agent, networkCondition(driver), ctx.now());
  setCondition(agent, { ...ready, type: 'Ready' }, ctx.now());
  return workspace.phase === 'starting' ? { requeueAfterMs: STARTING_POLL_MS } : {};
}

/** The pid of a process that has ended may soon be somebody else's. */
function withoutPid({ status }: Agent): NonNullable<Agent['status']> {
  const { pid: _ended, ...rest } = status ?? {};
  return rest;
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

/** Said out loud on every agent: with this driver the network rules of the team hold for nobody. */
function networkCondition({ name, isolation }: Driver): ConditionInput {
  const type = 'NetworkReady';
  if (isolation.network !== 'none') return { type, status: 'True', reason: 'Enforced', message: '' };
  return { type, status: 'True', reason: 'NotEnforced', message: `the ${name} driver does not isolate the network` };
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
