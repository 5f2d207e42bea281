/** From Teams and Agents to what the rules must say. Pure. */
import type { Agent, Team } from '#api/types.ts';
import { isNameIn, isRangeIn, plainRange } from '#lib/network-names.ts';
import type { Policy, TeamPolicy } from '#network/network.ts';

/** The agent controller's: as long as it is there, something of the agent may still run. */
export const WORKSPACE_FINALIZER = 'agentiso.dev/workspace';

export interface KnownNumbers {
  find(kind: 'teams' | 'agents', uid: string): number | undefined;
}

/** What a team may do once all its parents have had their say. */
export type Permissions = Pick<TeamPolicy, 'allowInterAgent' | 'allowedPorts' | 'allowInternet' | 'allowCidrs'> & {
  /** Names the proxy lets through; the rules know nothing of them. */
  readonly allowDomains: readonly string[];
};

const NOTHING: Permissions = { allowInterAgent: false, allowedPorts: [], allowInternet: false, allowCidrs: [], allowDomains: [] };

export type TeamsByName = ReadonlyMap<string, Team>;

export function teamsByName(teams: readonly Team[]): TeamsByName {
  return new Map(teams.map((team) => [nameOf(team.metadata.namespace, team.metadata.name), team]));
}

export function teamOfAgent({ metadata, spec }: Agent, teams: TeamsByName): Team | undefined {
  return teams.get(nameOf(metadata.namespace, spec.team));
}

export function parentOf({ metadata, spec }: Team, teams: TeamsByName): Team | undefined {
  return typeof spec.parent === 'string' ? teams.get(nameOf(metadata.namespace, spec.parent)) : undefined;
}

/** An agent has a part in the rules from when it has a number until nothing of it can run any more. An agent without a team has no rights. */
export function policyOf(teams: TeamsByName, agents: readonly Agent[], numbers: KnownNumbers): Policy {
  const members = agents.filter(isMember).flatMap((agent) => {
    const number = numbers.find('agents', agent.metadata.uid);
    const team = numberOfTeam(teamOfAgent(agent, teams), numbers);
    return number === undefined || team === undefined ? [] : [{ agent: number, team }];
  });
  const policies = [...teams.values()].flatMap((team): TeamPolicy[] => {
    const number = numberOfTeam(team, numbers);
    if (number === undefined) return [];
    const parent = numberOfTeam(parentOf(team, teams), numbers);
    return [{ team: number, ...permissionsOf(team, teams), ...(parent === undefined ? {} : { parent }) }];
  });
  return { teams: policies, members };
}

export function isMember({ metadata }: Agent): boolean {
  return metadata.deletionTimestamp === undefined || (metadata.finalizers ?? []).includes(WORKSPACE_FINALIZER);
}

/** Never more than any of its parents. A parent that is not there, or a ring of parents, allows nothing. */
export function permissionsOf(team: Team, teams: TeamsByName): Permissions {
  const seen = new Set([team]);
  let permissions = ownPermissions(team);
  for (let child = team; typeof child.spec.parent === 'string'; ) {
    const parent = parentOf(child, teams);
    if (!parent || seen.has(parent)) return NOTHING;
    seen.add(parent);
    permissions = intersect(permissions, ownPermissions(parent));
    child = parent;
  }
  return permissions;
}

function ownPermissions({ spec: { network } }: Team): Permissions {
  const { allowInterAgent = false, allowedPorts = [], allowInternet = false, allowCidrs = [], allowDomains = [] } = network ?? {};
  return { allowInterAgent, allowedPorts, allowInternet, allowCidrs: allowCidrs.map(plainRange), allowDomains };
}

function intersect(a: Permissions, b: Permissions): Permissions {
  const allowedPorts = intersectPorts(a.allowedPorts, b.allowedPorts);
  return {
    // No common port is not the same as no list, which would mean all of them.
    allowInterAgent: a.allowInterAgent && b.allowInterAgent && allowedPorts !== undefined,
    allowedPorts: allowedPorts ?? [],
    allowInternet: a.allowInternet && b.allowInternet,
    allowCidrs: commonOf(a.allowCidrs, b.allowCidrs, isRangeIn),
    allowDomains: commonOf(a.allowDomains, b.allowDomains, isNameIn),
  };
}

function intersectPorts(a: readonly number[], b: readonly number[]): readonly number[] | undefined {
  if (a.length === 0) return b;
  if (b.length === 0) return a;
  const common = a.filter((port) => b.includes(port));
  return common.length === 0 ? undefined : common;
}

/** Of two that may lie one in the other: the inner one, or nothing when they lie apart. */
function common(one: string, other: string, isIn: (inner: string, outer: string) => boolean): string[] {
  if (isIn(other, one)) return [other];
  return isIn(one, other) ? [one] : [];
}

function commonOf(a: readonly string[], b: readonly string[], isIn: (inner: string, outer: string) => boolean): string[] {
  return [...new Set(a.flatMap((one) => b.flatMap((other) => common(one, other, isIn))))];
}

function numberOfTeam(team: Team | undefined, numbers: KnownNumbers): number | undefined {
  return team && numbers.find('teams', team.metadata.uid);
}

function nameOf(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}
