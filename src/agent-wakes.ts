/** What makes an agent worth a look: its workspace, its session, its team, its team mates. */
import { type KindObject, keyOf } from '#api/meta.ts';
import type { Agent, Team } from '#api/types.ts';
import type { Key, Wake, Watch } from '#runtime/controller.ts';
import type { Store } from '#store/store.ts';
import type { Agents } from './agents.ts';

/** Addresses and phases of team mates change in bursts when a team starts. */
const TEAM_DELAY_MS = 250;

export function agentWakes({ here, sessions }: Pick<Agents, 'here' | 'sessions'>, agentByUid: (uid: string) => Agent | undefined): Wake {
  return (enqueue) => {
    const wake = (uid: string) => {
      const agent = agentByUid(uid);
      if (agent) enqueue(keyOf(agent));
    };
    const unsubscribes = [...here.drivers.map((driver) => driver.onChange(wake)), sessions.onChange(wake)];
    return () => {
      for (const unsubscribe of unsubscribes) unsubscribe();
    };
  };
}

/** Of a team that lets its agents talk each one knows the addresses of the others; what a team allows reaches its sub-teams too. */
export function agentWatches(store: Pick<Store, 'list' | 'get'>): Watch[] {
  const keysWhere = (isConcerned: (agent: Agent) => boolean): Key[] =>
    (store.list('Agent').items as Agent[]).filter(isConcerned).map(keyOf);
  return [
    {
      kind: 'Team',
      delayMs: TEAM_DELAY_MS,
      toKeys: ({ metadata }) => keysWhere((agent) => agent.metadata.namespace === metadata.namespace),
    },
    {
      kind: 'Agent',
      delayMs: TEAM_DELAY_MS,
      toKeys(changed: KindObject) {
        const { metadata, spec } = changed as Agent;
        const team = store.get({ kind: 'Team', namespace: metadata.namespace, name: spec.team }) as Team | undefined;
        if (!team?.spec.network?.allowInterAgent) return [];
        return keysWhere((agent) => agent.spec.team === spec.team && agent.metadata.namespace === metadata.namespace);
      },
    },
  ];
}
