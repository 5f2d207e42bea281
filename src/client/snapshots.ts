/** What people and tools do with snapshots: they write Snapshots and Agents, and follow what controllers make of them. */
import { API_VERSION, type Draft, GROUP, type KindObject, VERSION } from '#api/meta.ts';
import { snapshotName } from '#api/snapshots.ts';
import type { Agent, Snapshot } from '#api/types.ts';
import { AgentisoError, ConflictError, NotFoundError } from '#lib/errors.ts';
import type { Client } from './client.ts';
import { patchObject, type Writer } from './write/requests.ts';

export const MAX_FORKS = 20;
export const USUAL_PREFIX = 'worker';

const AGENTS = { group: GROUP, version: VERSION, plural: 'agents', isNamespaced: true };

/** By its name, or by what it is called among those of the agent. Throws NotFound. */
export async function findSnapshot(client: Client, { metadata: { namespace, name: agent } }: Agent, name: string): Promise<Snapshot> {
  const { items } = await client.list<Snapshot>('Snapshot', { namespace, fieldSelector: `spec.agent=${agent}` });
  const found =
    items.find(({ metadata }) => metadata.name === name) ?? items.find(({ metadata }) => metadata.name === snapshotName(agent, name));
  if (found) return found;
  const names = items.map(({ metadata }) => metadata.name).join(', ');
  throw new NotFoundError(`agent ${agent} has no snapshot ${name}; ${names === '' ? 'it has none' : `there is ${names}`}`);
}

/** Resolves when its files are kept; throws why they are not. Without a name: one that goes when nobody needs it. */
export async function takeSnapshot(client: Client, agent: Agent, name: string | undefined, signal: AbortSignal): Promise<Snapshot> {
  const { namespace, name: of, uid } = agent.metadata;
  const called = name === undefined ? { generateName: `${of}-fork-` } : { name: snapshotName(of, name) };
  const owner = { apiVersion: API_VERSION, kind: 'Agent', name: of, uid, controller: true, blockOwnerDeletion: true };
  const draft = {
    apiVersion: API_VERSION,
    kind: 'Snapshot',
    metadata: { namespace, ...called, ownerReferences: [owner] },
    spec: { team: agent.spec.team, agent: of },
  };
  const made = await client.create<Snapshot>(draft as Draft<Snapshot>);
  const isSettled = ({ status }: Snapshot) => status?.phase === 'Ready' || status?.phase === 'Failed';
  const settled = await until(client, made, isSettled, signal);
  if (settled.status?.phase === 'Ready') return settled;
  const { reason = 'Failed', message = 'it was not taken' } = readyOf(settled) ?? {};
  throw new AgentisoError('Conflict', `snapshot ${made.metadata.name}: ${message}`, { reason });
}

/** Throws Conflict while an agent that is to begin as a copy of it has not begun. */
export async function deleteSnapshot(client: Client, { metadata: { namespace, name } }: Snapshot): Promise<void> {
  const { items } = await client.list<Agent>('Agent', { namespace });
  const fork = items.find(({ spec, status }) => spec.source?.snapshot === name && status?.source === undefined);
  if (fork)
    throw new ConflictError(`snapshot ${name} is in use: agent ${fork.metadata.name} is to begin as a copy of it`, { reason: 'InUse' });
  await client.delete({ kind: 'Snapshot', namespace, name });
}

/** The Agent as it was written; `until` tells when it is done. */
export async function requestRestore(
  writer: Writer,
  { metadata: { namespace, name } }: Agent,
  snapshot: Snapshot,
  at: Date,
): Promise<Agent> {
  const body = { spec: { restore: { snapshot: snapshot.metadata.name, at: at.toISOString() } } };
  const written = await patchObject(writer, { resource: AGENTS, namespace, name }, { type: 'merge', body, fieldManager: 'agentiso' });
  return written as unknown as Agent;
}

/** Resolves when another run is there with the files of the snapshot; throws when that cannot be. */
export async function untilRestored(client: Client, agent: Agent, signal: AbortSignal): Promise<Agent> {
  const { at } = agent.spec.restore ?? {};
  const isBack = ({ status, ...now }: Agent) => status?.restored?.at === at && readyOf({ status, ...now } as Agent)?.status === 'True';
  const settled = await until<Agent>(client, agent, (now) => isBack(now) || refusalOf(now) !== undefined, signal);
  const refusal = isBack(settled) ? undefined : refusalOf(settled);
  if (refusal) throw new ConflictError(`agent ${agent.metadata.name}: ${refusal.message}`, { reason: refusal.reason });
  return settled;
}

export interface ForkOptions {
  readonly count: number;
  readonly prefix: string;
  readonly snapshot: Snapshot;
}

export interface ForkResult {
  readonly agent: string;
  /** Why there is none. */
  readonly error?: AgentisoError;
}

/** One after the other, each with what became of it. */
export async function forkAgent(client: Client, source: Agent, { count, prefix, snapshot }: ForkOptions): Promise<ForkResult[]> {
  const results: ForkResult[] = [];
  for (let n = 1; n <= count; n++) {
    const agent = `${source.spec.team}-${prefix}-${n}`;
    try {
      await client.create<Agent>(forkOf(source, snapshot, agent));
      results.push({ agent });
    } catch (error) {
      if (!(error instanceof AgentisoError)) throw error;
      results.push({ agent, error });
    }
  }
  return results;
}

/** What it is and may is the source's; what it is called, where it is reached and what it does is its own. Pure. */
export function forkOf(source: Agent, snapshot: Snapshot, name: string): Draft<Agent> {
  const { desiredState: _state, restore: _restore, source: _before, roleName, portForwards, ...inherited } = source.spec;
  const role = inherited.role ?? roleName;
  return {
    apiVersion: API_VERSION,
    kind: 'Agent',
    metadata: { namespace: source.metadata.namespace, name },
    spec: {
      ...inherited,
      ...(role !== undefined && { role }),
      // One port of the machine leads to one agent.
      ...(portForwards && { portForwards: portForwards.map(({ guestPort }) => ({ guestPort })) }),
      // Only the driver that took them can use the files.
      isolation: { ...inherited.isolation, driver: snapshot.status?.driver },
      source: { agent: source.metadata.name, snapshot: snapshot.metadata.name },
    },
  } as unknown as Draft<Agent>;
}

const HOPELESS = ['SnapshotNotFound', 'SnapshotUnusable'];

function refusalOf({ status }: Agent): { readonly reason: string; readonly message: string } | undefined {
  return status?.conditions?.find(({ type, reason }) => type === 'RestorePending' && HOPELESS.includes(reason));
}

function readyOf({ status }: Agent | Snapshot): { readonly status: string; readonly reason: string; readonly message: string } | undefined {
  return status?.conditions?.find(({ type }) => type === 'Ready');
}

/** From the version that the caller has. Rejects when the object goes away, or the signal aborts first. */
async function until<T extends KindObject>(client: Client, first: T, isSettled: (object: T) => boolean, signal: AbortSignal): Promise<T> {
  if (isSettled(first)) return first;
  const { name, namespace, uid, resourceVersion } = first.metadata;
  for await (const { type, object } of client.watch<T>(first.kind, {
    namespace,
    fieldSelector: `metadata.name=${name}`,
    resourceVersion,
    signal,
  })) {
    if (object.metadata.uid !== uid) continue;
    if (type === 'DELETED') throw new NotFoundError(`${first.kind} ${name} was deleted while it was waited for`);
    if (isSettled(object)) return object;
  }
  throw new AgentisoError('Timeout', `${first.kind} ${name} took too long; it goes on by itself`, { cause: signal.reason });
}
