/**
 * A daemon with one team of real agents, each a process of the guest agent, in a process of its own. The benchmark says over the channel of
 * its parent how many tasks are to be done, and hears when each command began, in nanoseconds since 1970, and how long all took.
 */
import { API_VERSION, type Draft } from '#api/meta.ts';
import type { Agent, Task, Team } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import { optimiseInTime } from '#lib/optimise-in-time.ts';
import { keepHeapSmall } from '#runtime/heap.ts';
import { type Daemon, startDaemon } from '../../../src/daemon/daemon.ts';
import { watchFleet } from '../../support/simulated-fleet-watch.ts';

export interface TaskOrder {
  readonly count: number;
  readonly command: string;
  /** One after the other: each is made when the one before is done. */
  readonly isOneByOne: boolean;
}

export interface TaskReport {
  readonly ready?: true;
  readonly problem?: string;
  readonly elapsedMs?: number;
  /** From the claim, which is on disk by then, to the first thing that the command did. */
  readonly startsMs?: readonly number[];
}

const TEAM = 'bench';
const WAIT_MS = 600_000;

// As the daemon that people start.
keepHeapSmall();
optimiseInTime();
const { home, agents } = JSON.parse(process.argv[2] ?? '{}') as { home: string; agents: number };
let daemon: Daemon | undefined;
let made = 0;
process.on('disconnect', () => void end());
process.on('message', (order: TaskOrder | 'end') => {
  if (order === 'end') void end();
  else void doTasks(order).then(report, (error: Error) => report({ problem: error.stack ?? error.message }));
});
await begin().then(
  () => report({ ready: true }),
  (error: Error) => report({ problem: error.stack ?? error.message }),
);

async function begin(): Promise<void> {
  daemon = await startDaemon({ home, logLevel: 'error' });
  const watch = watchFleet(daemon.client);
  const spec = { isolation: { driver: 'process' }, budget: { maxAgents: agents }, roles: [{ name: 'dev', count: agents }] };
  await daemon.client.create<Team>(draft('Team', TEAM, spec));
  await watch.until(({ ready }) => ready === agents, WAIT_MS);
  watch.close();
}

async function doTasks({ count, command, isOneByOne }: TaskOrder): Promise<TaskReport> {
  if (!daemon) throw new Error('no daemon');
  const { client } = daemon;
  const watch = watchFleet(client);
  const claims = followClaims(watch);
  const names = Array.from({ length: count }, () => `${TEAM}-task-${made++}`);
  const create = (name: string) => client.create<Task>(draft('Task', name, { team: TEAM, command }));
  const done = (wanted: number) => watch.until(({ succeeded, failed }) => succeeded + failed === wanted, WAIT_MS);
  const startedMs = performance.now();
  if (isOneByOne) {
    for (const [index, name] of names.entries()) {
      await create(name);
      await done(index + 1);
    }
  } else {
    await Promise.all(names.map(create));
    await done(count);
  }
  const elapsedMs = performance.now() - startedMs;
  const { items } = await client.list<Task>('Task');
  const failed = items.find(({ status }) => status?.phase !== 'Succeeded');
  if (failed) throw new Error(`${failed.metadata.name}: ${JSON.stringify(failed.status)}`);
  const startsMs = items.map(({ metadata, status }) => Number(status?.result?.stdout ?? 0) / 1e6 - (claims.get(metadata.name) ?? 0));
  watch.close();
  await removeTasks(client, names);
  return { elapsedMs, startsMs };
}

/** Name of a Task → when its claim was seen, in milliseconds since 1970. */
function followClaims(watch: ReturnType<typeof watchFleet>): ReadonlyMap<string, number> {
  const claims = new Map<string, number>();
  watch.onObject(({ kind, metadata, status }) => {
    if (kind !== 'Task' || claims.has(metadata.name) || (status as Task['status'])?.phase !== 'Claimed') return;
    claims.set(metadata.name, performance.timeOrigin + performance.now());
  });
  return claims;
}

async function removeTasks(client: Client, names: readonly string[]): Promise<void> {
  await Promise.all(names.map((name) => client.delete({ kind: 'Task', namespace: 'default', name })));
  while ((await client.list('Task')).items.length > 0) await new Promise((resolve) => setTimeout(resolve, 10));
}

async function end(): Promise<void> {
  await daemon?.stop();
  process.exit(0);
}

function draft<T extends Agent | Task | Team>(kind: string, name: string, spec: object): Draft<T> {
  return { apiVersion: API_VERSION, kind, metadata: { name, namespace: 'default' }, spec } as unknown as Draft<T>;
}

function report(what: TaskReport): void {
  process.send?.(what);
}
