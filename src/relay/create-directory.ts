/** The teams around an agent: who is there, what its team may still have, and a sub-team of its own. */
import { DEFAULT_LIMITS, type Limits } from '#api/limits.ts';
import { API_VERSION } from '#api/meta.ts';
import { grantedTo, ownAgents, reservedIn, spentOn } from '#api/team-budget.ts';
import { depthProblem, effectivePolicy, type Lineage, lineageOf } from '#api/team-rules.ts';
import { type Agent, shortName, type Task, type Team } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import { type Clock, systemClock } from '#lib/clock.ts';
import { AgentisoError, type ErrorCode, NotFoundError } from '#lib/errors.ts';
import type { AgentInfo } from '#protocol/agent-verbs.ts';
import type { Directory } from './directory.ts';
import { excessOf } from './inherited-secrets.ts';
import { LEAD, nameOf, type Principal } from './principal.ts';

export interface DirectoryDeps {
  readonly client: Client;
  readonly clock?: Clock;
  /** Whether a program of that agent waits for a message; nobody does when absent. */
  readonly isWaiting?: (uid: string) => boolean;
  readonly limits?: Pick<Limits, 'maxNestingDepth'>;
  /** What a front door asks of a new object besides its own rules; throws what is refused. */
  readonly check?: (team: Team) => void;
}

export function createDirectory(deps: DirectoryDeps): Directory {
  const { client, clock = systemClock, isWaiting = () => false, check, limits = DEFAULT_LIMITS } = deps;
  return {
    async listAgents(principal) {
      const { team, teams } = await surroundings(client, principal);
      const near = teams.filter((other) => isNear(team, other)).map(({ metadata }) => metadata.name);
      const { namespace } = team.metadata;
      const agents = (await client.list<Agent>('Agent', { namespace })).items.filter(({ spec }) => near.includes(spec.team));
      const tasks = (await client.list<Task>('Task', { namespace })).items;
      return agents.flatMap((agent) => toAgentInfo(agent, tasks, { now: clock.now(), isWaiting: isWaiting(agent.metadata.uid) }) ?? []);
    },
    async createSubTeam(principal, { name, roles, max_agents }) {
      const { team, lineage } = await surroundings(client, principal);
      refuseByPolicy(principal, team, lineage);
      refuseSecrets(name, roles, team);
      const count = roles.reduce((sum, role) => sum + (typeof role['count'] === 'number' ? role['count'] : 1), 0);
      const maxAgents = max_agents ?? count;
      refuseDepth(name, team, lineage, limits.maxNestingDepth);
      await refuseBudget(client, { name, maxAgents, team, lineage });
      const made = await create(client, subTeamOf(team, lineage, { name, roles, maxAgents }), check);
      return {
        success: true,
        team_name: made.metadata.name,
        member_count: count,
        message: `team ${made.metadata.name} with ${count} ${count === 1 ? 'agent' : 'agents'} is being made below team ${team.metadata.name}`,
      };
    },
    async budget(principal) {
      const { team, lineage } = await surroundings(client, principal);
      const own = await ownOf(client, team);
      const reserved = reservedIn(team);
      const all = [team, ...lineage.ancestors];
      return {
        max_agents: team.spec.budget.maxAgents,
        used: own,
        reserved,
        remaining: grantedTo(team, lineage.ancestors[0]) - own - reserved,
        depth: lineage.ancestors.length,
        max_depth: Math.min(limits.maxNestingDepth, ...all.map(({ spec }) => spec.budget.maxDepth)),
      };
    },
  };
}

interface Around {
  readonly team: Team;
  readonly teams: readonly Team[];
  readonly lineage: Lineage;
}

async function surroundings(client: Client, principal: Principal): Promise<Around> {
  if (principal.kind !== 'agent') throw new AgentisoError('Forbidden', 'only an agent has a team of its own');
  const { metadata, spec } = principal.agent;
  const teams = (await client.list<Team>('Team', { namespace: metadata.namespace })).items;
  const find = (name: string) => teams.find((team) => team.metadata.name === name);
  const team = find(spec.team);
  if (!team) throw new NotFoundError(`there is no team ${spec.team} in namespace ${metadata.namespace}`);
  return { team, teams, lineage: lineageOf(team, find) };
}

function isNear(team: Team, other: Team): boolean {
  return other === team || other.metadata.name === team.spec.parent || other.spec.parent === team.metadata.name;
}

/** Undefined for an agent that does not live: nobody can work with it. */
function toAgentInfo(
  { metadata, spec, status }: Agent,
  tasks: readonly Task[],
  { now, isWaiting }: { readonly now: Date; readonly isWaiting: boolean },
): AgentInfo | undefined {
  const isAlive = (status?.phase === 'Ready' || status?.phase === 'Working') && metadata.deletionTimestamp === undefined;
  if (!isAlive) return undefined;
  const held = tasks.filter((task) => task.status?.owner === metadata.name && isHeld(task));
  const [current] = held;
  const startedMs = Date.parse(status.startedAt ?? '');
  return {
    name: shortName(spec.team, metadata.name),
    team: spec.team,
    role: spec.role ?? spec.roleName ?? shortName(spec.team, metadata.name),
    skills: spec.skills ?? [],
    status: isWaiting ? 'waiting' : wordOf(status.phase === 'Working', held),
    uptime_seconds: Number.isNaN(startedMs) ? 0 : Math.max(0, Math.floor((now.getTime() - startedMs) / 1_000)),
    ...(spec.model ? { model: spec.model } : {}),
    ...(current ? { current_task: shortName(current.spec.team, current.metadata.name) } : {}),
  };
}

function isHeld({ status }: Task): boolean {
  return status?.phase === 'Claimed' || status?.phase === 'Running';
}

function wordOf(isWorking: boolean, held: readonly Task[]): AgentInfo['status'] {
  if (isWorking || held.some((task) => !awaitsApproval(task))) return 'running';
  return held.length > 0 ? 'waiting' : 'idle';
}

function awaitsApproval({ spec, status }: Task): boolean {
  const approved = status?.conditions?.find(({ type }) => type === 'PlanApproved')?.status;
  return spec.planRequired === true && approved !== 'True';
}

function refuseByPolicy(principal: Principal, team: Team, { ancestors }: Lineage): void {
  const { subTeams } = effectivePolicy(team, ancestors);
  if (subTeams === 'Any' || (subTeams === 'Lead' && nameOf(principal) === LEAD)) return;
  const who = subTeams === 'Lead' ? 'only its lead may' : 'nobody may';
  throw new AgentisoError('Forbidden', `team ${team.metadata.name}: ${who} create sub-teams (spec.subTeams is ${subTeams})`, {
    hint: 'ask the lead or the people who run the team',
  });
}

/** The keys of people are theirs to give. */
function refuseSecrets(name: string, roles: Parameters<typeof excessOf>[0], team: Team): void {
  const excess = excessOf(roles, team);
  if (excess === undefined) return;
  throw new AgentisoError('Forbidden', `team ${name} cannot be made: ${excess}`, { hint: 'ask the people who run the team' });
}

function refuseDepth(name: string, team: Team, { ancestors, isRing }: Lineage, deepest: number): void {
  const problem = depthProblem({ ancestors: [team, ...ancestors], isRing }, deepest);
  if (problem !== undefined) throw new AgentisoError('DepthExceeded', `team ${name}: ${problem}`);
}

interface Wish {
  readonly name: string;
  readonly maxAgents: number;
  readonly team: Team;
  readonly lineage: Lineage;
}

/** As the team's controller will see it; it has the last word. */
async function refuseBudget(client: Client, { name, maxAgents, team, lineage }: Wish): Promise<void> {
  const own = await ownOf(client, team);
  const room = grantedTo(team, lineage.ancestors[0]) - own - reservedIn(team);
  if (maxAgents <= room) return;
  const numbers = `budget.maxAgents is ${team.spec.budget.maxAgents}: ${spentOn(team, own)}; ${Math.max(0, room)} remain`;
  const message = `team ${team.metadata.name} has no room for the ${maxAgents} agents of team ${name}: ${numbers}`;
  throw new AgentisoError('QuotaExceeded', message, { hint: 'ask for fewer agents' });
}

async function ownOf(client: Client, team: Team): Promise<number> {
  const { namespace, name } = team.metadata;
  const { items } = await client.list<Agent>('Agent', { namespace, fieldSelector: `spec.team=${name}` });
  return ownAgents(
    team,
    items.map(({ metadata }) => metadata.name),
  );
}

/** What its parent is, and may, as far as a sub-team has it by itself: how it is isolated, what it works on, who may go deeper. */
function subTeamOf(parent: Team, { ancestors }: Lineage, asked: { name: string; roles: readonly unknown[]; maxAgents: number }): Team {
  const { isolation, repo } = parent.spec;
  const { subTeams, minimum } = effectivePolicy(parent, ancestors);
  return {
    apiVersion: API_VERSION,
    kind: 'Team',
    metadata: { name: asked.name, namespace: parent.metadata.namespace },
    spec: {
      parent: parent.metadata.name,
      roles: asked.roles,
      budget: { maxAgents: asked.maxAgents },
      isolation: { ...isolation, minimum },
      subTeams,
      ...(repo && { repo }),
    },
  } as unknown as Team;
}

const PASSED_ON: readonly ErrorCode[] = ['DepthExceeded', 'QuotaExceeded'];

async function create(client: Client, team: Team, check: DirectoryDeps['check']): Promise<Team> {
  try {
    check?.(team);
    return await client.create<Team>(team);
  } catch (error) {
    const code = error instanceof AgentisoError ? PASSED_ON.find((one) => one === error.reason) : undefined;
    if (code === undefined || !(error instanceof Error)) throw error;
    throw new AgentisoError(code, error.message, { cause: error });
  }
}
