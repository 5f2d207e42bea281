/** What an agent's guest is told about the world around it: where it serves HTTP, with which secrets, who its peers are. */
import { join } from 'node:path';
import { type Agent, shortName, type Team } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import type { Surroundings } from '#controllers/agent/deps.ts';
import { permissionsOf, type TeamsByName, teamOfAgent } from '#controllers/network/policy.ts';
import { teamsAround } from '#controllers/network/team-chain.ts';
import type { Driver } from '#drivers/driver.ts';
import { uidOf } from '#drivers/local/team-uid.ts';
import type { Numbers } from '#lib/numbers.ts';
import { loopbackOf } from '#network/addresses.ts';
import type { Egress } from '#network/egress/create-egress.ts';
import type { Network } from '#network/network.ts';
import type { DriversHere } from './isolation.ts';
import type { TeamTokens } from './team-tokens.ts';

export interface SurroundingsDeps {
  readonly homeHash: string;
  readonly here: Pick<DriversHere, 'drivers'> & { readonly sandbox: Pick<DriversHere['sandbox'], 'mode'> };
  readonly numbers: Pick<Numbers, 'ensure'>;
  readonly tokens: Pick<TeamTokens, 'ofAgent' | 'ofTeam'>;
  readonly network: Pick<Network, 'mode'>;
  readonly egress: Pick<Egress, 'listen'>;
}

/** What is not isolated needs no proxy to get out. */
const CLOSED = { allowDomains: [], allowInternet: false };

/** The agent as this pass knows it: its first pass has not written down yet where the workspace is. */
export async function surroundingsOf(deps: SurroundingsDeps, client: Client, agent: Agent): Promise<Surroundings> {
  const { numbers, tokens, network, egress } = deps;
  const { uid, namespace } = agent.metadata;
  const teams = await teamsAround(client, agent);
  const team = teamOfAgent(agent, teams);
  const agentToken = tokens.ofAgent(uid);
  const driver = deps.here.drivers.find(({ name }) => name === agent.status?.isolation?.driver);
  if (driver?.name === 'process') {
    await egress.listen(uid, join(driver.runDirectory(uid), 'egress.sock'), CLOSED);
    const number = await numbers.ensure('agents', uid);
    // It shares this machine's loopback: the guest's own address there is one of the machine's.
    return { httpAddress: loopbackOf(deps.homeHash, number), agentToken, teamToken: null, peers: {} };
  }
  if (team && driver) await ensureEgress(deps, driver, agent, { team, teams });
  const isOpen = team !== undefined && network.mode === 'nftables' && permissionsOf(team, teams).allowInterAgent;
  if (!isOpen) return { httpAddress: null, agentToken, teamToken: null, peers: {} };
  const members = (await client.list<Agent>('Agent', { namespace, fieldSelector: `spec.team=${agent.spec.team}` })).items;
  return {
    httpAddress: agent.status?.ip ?? null,
    agentToken,
    teamToken: tokens.ofTeam(
      team.metadata.uid,
      members.map(({ metadata }) => metadata.uid),
    ),
    peers: Object.fromEntries(
      members.flatMap(({ metadata, spec, status }) => (status?.ip ? [[status.ip, shortName(spec.team, metadata.name)]] : [])),
    ),
  };
}

async function ensureEgress(
  { egress, here, numbers }: SurroundingsDeps,
  driver: Driver,
  { metadata: { uid } }: Agent,
  { team, teams }: { readonly team: Team; readonly teams: TeamsByName },
): Promise<void> {
  const { allowDomains, allowInternet } = permissionsOf(team, teams);
  const owner = here.sandbox.mode === 'root' ? { uid: uidOf(await numbers.ensure('teams', team.metadata.uid)) } : {};
  await egress.listen(uid, join(driver.runDirectory(uid), 'egress.sock'), { allowDomains, allowInternet }, owner);
}
