/** A daemon with many teams of simulated agents, and the work they are given. */
import { API_VERSION, type Draft, type KindObject } from '#api/meta.ts';
import type { Task, Team } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import { type Daemon, startDaemon } from '../../src/daemon/daemon.ts';
import { SimulatedMachine } from './simulated-machine.ts';

export interface FleetSize {
  readonly teams: number;
  readonly agentsPerTeam: number;
  readonly tasks: number;
}

export interface Fleet {
  readonly daemon: Daemon;
  readonly client: Client;
  readonly machine: SimulatedMachine;
}

const CREATED_AT_ONCE = 64;

/** Agents go on when it stops, for the next daemon. */
export async function openFleet(home: string, machine = new SimulatedMachine()): Promise<Fleet> {
  const limits = { maxAgents: 100_000, maxMemoryMiB: 2 ** 30 };
  const daemon = await startDaemon({ home, logLevel: 'error', keepWorkspaces: true, limits }, { machine: machine.parts });
  return { daemon, client: daemon.client, machine };
}

export async function createTeams({ client }: Fleet, { teams, agentsPerTeam }: FleetSize): Promise<void> {
  await inBatches(teams, async (index) => {
    const budget = { maxAgents: agentsPerTeam };
    await client.create<Team>(draft('Team', teamName(index), { budget, roles: [{ name: 'dev', count: agentsPerTeam }] }));
  });
}

/** Spread over the teams, any agent of them may do each. */
export async function createTasks({ client }: Fleet, { teams, tasks }: FleetSize, prefix = 'task'): Promise<void> {
  await inBatches(tasks, async (index) => {
    const team = teamName(index % teams);
    await client.create<Task>(draft('Task', `${team}-${prefix}-${index}`, { team, title: `work ${index}`, command: 'true' }));
  });
}

export function teamName(index: number): string {
  return `team-${index}`;
}

async function inBatches(count: number, make: (index: number) => Promise<void>): Promise<void> {
  for (let start = 0; start < count; start += CREATED_AT_ONCE) {
    await Promise.all(Array.from({ length: Math.min(CREATED_AT_ONCE, count - start) }, (_, index) => make(start + index)));
  }
}

function draft<T extends KindObject>(kind: string, name: string, spec: object): Draft<T> {
  return { apiVersion: API_VERSION, kind, metadata: { name, namespace: 'default' }, spec } as unknown as Draft<T>;
}
