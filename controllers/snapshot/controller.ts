/**
 * Snapshot: the files of one agent as they were at one moment, or those that a team has prepared, kept by the driver under metadata.uid. Taken once,
 * never changed. Owns the condition Ready. Goes with its agent or team, but not from under whoever has not begun with it yet.
 */
import { beginsGolden, goldenOf } from '#api/golden.ts';
import { creationOrder, MAX_SNAPSHOTS } from '#api/snapshots.ts';
import type { Agent, Snapshot, Team } from '#api/types.ts';
import type { Driver } from '#drivers/driver.ts';
import { ignoreNotFound, isCode, messageOf, StalledError, WaitingError } from '#lib/errors.ts';
import { setCondition } from '#runtime/conditions.ts';
import type { Controller, ReconcileContext, WithStatus } from '#runtime/controller.ts';
import { ownedBy, setControllerOwner } from '#runtime/owner.ts';
import type { SnapshotDeps } from './deps.ts';
import { ensurePrepared } from './golden.ts';

export const SNAPSHOT_FINALIZER = 'agentiso.dev/files';
const LOOK_MS = 1_000;
const IN_USE_MS = 2_000;

export function snapshotController(deps: SnapshotDeps): Controller<Snapshot> {
  const { client, snapshotting, goldens } = deps;
  return {
    name: 'snapshot',
    kind: 'Snapshot',
    finalizer: SNAPSHOT_FINALIZER,
    watches: snapshotting.watches,
    wakes: [goldens.wake],
    async reconcile(snapshot, ctx) {
      if (snapshot.status.phase === 'Ready') return {};
      if (snapshot.spec.golden !== undefined) return ensurePrepared(snapshot, { deps, ctx });
      const agent = await agentOf(snapshot, deps);
      if (!ownedBy(snapshot, agent)) {
        // The change brings the next pass.
        await client.update(withOwner(snapshot, agent));
        return {};
      }
      snapshot.status.observedGeneration = snapshot.metadata.generation;
      snapshot.status.phase = 'Pending';
      await refuseTooMany(snapshot, deps);
      await take(snapshot, agent, { deps, ctx });
      return {};
    },
    async finalize(snapshot, ctx) {
      await goldens.end(snapshot);
      const waiting = await whoBegins(snapshot, deps);
      if (waiting !== undefined) {
        const message = `agent ${waiting.metadata.name} is to begin as a copy of it; it goes when that has begun or is deleted`;
        setCondition(snapshot, { type: 'Ready', status: 'False', reason: 'InUse', message }, ctx.now());
        return { requeueAfterMs: IN_USE_MS };
      }
      for (const driver of snapshotting.drivers) await driver.snapshots?.remove(snapshot.metadata.uid);
      await snapshotting.forgetBase(snapshot);
      return 'done';
    },
  };
}

interface Taking {
  readonly deps: SnapshotDeps;
  readonly ctx: ReconcileContext;
}

async function take(snapshot: WithStatus<Snapshot>, agent: Agent, { deps, ctx }: Taking): Promise<void> {
  const { snapshotting } = deps;
  const { uid: id } = agent.metadata;
  const driver = driverOf(agent, snapshotting.drivers);
  const state = await driver.get(id, ctx.signal);
  if (state === undefined || state.phase === 'starting') throw waiting(agent, 'it has no workspace yet');
  const isAwake = state.phase === 'running' && !state.isSuspended;
  const commit = isAwake ? await snapshotting.settle(agent, ctx.signal) : (agent.status?.git?.head ?? agent.status?.git?.forkBase);
  // Before the files: what they are a layer over must not go while they are copied.
  await snapshotting.keepBase(agent, snapshot);
  const takenAt = ctx.now().toISOString();
  const { bytes } = await taken(driver, snapshot, { id, signal: ctx.signal });
  snapshot.status = {
    ...snapshot.status,
    ...{ phase: 'Ready', bytes, takenAt, agentUid: id, driver: driver.name },
    ...(state.phase === 'running' && { incarnation: state.incarnation }),
    ...(commit !== undefined && { commit }),
  };
  setCondition(snapshot, { type: 'Ready', status: 'True', reason: 'Taken', message: '' }, ctx.now());
  ctx.events.normal(agent, 'SnapshotTaken', `snapshot ${snapshot.metadata.name}: ${bytes} bytes`);
}

/** What is too large to stand still for needs a person: the agent has to rest first. */
async function taken(
  driver: Driver,
  snapshot: WithStatus<Snapshot>,
  { id, signal }: { readonly id: string; readonly signal: AbortSignal },
): Promise<{ readonly bytes: number }> {
  if (driver.snapshots === undefined) throw failed(snapshot, 'SnapshotUnsupported', `the ${driver.name} driver takes no snapshots`);
  try {
    return await driver.snapshots.take(id, snapshot.metadata.uid, signal);
  } catch (error) {
    if (isCode(error, 'QuotaExceeded')) throw failed(snapshot, 'QuotaExceeded', messageOf(error));
    if (!isCode(error, 'Conflict')) throw error;
    throw failed(snapshot, 'TooLargeToHold', `${messageOf(error)}; suspend or stop agent ${snapshot.spec.agent} first`);
  }
}

function failed(snapshot: WithStatus<Snapshot>, reason: string, message: string): StalledError {
  snapshot.status.phase = 'Failed';
  return new StalledError(reason, message);
}

async function agentOf(snapshot: WithStatus<Snapshot>, { client }: SnapshotDeps): Promise<Agent> {
  const { namespace } = snapshot.metadata;
  const { agent: name = '', team } = snapshot.spec;
  const agent = await ignoreNotFound(client.get<Agent>({ kind: 'Agent', namespace, name }));
  if (!agent || agent.metadata.deletionTimestamp !== undefined)
    throw failed(snapshot, 'AgentNotFound', `there is no agent ${name} in namespace ${namespace}; give the full name of one`);
  if (agent.spec.team !== team) throw failed(snapshot, 'AgentNotFound', `agent ${name} belongs to team ${agent.spec.team}, not to ${team}`);
  return agent;
}

function withOwner(snapshot: WithStatus<Snapshot>, agent: Agent): Snapshot {
  const child = { ...snapshot, metadata: { ...snapshot.metadata } };
  setControllerOwner(child, agent);
  return child;
}

function driverOf(agent: Agent, drivers: readonly Driver[]): Driver {
  const driver = drivers.find(({ name }) => name === agent.status?.isolation?.driver);
  if (driver === undefined) throw waiting(agent, 'it has no workspace yet');
  return driver;
}

function waiting({ metadata }: Agent, why: string): WaitingError {
  return new WaitingError('AgentNotStarted', `waiting for agent ${metadata.name}: ${why}`, LOOK_MS);
}

/** Files that are followed pass no front door: the oldest are taken. */
async function refuseTooMany(snapshot: WithStatus<Snapshot>, { client }: SnapshotDeps): Promise<void> {
  const { namespace } = snapshot.metadata;
  const { agent } = snapshot.spec;
  const { items } = await client.list<Snapshot>('Snapshot', { namespace, fieldSelector: `spec.agent=${agent}` });
  const before = items.filter(
    (other) => other.metadata.uid !== snapshot.metadata.uid && other.status?.phase !== 'Failed' && creationOrder(other, snapshot) < 0,
  );
  if (before.length >= MAX_SNAPSHOTS)
    throw failed(snapshot, 'QuotaExceeded', `agent ${agent} has ${before.length} snapshots, at most ${MAX_SNAPSHOTS}; delete one first`);
}

/** One that is to begin as a copy and has not yet. Of a snapshot that was never taken nobody begins as a copy. */
async function whoBegins(snapshot: Snapshot, { client }: SnapshotDeps): Promise<Agent | undefined> {
  const { namespace, name } = snapshot.metadata;
  const agents = (await client.list<Agent>('Agent', { namespace })).items;
  const fork = agents.find(
    ({ metadata, spec, status }) =>
      spec.source?.snapshot === name && status?.source === undefined && metadata.deletionTimestamp === undefined,
  );
  if (fork || snapshot.status?.phase !== 'Ready') return fork;
  const members = agents.filter(beginsGolden);
  const teams = members.length === 0 ? [] : (await client.list<Team>('Team', { namespace })).items;
  const users = teams.filter((team) => isGoldenOf(team, snapshot)).map(({ metadata }) => metadata.name);
  return members.find(({ spec }) => users.includes(spec.team));
}

/** Or was, until its team changed its mind: somebody may be at it. */
function isGoldenOf(team: Team, snapshot: Snapshot): boolean {
  if (snapshot.spec.golden !== undefined) return ownedBy(snapshot, team);
  const found = goldenOf(team, (name) => (name === snapshot.metadata.name ? snapshot : undefined));
  return found !== undefined;
}
