/**
 * Files that come from a Snapshot: those a fork begins with (spec.source), and those an agent is taken back to (spec.restore), once for each time it
 * was asked. A Task is not cut short: until the agent holds none it gets no new ones, and the condition RestorePending says so.
 */
import { whoseSnapshot } from '#api/snapshots.ts';
import type { Agent, Snapshot } from '#api/types.ts';
import type { Driver, Snapshots } from '#drivers/driver.ts';
import { StalledError, WaitingError } from '#lib/errors.ts';
import { getCondition, setCondition } from '#runtime/conditions.ts';
import type { ReconcileContext, WithStatus } from '#runtime/controller.ts';
import { isBusy } from './busy.ts';
import { refused } from './conditions.ts';
import type { AgentDeps } from './deps.ts';
import type { Restarts } from './restarts.ts';
import { forgetCondition, isSettled } from './settled.ts';

export const RESTORE_PENDING = 'RestorePending';
const LOOK_MS = 1_000;
const STOP_POLL_MS = 100;

interface Copying {
  readonly deps: AgentDeps;
  readonly ctx: ReconcileContext;
  readonly restarts: Restarts;
}

/** True: done by this pass, and only its status says so. */
export async function ensureForked(driver: Driver, agent: WithStatus<Agent>, { deps, ctx }: Copying): Promise<boolean> {
  const { source } = agent.spec;
  const { namespace } = agent.metadata;
  if (source === undefined || agent.status.source !== undefined || agent.status.incarnation !== undefined) return false;
  const snapshot = await deps.snapshotOf?.(namespace, source.snapshot);
  const problem = problemOf(snapshot, { of: source.agent, team: agent.spec.team, driver });
  if (problem) {
    const { reason, message, isPassing } = problem;
    if (!isPassing) throw refused(agent, new StalledError(reason, message), ctx.now());
    setCondition(agent, { type: 'WorkspaceReady', status: 'False', reason, message }, ctx.now());
    throw new WaitingError(reason, message, LOOK_MS);
  }
  const { metadata, status } = snapshot as Snapshot;
  await inTurn(agent, { deps, ctx }, () => beginAs(driver, agent, { deps, ctx, snapshot: metadata.uid }));
  agent.status.source = { ...source, ...(status?.commit !== undefined && { commit: status.commit }) };
  ctx.events.normal(agent, 'Forked', `it begins as agent ${source.agent} was at snapshot ${source.snapshot}`);
  return true;
}

/** The files of the snapshot become the agent's, which has none yet. */
export async function beginAs(
  driver: Driver,
  { metadata: { uid: id } }: Agent,
  { deps, ctx, snapshot }: Pick<Copying, 'deps' | 'ctx'> & { readonly snapshot: string },
): Promise<void> {
  await deps.takeBase?.(snapshot, id);
  await (driver.snapshots as Snapshots).restore(id, snapshot, ctx.signal);
}

/** Not more at once than limits.maxConcurrentForks. */
async function inTurn(agent: WithStatus<Agent>, { deps, ctx }: Pick<Copying, 'deps' | 'ctx'>, copy: () => Promise<void>): Promise<void> {
  const key = `fork ${agent.metadata.uid}`;
  if (deps.starts?.enter(key) === false) {
    const message = `${deps.starts.limit} forks or machines are starting (limits.maxConcurrentForks); this one is next`;
    setCondition(agent, { type: 'WorkspaceReady', status: 'False', reason: 'StartsUnderWay', message }, ctx.now());
    throw new WaitingError('StartsUnderWay', message, LOOK_MS);
  }
  try {
    await copy();
  } finally {
    deps.starts?.leave(key);
  }
}

/** True: done by this pass, and another run begins with the next. */
export async function ensureRestored(driver: Driver | undefined, agent: WithStatus<Agent>, copying: Copying): Promise<boolean> {
  const { deps, ctx } = copying;
  const { restore } = agent.spec;
  const { namespace, name } = agent.metadata;
  if (restore === undefined || driver === undefined || isRestored(agent)) {
    forgetCondition(agent, RESTORE_PENDING);
    return false;
  }
  const snapshot = await deps.snapshotOf?.(namespace, restore.snapshot);
  const problem = problemOf(snapshot, { of: name, team: agent.spec.team, driver });
  const isHeld = isBusy(agent, deps);
  if (problem || isHeld || !isSettled(agent, RESTORE_PENDING, ctx.now())) {
    const what = `its files are taken back to snapshot ${restore.snapshot}`;
    const usual = { reason: isHeld ? 'TaskRunning' : 'Restoring', message: isHeld ? `${what} when it holds no Task` : what };
    const { reason, message } = problem ?? usual;
    if (getCondition(agent, RESTORE_PENDING)?.message !== message) ctx.events.normal(agent, RESTORE_PENDING, message);
    setCondition(agent, { type: RESTORE_PENDING, status: 'True', reason, message }, ctx.now());
    return false;
  }
  await takeBack(driver, agent, { ...copying, snapshot: snapshot as Snapshot });
  forgetCondition(agent, RESTORE_PENDING);
  return true;
}

async function takeBack(
  driver: Driver,
  agent: WithStatus<Agent>,
  { deps, ctx, restarts, snapshot }: Copying & { readonly snapshot: Snapshot },
): Promise<void> {
  const { uid: id } = agent.metadata;
  const why = `its files are taken back to snapshot ${snapshot.metadata.name}`;
  const found = await driver.get(id, ctx.signal);
  if (found && found.phase !== 'exited') restarts.replaced(id, found.incarnation);
  if (!(await driver.stop(id, ctx.signal))) throw new WaitingError('Ending', `the workspace is being ended: ${why}`, STOP_POLL_MS);
  deps.sessions.close(id, why);
  await (driver.snapshots as Snapshots).restore(id, snapshot.metadata.uid, ctx.signal);
  const { pid: _ended, ...status } = agent.status;
  const { snapshot: name = '', at = '' } = agent.spec.restore ?? {};
  agent.status = { ...status, phase: 'Starting', restored: { snapshot: name, at, time: ctx.now().toISOString() } };
  ctx.events.normal(agent, 'Restored', why);
}

function isRestored({ spec, status }: Agent): boolean {
  return status?.restored?.snapshot === spec.restore?.snapshot && status?.restored?.at === spec.restore?.at;
}

interface Wanted {
  readonly of: string;
  readonly team: string;
  readonly driver: Driver;
}

interface Problem {
  readonly reason: string;
  readonly message: string;
  readonly isPassing?: boolean;
}

/** Why the snapshot cannot be used. Pure. */
export function problemOf(snapshot: Snapshot | undefined, { of, team, driver }: Wanted): Problem | undefined {
  const reason = 'SnapshotNotFound';
  if (!snapshot) return { reason, message: `there is no such snapshot of agent ${of}; create it, or delete what asks for it` };
  const { metadata, spec, status } = snapshot;
  const name = `snapshot ${metadata.name}`;
  if (spec.agent !== of || spec.team !== team) return { reason, message: `${name} is ${whoseSnapshot(snapshot)}` };
  if (status?.phase === 'Failed') return { reason, message: `${name} was not taken; agentiso why snapshot/${metadata.name}` };
  if (status?.phase !== 'Ready') return { reason: 'SnapshotPending', message: `waiting for ${name}`, isPassing: true };
  if (driver.snapshots === undefined || status.driver !== driver.name)
    return { reason: 'SnapshotUnusable', message: `${name} was taken with the ${status.driver} driver, and the agent has ${driver.name}` };
  return undefined;
}
