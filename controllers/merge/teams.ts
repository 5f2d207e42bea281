/** Whose work a merge may take: that of its team's agents and of all teams below it. And where that work lies. */
import { type Agent, type Merge, shortName, type Team } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import type { TeamRepositories, TeamRepository } from '#git/team-repository.ts';
import { AgentisoError, ignoreNotFound, StalledError } from '#lib/errors.ts';

export function teamNamed(client: Client, namespace: string, name: string): Promise<Team | undefined> {
  return ignoreNotFound(client.get<Team>({ kind: 'Team', namespace, name }));
}

export function repositoryOf({ metadata, spec: { repo } }: Team, repositories: TeamRepositories): Promise<TeamRepository> {
  const source = {
    ...(repo?.path != null && { path: repo.path }),
    ...(repo?.url != null && { url: repo.url }),
    ...(repo?.ref !== undefined && { ref: repo.ref }),
  };
  return repositories.open({ uid: metadata.uid, namespace: metadata.namespace, name: metadata.name, source });
}

/** Throws StalledError when there is none, or it belongs to a team that this one has no say over. */
export async function agentNamed(client: Client, { metadata: { namespace }, spec: { team } }: Merge, name: string): Promise<Agent> {
  for (const full of new Set([`${team}-${shortName(team, name)}`, name])) {
    const agent = await ignoreNotFound(client.get<Agent>({ kind: 'Agent', namespace, name: full }));
    if (!agent) continue;
    if (await isWithin(client, agent, team)) return agent;
    if (full === name) {
      const message = `agent ${name} belongs to team ${agent.spec.team}, which is not below ${team}; a team merges its own work and that of its sub-teams`;
      throw new StalledError('Forbidden', message);
    }
  }
  throw new StalledError('AgentNotFound', `team ${team} has no agent ${name}`);
}

/** More levels than teams may have. */
const MAX_LEVELS = 32;

async function isWithin(client: Client, { metadata: { namespace }, spec }: Agent, team: string): Promise<boolean> {
  let name: string | undefined = spec.team;
  for (let level = 0; name !== undefined && level < MAX_LEVELS; level += 1) {
    if (name === team) return true;
    name = (await teamNamed(client, namespace, name))?.spec.parent ?? undefined;
  }
  return false;
}

export interface Carried {
  readonly commit: string;
  /** Known on both sides, if it is. */
  readonly base?: string | undefined;
  /** Where it is kept. */
  readonly ref: string;
}

/** From the repository of a sub-team into the one that the merge works in. */
export async function carry(agent: Agent, { commit, base, ref }: Carried, to: TeamRepository, deps: Parties): Promise<void> {
  if (agent.spec.team === deps.merge.spec.team) return;
  if ((await to.resolve(commit)) !== undefined) return;
  const team = await teamNamed(deps.client, agent.metadata.namespace, agent.spec.team);
  const from = team && (await deps.repositories.find(team.metadata.uid));
  if (!from) throw new StalledError('TeamNotFound', `there is no team ${agent.spec.team}`);
  const have = base !== undefined && (await to.resolve(base)) !== undefined && (await from.resolve(base)) !== undefined ? [base] : [];
  const received = await to.receive(
    from.bundle(commit, have, deps.signal),
    { agentUid: agent.metadata.uid, refOf: () => ref },
    deps.signal,
  );
  if (received.state === 'refused') throw new StalledError(received.reason, received.message);
  if ((await to.resolve(commit)) === undefined)
    throw new AgentisoError('IoError', `commit ${commit} of ${agent.metadata.name} did not arrive`);
}

export interface Parties {
  readonly client: Client;
  readonly repositories: TeamRepositories;
  readonly merge: Merge;
  readonly signal: AbortSignal;
}
