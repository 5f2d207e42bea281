/** Brings the rules in line with all Teams and Agents. One at a time; calls during a run share the next one, which sees what they saw. */
import type { Agent, Team } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import type { Network } from '#network/network.ts';
import { type KnownNumbers, policyOf, teamOfAgent, teamsByName } from './policy.ts';

export interface NumberTable extends KnownNumbers {
  numberOf(kind: 'teams' | 'agents', uid: string): number;
  release(kind: 'teams' | 'agents', uid: string): void;
  entries(kind: 'teams' | 'agents'): ReadonlyMap<string, number>;
}

export interface RefreshDeps {
  readonly client: Client;
  readonly network: Network;
  readonly numbers: NumberTable;
}

export function refresher({ client, network, numbers }: RefreshDeps): (signal: AbortSignal) => Promise<void> {
  let last: Promise<unknown> = Promise.resolve();
  let next: Promise<void> | undefined;
  const refresh = async (signal: AbortSignal): Promise<void> => {
    const [teams, agents] = await Promise.all([client.list<Team>('Team'), client.list<Agent>('Agent')]);
    const byName = teamsByName(teams.items);
    for (const agent of agents.items) {
      const team = teamOfAgent(agent, byName);
      if (team && numbers.find('agents', agent.metadata.uid) !== undefined) numbers.numberOf('teams', team.metadata.uid);
    }
    await network.apply(policyOf(byName, agents.items, numbers), signal);
  };
  return (signal) => {
    if (next !== undefined) return next;
    const start = (): Promise<void> => {
      next = undefined;
      return refresh(signal);
    };
    next = last.then(start, start);
    last = next;
    return next;
  };
}
