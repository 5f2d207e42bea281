/** Snapshots of agents, as controllers need them: what is brought to safety before, what has to stay for them, what nobody has any more. */
import { goldenOf, preparedGolden } from '#api/golden.ts';
import { type KindObject, keyOf } from '#api/meta.ts';
import type { Agent, Snapshot, Team } from '#api/types.ts';
import type { AgentDeps, Golden } from '#controllers/agent/deps.ts';
import type { SnapshotDeps, Snapshotting } from '#controllers/snapshot/deps.ts';
import { UnavailableError } from '#lib/errors.ts';
import type { Sweep, Watch } from '#runtime/controller.ts';
import type { Store } from '#store/store.ts';
import type { Agents } from '../agents.ts';

type Parts = Pick<Agents, 'here' | 'sessions' | 'git'>;

const SYNC_MS = 30_000;

export type OfSnapshots = Pick<AgentDeps, 'snapshotOf' | 'takeBase' | 'settle' | 'goldenOf'> & Pick<SnapshotDeps, 'snapshotting'>;

export function snapshotDeps({ here, sessions, git }: Parts, store: Pick<Store, 'get' | 'list'>): OfSnapshots {
  const snapshotting: Snapshotting = {
    drivers: here.drivers,
    watches: snapshotWatches(store),
    async settle({ metadata: { uid, name }, status }, signal) {
      const session = sessions.get(uid);
      const isMachine = status?.isolation?.driver === 'vm';
      // Another kernel keeps to itself what it has not written yet; this one sees everything at once.
      if (isMachine && !session?.state.isControlOpen)
        throw new UnavailableError(`agent ${name} cannot be reached`, { reason: 'AgentNotReached' });
      if (isMachine) await session?.call('exec', { command: 'sync', timeoutMs: SYNC_MS }, { signal });
      return git.settle(uid);
    },
    keepBase: ({ metadata }, snapshot) => git.copyBase(metadata.uid, snapshot.metadata.uid),
    forgetBase: ({ metadata }) => git.forgetBase(metadata.uid),
  };
  return {
    snapshotting,
    settle: (agent, signal) => snapshotting.settle(agent, signal),
    snapshotOf: async (namespace, name) => find(store, namespace, name),
    goldenOf: async (agent) => goldenIn(store, agent),
    takeBase: (snapshotUid, agentUid) => git.copyBase(snapshotUid, agentUid),
  };
}

function find(store: Pick<Store, 'get'>, namespace: string, name: string): Snapshot | undefined {
  return store.get({ kind: 'Snapshot', namespace, name }) as Snapshot | undefined;
}

function goldenIn(store: Pick<Store, 'get'>, { metadata: { namespace }, spec }: Agent): Golden | undefined {
  const team = store.get({ kind: 'Team', namespace, name: spec.team }) as Team | undefined;
  if (team?.spec.golden === undefined) return undefined;
  const { from, snapshot: called } = team.spec.golden;
  const name = preparedGolden(team)?.name ?? called;
  return { name, ...(from != null && { from }), snapshot: goldenOf(team, (asked) => find(store, namespace, asked)) };
}

function snapshotWatches(store: Pick<Store, 'get' | 'list'>): Watch[] {
  return [
    {
      kind: 'Agent',
      toKeys(changed) {
        const { metadata, spec, status } = changed as Agent;
        const { namespace, name } = metadata;
        const began = spec.source?.snapshot ?? status?.source?.snapshot;
        const source = began === undefined ? undefined : find(store, namespace, began);
        const own = store.list('Snapshot', { namespace, fieldSelector: `spec.agent=${name}` }).items.filter(isOpen);
        return [...own, ...(source && isOpen(source) ? [source] : [])].map(keyOf);
      },
    },
  ];
}

/** It is still to be taken, or is on its way out. */
function isOpen(object: KindObject): boolean {
  return (object as Snapshot).status?.phase !== 'Ready' || object.metadata.deletionTimestamp !== undefined;
}

const SWEEP_MS = 10 * 60_000;

/** What is kept for a Snapshot that was removed past its finalizer. */
export function snapshotSweep({ here, git }: Pick<Parts, 'here' | 'git'>, store: Pick<Store, 'list'>): Sweep {
  return {
    name: 'snapshots',
    everyMs: SWEEP_MS,
    async sweep({ log }) {
      for (const driver of here.drivers) {
        // The files first: a Snapshot is always older than its files, so the second list cannot miss it.
        const kept = (await driver.snapshots?.list()) ?? [];
        const known = new Set(store.list('Snapshot', {}).items.map(({ metadata }) => metadata.uid));
        for (const uid of kept.filter((each) => !known.has(each))) {
          log.info({ snapshot: uid, driver: driver.name }, 'files of a snapshot that is gone are removed');
          await driver.snapshots?.remove(uid);
          await git.forgetBase(uid);
        }
      }
    },
  };
}
