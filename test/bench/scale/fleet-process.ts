/**
 * One life of a daemon with a simulated fleet, as a process of its own: memory and a cold start can be measured in no other way. The first
 * life makes the fleet, the second finds it there. Answers with one line of JSON.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { optimiseInTime } from '#lib/optimise-in-time.ts';
import { keepHeapSmall } from '#runtime/heap.ts';
import { createTasks, createTeams, type Fleet, type FleetSize, openFleet } from '../../support/simulated-fleet.ts';
import { type FleetWatch, watchFleet } from '../../support/simulated-fleet-watch.ts';
import { type MachineRecord, SimulatedMachine } from '../../support/simulated-machine.ts';
import { seededRandom } from '../harness/random.ts';
import { type ChangeLoad, changeSpecs } from './changes.ts';
import { type FleetFigures, percentile, type RestartFigures } from './figures.ts';

export interface FleetProcessArgs extends FleetSize, ChangeLoad {
  readonly home: string;
  readonly seed: number;
}

/** What the second life finds. */
interface LeftBehind {
  readonly machine: MachineRecord;
  readonly version: number;
}

const CONVERGE_MS = 900_000;
const STEADY_MS = 120_000;
const MIB = 2 ** 20;

// As the daemon that people start.
keepHeapSmall();
optimiseInTime();
const args = JSON.parse(process.argv[2] ?? '{}') as FleetProcessArgs;
const recordPath = join(args.home, 'machine.json');
const figures = existsSync(recordPath) ? await secondLife() : await firstLife();
process.stdout.write(`${JSON.stringify(figures)}\n`);
process.exit(0);

async function firstLife(): Promise<FleetFigures> {
  const fleet = await openFleet(join(args.home, 'daemon'));
  const watch = watchFleet(fleet.client);
  const agents = args.teams * args.agentsPerTeam;
  const beganMs = performance.now();
  await createTeams(fleet, args);
  await watch.until(({ ready }) => ready === agents, CONVERGE_MS);
  const readyMs = performance.now() - beganMs;
  await createTasks(fleet, args);
  await watch.until(({ succeeded, failed }) => succeeded + failed === args.tasks, CONVERGE_MS);
  const convergedMs = performance.now() - beganMs;
  refuseWrong(fleet, watch);
  await watch.quiet(STEADY_MS);
  const took = await changeSpecs(fleet.client, watch, args, seededRandom(args.seed));
  const rssMiB = process.memoryUsage().rss / MIB;
  await watch.quiet(STEADY_MS);
  const left: LeftBehind = { machine: fleet.machine.record(), version: await versionOf(fleet) };
  watch.close();
  await fleet.daemon.stop();
  writeFileSync(recordPath, JSON.stringify(left));
  const cpuMs = usedMs();
  return { readyMs, convergedMs, rssMiB, cpuMs, changes: took.length, p50Ms: percentile(took, 0.5), p99Ms: percentile(took, 0.99) };
}

/** Succeeded, each of them, and started once. */
function refuseWrong({ machine }: Fleet, { counts }: FleetWatch): void {
  const starts = machine.starts();
  const once = new Set(starts).size;
  if (counts.failed === 0 && starts.length === args.tasks && once === starts.length) return;
  throw new Error(`${counts.failed} tasks failed; ${starts.length} starts of ${once} attempts for ${args.tasks} tasks`);
}

/** Steady: every agent was found again and told where it is, and nothing more is written. */
async function secondLife(): Promise<RestartFigures> {
  const left = JSON.parse(readFileSync(recordPath, 'utf8')) as LeftBehind;
  const machine = new SimulatedMachine({}, left.machine);
  const fleet = await openFleet(join(args.home, 'daemon'), machine);
  const watch = watchFleet(fleet.client);
  const agents = args.teams * args.agentsPerTeam;
  for (const deadline = performance.now() + STEADY_MS; machine.configured < agents; await delay(10)) {
    if (performance.now() > deadline) throw new Error(`${machine.configured} of ${agents} agents were found again`);
  }
  const foundMs = performance.now();
  const cpuMs = usedMs();
  await watch.quiet(STEADY_MS);
  const written = (await versionOf(fleet)) - left.version;
  // Without a write there is no last one: then it was steady when the last agent was found.
  const steadyMs = written === 0 ? foundMs : Math.max(foundMs, watch.lastChangeMs);
  if (machine.started > 0) throw new Error(`${machine.started} agents were started anew`);
  await fleet.daemon.stop();
  return { steadyMs, cpuMs, written };
}

/** Processor time of this process so far. */
function usedMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** Of the newest change to anything. */
async function versionOf({ client }: Fleet): Promise<number> {
  return Number((await client.list('Team')).resourceVersion);
}
