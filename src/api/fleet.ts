/** All agents there are or are asked for, counted against the limits of the machine and of one team. Pure. */
import type { FieldProblem } from '#lib/errors.ts';
import type { Limits } from './limits.ts';
import { agentNamesOf } from './team-budget.ts';
import type { Agent, Team } from './types.ts';

export interface Fleet {
  readonly teams: readonly Team[];
  readonly agents: readonly Agent[];
}

export interface Size {
  readonly agents: number;
  readonly memoryMiB: number;
}

/** Every agent once, whether its team asks for it, it exists, or both. A team that goes asks for nothing any more. */
export function sizeOf({ teams, agents }: Fleet): Size {
  const memory = new Map<string, number>();
  for (const team of teams) {
    if (team.metadata.deletionTimestamp !== undefined) continue;
    const sizes = team.spec.roles.flatMap(({ count, resources }) => Array.from({ length: count }, () => resources.memoryMiB));
    agentNamesOf(team).forEach((name, index) => {
      memory.set(`${team.metadata.namespace}/${name}`, sizes[index] ?? 0);
    });
  }
  for (const { metadata, spec } of agents) {
    const id = `${metadata.namespace}/${metadata.name}`;
    if (!memory.has(id)) memory.set(id, spec.resources.memoryMiB);
  }
  return { agents: memory.size, memoryMiB: [...memory.values()].reduce((sum, each) => sum + each, 0) };
}

/** What a write adds to the fleet and the machine has no room for. What was too much before may stay, but not grow. */
export function fleetProblems(before: Size, after: Size, limits: Limits, segments: readonly string[]): FieldProblem[] {
  return [
    ...excess('limits.maxAgents', { limit: limits.maxAgents, used: before.agents, wanted: after.agents, unit: 'agents' }, segments),
    ...excess(
      'limits.maxMemoryMiB',
      { limit: limits.maxMemoryMiB, used: before.memoryMiB, wanted: after.memoryMiB, unit: 'MiB of memory' },
      segments,
    ),
  ];
}

/** Of one team; `used` and `wanted`: its own agents before and after. */
export function teamCapProblems(used: number, wanted: number, { maxAgentsPerTeam }: Limits, segments: readonly string[]): FieldProblem[] {
  return excess('limits.maxAgentsPerTeam', { limit: maxAgentsPerTeam, used, wanted, unit: 'agents of one team' }, segments);
}

interface Amount {
  readonly limit: number;
  readonly used: number;
  readonly wanted: number;
  readonly unit: string;
}

function excess(name: string, { limit, used, wanted, unit }: Amount, segments: readonly string[]): FieldProblem[] {
  if (wanted <= limit || wanted <= used) return [];
  const numbers = `limit ${limit}, used ${used}, asked ${wanted - used}`;
  const message = `Forbidden: too many ${unit}: ${numbers} (${name}); ask for less, or make room first (QuotaExceeded)`;
  return [{ path: segments.join('.'), segments, kind: 'Forbidden', message }];
}

/** Phases in which an agent has a workspace that runs, or is about to. */
const RUNNING: readonly unknown[] = ['Starting', 'Ready', 'Working', 'Suspended', 'Stopping'];

export interface StartHold {
  readonly reason: 'TeamNotFound' | 'QuotaExceeded';
  readonly message: string;
}

export interface AroundStart {
  /** That the agent belongs to; undefined when there is none of that name. */
  readonly team: Team | undefined;
  /** All that exist. */
  readonly agents: readonly Agent[];
  /** What stands ready without belonging to an agent yet. */
  readonly pool?: Size;
}

/** For the last look, just before an agent is made: why it cannot be now, or undefined. What files brought passed no front door. */
export function startHold(agent: Agent, { team, agents, pool = NO_POOL }: AroundStart, limits: Limits): StartHold | undefined {
  if (!team)
    return { reason: 'TeamNotFound', message: `there is no team ${agent.spec.team} in this namespace; create it, or delete the agent` };
  const used = inUse(
    agents.filter(({ metadata }) => metadata.uid !== agent.metadata.uid),
    pool,
  );
  const wanted = { agents: used.agents + 1, memoryMiB: used.memoryMiB + agent.spec.resources.memoryMiB };
  const [problem] = fleetProblems(used, wanted, limits, []);
  return problem && { reason: 'QuotaExceeded', message: problem.message.replace(/^Forbidden: | \(QuotaExceeded\)$/g, '') };
}

/** Whether so much may stand ready without belonging to an agent, beside the agents that run. */
export function hasRoomFor(pool: Size, agents: readonly Agent[], { maxAgents, maxMemoryMiB }: Limits): boolean {
  const used = inUse(agents, pool);
  return used.agents <= maxAgents && used.memoryMiB <= maxMemoryMiB;
}

function inUse(agents: readonly Agent[], pool: Size): Size {
  const running = agents.filter(({ status }) => RUNNING.includes(status?.phase));
  return {
    agents: running.length + pool.agents,
    memoryMiB: running.reduce((sum, { spec }) => sum + spec.resources.memoryMiB, pool.memoryMiB),
  };
}

const NO_POOL: Size = { agents: 0, memoryMiB: 0 };
