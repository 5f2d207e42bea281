/**
 * A fleet of simulated agents through two restarts of the daemon, one of them in the middle of the work: every task succeeds, none is
 * started twice, no agent is started anew, and a daemon that finds everything as it should be writes nothing.
 */
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import type { Task } from '#api/types.ts';
import { temporaryFolder } from '../support/daemon.ts';
import { createTasks, createTeams, type Fleet, openFleet } from '../support/simulated-fleet.ts';
import { watchFleet } from '../support/simulated-fleet-watch.ts';
import { SimulatedMachine } from '../support/simulated-machine.ts';

const isFull = process.env['AGENTISO_SOAK'] === 'full';
const SIZE = isFull ? { teams: 20, agentsPerTeam: 10, tasks: 3_000 } : { teams: 5, agentsPerTeam: 10, tasks: 500 };
const AGENTS = SIZE.teams * SIZE.agentsPerTeam;
const WAIT_MS = 300_000;
/** Long enough for some to be in work when the daemon stops. */
const TASK_MS = 20;

const place = temporaryFolder();
afterAll(() => place.remove());

it(`${AGENTS} agents do ${SIZE.tasks} tasks, each once, whatever happens to their daemon`, async () => {
  const home = join(place.folder, 'home');
  const machine = new SimulatedMachine({ taskMs: () => TASK_MS });
  await inLife(home, machine, async (fleet, watch) => {
    await createTeams(fleet, SIZE);
    await watch.until(({ ready }) => ready === AGENTS, WAIT_MS);
    await createTasks(fleet, SIZE);
    await watch.until(({ succeeded }) => succeeded >= SIZE.tasks / 4, WAIT_MS);
  });
  const settled = await inLife(home, machine, async ({ client }, watch) => {
    await watch.until(({ succeeded, failed }) => succeeded + failed === SIZE.tasks, WAIT_MS);
    const { items } = await client.list<Task>('Task');
    const phases = new Set(
      items.map(({ status }) => `${status?.phase}, attempt ${status?.attempt}, exit code ${status?.result?.exitCode}`),
    );
    expect([...phases]).toEqual(['Succeeded, attempt 1, exit code 0']);
    await watch.quiet(WAIT_MS);
    return versionOf(client);
  });
  const starts = machine.starts();
  expect([starts.length, new Set(starts).size, machine.started]).toEqual([SIZE.tasks, SIZE.tasks, AGENTS]);
  await inLife(home, machine, async ({ client }, watch) => {
    await expect.poll(() => machine.configured, { timeout: WAIT_MS }).toBe(AGENTS);
    await watch.quiet(WAIT_MS);
    expect(await versionOf(client)).toBe(settled);
  });
  expect(machine.started).toBe(AGENTS);
});

async function inLife<T>(
  home: string,
  machine: SimulatedMachine,
  work: (fleet: Fleet, watch: ReturnType<typeof watchFleet>) => Promise<T>,
): Promise<T> {
  const fleet = await openFleet(home, machine);
  const watch = watchFleet(fleet.client);
  try {
    return await work(fleet, watch);
  } finally {
    watch.close();
    await fleet.daemon.stop();
  }
}

/** Of the newest change to anything. */
async function versionOf(client: Fleet['client']): Promise<string> {
  return (await client.list('Team')).resourceVersion;
}
