/** The team of an agent and the teams above it: what it may do comes from these alone, and a home may have very many others. */
import type { Agent, Team } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import { ignoreNotFound } from '#lib/errors.ts';
import { type TeamsByName, teamsByName } from './policy.ts';

export async function teamsAround(client: Client, { metadata: { namespace }, spec }: Agent): Promise<TeamsByName> {
  const chain: Team[] = [];
  for (let name: string | null | undefined = spec.team; typeof name === 'string'; ) {
    const team: Team | undefined = await ignoreNotFound(client.get<Team>({ kind: 'Team', namespace, name }));
    // A ring of parents is seen as what it is by whoever goes along the chain.
    if (!team || chain.some(({ metadata }) => metadata.name === team.metadata.name)) break;
    chain.push(team);
    name = team.spec.parent;
  }
  return teamsByName(chain);
}
