/** The workspace of an agent: made, kept, started anew when it exited, taken away. */
import type { Agent } from '#api/types.ts';
import type { Driver, WorkspaceState } from '#drivers/driver.ts';
import { StalledError, WaitingError } from '#lib/errors.ts';
import { getCondition, isTrue, setCondition } from '#runtime/conditions.ts';
import type { ReconcileContext, WithStatus } from '#runtime/controller.ts';
import { heldBack, refused } from './conditions.ts';
import type { AgentDeps } from './deps.ts';
import { hostnameOf } from './hostname.ts';
import { findPlace } from './place.ts';
import { PLAN_HOLD } from './plan-hold.ts';
import { forgetReplace, startOf } from './replace.ts';
import { MAX_RESTARTS, type Restarts, shouldRestart } from './restarts.ts';
import { HEARTBEAT_LIMIT_MS, heartbeatAgeMs, isHeartbeatLost, missingSecret } from './session.ts';
import { forgetCondition } from './settled.ts';

export interface Keeping {
  readonly deps: AgentDeps;
  readonly ctx: ReconcileContext;
  readonly restarts: Restarts;
  /** Where the workspace has been so far. */
  readonly previous: Driver | undefined;
  /** What runs is not what the spec asks for, and holds no Task. */
  readonly isReplaced?: boolean;
}

const STOP_POLL_MS = 100;

/** What runs is kept, whoever started it; what exited by itself is started anew if the restart policy says so. */
export async function ensureWorkspace(driver: Driver, agent: WithStatus<Agent>, keeping: Keeping): Promise<WorkspaceState> {
  const { ctx, restarts, previous } = keeping;
  const { uid: id } = agent.metadata;
  if (previous !== undefined && previous.name !== driver.name)
    await ensureEnded(previous, id, `it moves to the ${driver.name} driver`, ctx);
  if (keeping.isReplaced) await replace(driver, agent, keeping);
  const found = await resumed(driver, agent, keeping);
  if (found?.heldUp !== undefined) throw heldUp(found, found.heldUp, keeping);
  const existing = await endIfSilent(driver, agent, found, keeping);
  if (existing && existing.phase !== 'exited') return existing;
  if (existing && !wasEnded(agent, existing, restarts)) {
    await ensureNothingLeft(driver, agent, { exited: existing, ctx });
    const exited = explained(existing, restarts);
    if (!shouldRestart(agent, exited)) return exited;
    waitBeforeRestart(agent, exited, keeping);
  }
  return startWorkspace(driver, agent, keeping);
}

async function startWorkspace(driver: Driver, agent: WithStatus<Agent>, keeping: Keeping): Promise<WorkspaceState> {
  const { deps, ctx, restarts } = keeping;
  const { uid: id } = agent.metadata;
  const hold = deps.mayStart?.(agent);
  if (hold) throw heldBack(agent, hold, ctx.now());
  const missing = missingSecret(agent, deps.hostEnv);
  if (missing !== undefined) throw refused(agent, missing, ctx.now());
  waitForNetwork(driver, agent);
  const incarnation = deps.newIncarnation();
  const { git, backend, ...place } = await findPlace(agent, driver, keeping);
  // The work of a fork begins where it was forked, which may be later than what its files are a layer over.
  const forkedAt = git && agent.status.source?.commit !== undefined && { forkBase: agent.status.source.commit };
  const { image, ...resources } = startOf(agent);
  const started = {
    startedAt: ctx.now().toISOString(),
    startedWith: { image, ...resources },
    ...(git && { git: { ...agent.status.git, ...git, ...forkedAt } }),
    ...(backend !== undefined && { backend }),
  };
  restarts.started(id, incarnation, started);
  deps.sessions.close(id, 'another incarnation begins');
  agent.status = { ...agent.status, ...started };
  forgetReplace(agent);
  // Another run is not held.
  forgetCondition(agent, PLAN_HOLD);
  try {
    return await driver.create({ id, hostname: hostnameOf(agent), incarnation, resources, ...place }, ctx.signal);
  } catch (error) {
    throw error instanceof StalledError ? refused(agent, error, ctx.now()) : error;
  }
}

/** What there is; one that is suspended goes on where it was, as the same run. */
async function resumed(driver: Driver, agent: Agent, { deps, ctx }: Keeping): Promise<WorkspaceState | undefined> {
  const { uid: id } = agent.metadata;
  const found = await driver.get(id, ctx.signal);
  if (!found?.isSuspended) return found;
  // One that does not run meanwhile comes back to a network that may have been made anew.
  const link = found.savedAs && (await deps.linkOf?.(agent, driver));
  await driver.suspension?.resume(id, ctx.signal, link);
  ctx.events.normal(agent, 'Resumed', 'it goes on where it was');
  return driver.get(id, ctx.signal);
}

/** Ended by us, so that it counts for nothing. */
async function replace(driver: Driver, { metadata: { uid } }: Agent, { ctx, restarts, deps }: Keeping): Promise<void> {
  const found = await driver.get(uid, ctx.signal);
  if (found && found.phase !== 'exited') restarts.replaced(uid, found.incarnation);
  await ensureEnded(driver, uid, 'another run follows, as the spec asks', ctx);
  deps.sessions.close(uid, 'another run follows, as the spec asks');
}

const HELD_UP_MS = 5_000;

/** It is silent, and lives. Its silence is not held against it afterwards: then there is another session. */
function heldUp({ id }: WorkspaceState, why: string, { deps }: Keeping): WaitingError {
  const session = deps.sessions.get(id);
  if (session && heartbeatAgeMs(session.state, deps.monotonicMs()) > HEARTBEAT_LIMIT_MS / 2) deps.sessions.close(id, why);
  return new WaitingError('HeldUp', why, HELD_UP_MS);
}

const LOST = 'no heartbeat for 30 s';

/** One that has not been heard of is not coming back: it is ended, and then the restart policy has its say. */
async function endIfSilent(
  driver: Driver,
  agent: Agent,
  found: WorkspaceState | undefined,
  { deps, ctx, restarts }: Keeping,
): Promise<WorkspaceState | undefined> {
  if (found === undefined || found.phase === 'exited') return found;
  const { id, incarnation } = found;
  const session = deps.sessions.get(id);
  if (session?.incarnation !== incarnation || !isHeartbeatLost(session.state, deps.monotonicMs())) return found;
  if (!restarts.isLost(id, incarnation)) {
    restarts.lost(id, incarnation);
    ctx.events.warning(agent, 'HeartbeatLost', `${LOST}; the workspace is ended`);
  }
  await ensureEnded(driver, id, LOST, ctx);
  deps.sessions.close(id, LOST);
  return { id, incarnation, phase: 'exited' };
}

/** Ended by us, and all the same a failure. */
function explained(exited: WorkspaceState, restarts: Restarts): WorkspaceState {
  return restarts.isLost(exited.id, exited.incarnation) ? { ...exited, failure: LOST } : exited;
}

async function ensureEnded(driver: Driver, id: string, why: string, ctx: ReconcileContext): Promise<void> {
  if (await driver.stop(id, ctx.signal)) return;
  throw new WaitingError('Ending', `the workspace is being ended: ${why}`, STOP_POLL_MS);
}

interface Leaving {
  readonly exited: WorkspaceState;
  readonly ctx: ReconcileContext;
}

/** Who hears that it has exited lets others begin with what it had in work: until nothing of that runs any more, nobody does. */
async function ensureNothingLeft(driver: Driver, agent: Agent, { exited: { id, incarnation }, ctx }: Leaving): Promise<void> {
  const isSaid = getCondition(agent, 'WorkspaceReady')?.reason === 'Exited' && agent.status?.incarnation === incarnation;
  if (isSaid || !driver.endLeftovers || (await driver.endLeftovers(id, ctx.signal))) return;
  throw new WaitingError('LeftoversEnding', 'the workspace has exited, and what it had started is being ended', STOP_POLL_MS);
}

/** By a person's wish, or with the daemon that had started it: then nobody has seen it exit. */
function wasEnded(agent: Agent, { id, incarnation }: WorkspaceState, restarts: Restarts): boolean {
  const reason = getCondition(agent, 'WorkspaceReady')?.reason;
  if (['Stopped', 'Stopping', 'Suspended', 'DaemonStopped'].includes(reason ?? '')) return true;
  if (restarts.isReplaced(id, incarnation)) return true;
  return reason !== 'Exited' && !restarts.hasStarted(id, incarnation);
}

/** Throws until the back-off is over. */
function waitBeforeRestart(agent: WithStatus<Agent>, exited: WorkspaceState, { ctx, restarts }: Keeping): void {
  const nowMs = ctx.now().getTime();
  const why = exited.failure ?? 'exit code 0';
  const { restart, isNew } = restarts.count(agent.metadata.uid, exited.incarnation, nowMs);
  if (isNew) ctx.events.warning(agent, 'Restarting', `the workspace exited (${why}), restart ${restart.count} of ${MAX_RESTARTS}`);
  const { pid: _ended, ...status } = agent.status;
  agent.status = { ...status, phase: 'Starting', restarts: restart.count };
  setCondition(agent, { type: 'WorkspaceReady', status: 'False', reason: 'Exited', message: `the workspace exited (${why})` }, ctx.now());
  if (restart.count > MAX_RESTARTS) {
    agent.status.phase = 'Failed';
    throw new StalledError('CrashLoop', `the workspace exited ${restart.count} times; last: ${why}`);
  }
  const leftMs = restart.notBeforeMs - nowMs;
  if (leftMs <= 0) return;
  throw new WaitingError('BackOff', `the workspace exited (${why}); it starts again in ${Math.ceil(leftMs / 1_000)} s`, leftMs);
}

/** The rules must be in the kernel before the first packet. The network controller's write brings the next look. */
function waitForNetwork(driver: Driver, agent: WithStatus<Agent>): void {
  if (driver.isolation.network !== 'nftables' || isTrue(agent, 'NetworkReady')) return;
  const looked = getCondition(agent, 'NetworkReady');
  // Before that it is a matter of a moment, and nothing to tell anybody.
  if (looked) agent.status.phase = 'Starting';
  const { reason, message } = looked ?? { reason: 'Starting', message: 'not looked at yet' };
  throw new WaitingError('NetworkNotReady', `waiting for the network (${reason}: ${message})`, 30_000);
}

export async function isGone(driver: Driver | undefined, agent: Agent, signal: AbortSignal): Promise<boolean> {
  const id = agent.metadata.uid;
  if (!driver || !(await driver.get(id, signal))) return true;
  await driver.delete(id, signal);
  return (await driver.get(id, signal)) === undefined;
}
