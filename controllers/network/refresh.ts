/** Brings the rules in line with all Teams and Agents. One at a time; calls during a run share the next one, which sees what they saw. */
import type { Agent, Team } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import type { Network } from '#network/network.ts';
import { isMember, type KnownNumbers, parentOf, policyOf, type TeamsByName, teamOfAgent, teamsByName } from './policy.ts';

export interface NumberTable extends KnownNumbers {
  /** A new one, if it has none, is on disk when it resolves. */
  ensure(kind: 'teams' | 'agents', uid: string): Promise<number>;
  release(kind: 'teams' | 'agents', uid: string): void;
  entries(kind: 'teams' | 'agents'): ReadonlyMap<string, number>;
}

export interface RefreshDeps {
  readonly client: Client;
  readonly network: Network;
  readonly numbers: NumberTable;
}

export interface Rules {
  /** Whether the rules in force were made with this agent and what its teams allow now: then there is nothing to bring in line. */
  cover(agent: Agent, teams: TeamsByName): boolean;
  refresh(signal: AbortSignal): Promise<void>;
  /** Somebody else was at the rules: no agent counts as covered before the next refresh. */
  doubt(): void;
}

export function createRules({ client, network, numbers }: RefreshDeps): Rules {
  let last: Promise<unknown> = Promise.resolve();
  let next: Promise<void> | undefined;
  /** Of the agents in the rules that were last applied, what the rules were made from. */
  let applied: ReadonlyMap<string, string> = new Map();
  const apply = async (signal: AbortSignal): Promise<void> => {
    const [teams, agents] = await Promise.all([client.list<Team>('Team'), client.list<Agent>('Agent')]);
    const byName = teamsByName(teams.items);
    const numbered = agents.items.filter((agent) => numbers.find('agents', agent.metadata.uid) !== undefined);
    const led = new Set(numbered.flatMap((agent) => teamOfAgent(agent, byName)?.metadata.uid ?? []));
    await Promise.all([...led].map((uid) => numbers.ensure('teams', uid)));
    const members = numbered.filter(isMember);
    await network.apply(policyOf(byName, agents.items, numbers), signal).catch((error: unknown) => {
      // Nobody knows what is in force now, also of those whose rules were to stay the same.
      applied = new Map();
      throw error;
    });
    applied = new Map(members.map((agent) => [agent.metadata.uid, basisOf(agent, byName)]));
  };
  return {
    cover: (agent, teams) => applied.get(agent.metadata.uid) === basisOf(agent, teams),
    refresh(signal) {
      if (next !== undefined) return next;
      const start = (): Promise<void> => {
        next = undefined;
        return apply(signal);
      };
      next = last.then(start, start);
      last = next;
      return next;
    },
    doubt() {
      applied = new Map();
    },
  };
}

/** Everything of its team and the teams above it that a rule may come from. */
function basisOf(agent: Agent, teams: TeamsByName): string {
  const chain: Team[] = [];
  for (let team = teamOfAgent(agent, teams); team && !chain.includes(team); team = parentOf(team, teams)) chain.push(team);
  return JSON.stringify(chain.map(({ metadata, spec }) => [metadata.uid, spec.parent, spec.network]));
}
