/** What makes an agent worth a look: its workspace, its session, its team, its team mates. */
import { beginsGolden } from '#api/golden.ts';
import { formatKey, type KindObject, keyOf } from '#api/meta.ts';
import type { Agent, Snapshot, Task, Team } from '#api/types.ts';
import { plannerOf } from '#controllers/task/card.ts';
import type { Key, Wake, Watch } from '#runtime/controller.ts';
import type { Store } from '#store/store.ts';
import type { Agents } from '../agents.ts';
import { sessionWakes } from './session-wakes.ts';

/** Addresses and phases of team mates change in bursts when a team starts. */
const TEAM_DELAY_MS = 250;

export function agentWakes(
  { here, sessions, git }: Pick<Agents, 'here' | 'sessions' | 'git'>,
  agentByUid: (uid: string) => Agent | undefined,
): Wake {
  return (enqueue) => {
    const wake = (uid: string) => {
      const agent = agentByUid(uid);
      if (agent) enqueue(keyOf(agent));
    };
    const unsubscribes = [
      ...here.drivers.map((driver) => driver.onChange(wake)),
      sessionWakes({ sessions, agentByUid, wake }),
      git.wake(enqueue),
    ];
    return () => {
      for (const unsubscribe of unsubscribes) unsubscribe();
    };
  };
}

/** Of a team that lets its agents talk each one knows the addresses of the others; what a team allows reaches its sub-teams too. */
export function agentWatches(store: Pick<Store, 'list' | 'get'>): Watch[] {
  const teams = new Fingerprints();
  const agents = new Fingerprints();
  const membersOf = (namespace: string, team: string): Key[] =>
    store.list('Agent', { namespace, fieldSelector: `spec.team=${team}` }).items.map(keyOf);
  const agentIn = (namespace: string, name: string | undefined) =>
    name === undefined ? undefined : (store.get({ kind: 'Agent', namespace, name }) as Agent | undefined);
  const beginnersOf = (namespace: string, team: string): Key[] =>
    (store.list('Agent', { namespace, fieldSelector: `spec.team=${team}` }).items as readonly Agent[]).filter(beginsGolden).map(keyOf);
  return [
    {
      kind: 'Team',
      delayMs: TEAM_DELAY_MS,
      toKeys(changed, type) {
        const { metadata, spec } = changed as Team;
        // The status of a Team changes all the time, and a look at each agent of a large home for each change would never end.
        if (!teams.isNews(changed, type, [metadata.uid, spec.parent, spec.network, spec.repo, spec.golden])) return [];
        const { namespace, name } = metadata;
        return [name, ...descendantsOf(store, namespace, name)].flatMap((team) => membersOf(namespace, team));
      },
    },
    {
      kind: 'Task',
      toKeys(changed, type, before) {
        const { metadata, status } = changed as Task;
        const owner = agentIn(metadata.namespace, status?.owner);
        // One that plans may be held, and everything that it has to do counts then.
        const isHeld = owner?.status?.conditions?.some(({ type: of }) => of === 'PlanHold');
        const [now, then] = [type === 'DELETED' ? undefined : plannerOf(changed as Task), before && plannerOf(before as Task)];
        const names = new Set([...(now === then ? [] : [now, then]), ...(isHeld ? [status?.owner] : [])]);
        return [...names].flatMap((name) => (name === undefined ? [] : [{ kind: 'Agent', namespace: metadata.namespace, name }]));
      },
    },
    {
      kind: 'Snapshot',
      toKeys(changed) {
        const { metadata, spec } = changed as Snapshot;
        const teams = store.list('Team', { namespace: metadata.namespace }).items as readonly Team[];
        const users = teams.filter(({ metadata: { name }, spec: { golden } }) =>
          spec.golden === undefined ? golden?.from?.startsWith(`${spec.team}/`) : name === spec.team,
        );
        return users.flatMap(({ metadata: { namespace, name } }) => beginnersOf(namespace, name));
      },
    },
    {
      kind: 'Agent',
      delayMs: TEAM_DELAY_MS,
      toKeys(changed, type) {
        const { metadata, spec, status } = changed as Agent;
        if (!agents.isNews(changed, type, [metadata.uid, status?.ip])) return [];
        const team = store.get({ kind: 'Team', namespace: metadata.namespace, name: spec.team }) as Team | undefined;
        return team?.spec.network?.allowInterAgent ? membersOf(metadata.namespace, spec.team) : [];
      },
    },
  ];
}

/** What was last seen of each object, as far as it matters to others. */
class Fingerprints {
  readonly #seen = new Map<string, string>();

  isNews(object: KindObject, type: string, facts: readonly unknown[]): boolean {
    const id = formatKey(keyOf(object));
    const before = this.#seen.get(id);
    const fingerprint = JSON.stringify(facts);
    if (type === 'DELETED') this.#seen.delete(id);
    else this.#seen.set(id, fingerprint);
    return type === 'DELETED' || type === 'SYNC' || before !== fingerprint;
  }
}

/** Each once, also where teams wrongly stand in a ring. */
function descendantsOf(store: Pick<Store, 'list'>, namespace: string, name: string): string[] {
  const found = new Set<string>();
  const add = (parent: string): void => {
    for (const { metadata } of store.list('Team', { namespace, fieldSelector: `spec.parent=${parent}` }).items) {
      if (metadata.name === name || found.has(metadata.name)) continue;
      found.add(metadata.name);
      add(metadata.name);
    }
  };
  add(name);
  return [...found];
}
