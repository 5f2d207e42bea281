/** The composition root: builds every room, wires them together, starts and stops them. Nothing else knows them all. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { admission, kinds } from '#api/kinds.ts';
import type { Agent } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import { localClient } from '#client/local.ts';
import type { DaemonConfig } from '#config';
import { allControllers } from '#controllers/index.ts';
import type { Driver } from '#drivers/driver.ts';
import { processDriver } from '#drivers/process/driver.ts';
import { newUid } from '#lib/clock.ts';
import { AgentisoError, StalledError } from '#lib/errors.ts';
import { createLogger } from '#lib/log.ts';
import { recordFileReports } from '#runtime/file-reports.ts';
import { createManager } from '#runtime/manager.ts';
import { DirectoryStore } from '#store/directory.ts';
import { runInGuest } from './run-in-guest.ts';

export interface Daemon {
  readonly client: Client;
  /** Agents end, everything accepted is on disk, the lock is free. */
  stop(): Promise<void>;
}

export async function startDaemon({ home, logLevel }: DaemonConfig): Promise<Daemon> {
  const log = createLogger({ level: logLevel });
  const directory = await DirectoryStore.open({ home, kinds, admission, log, freeze: false });
  const client = localClient(directory.store);
  const driver = processDriver({ stateDir: join(home, 'state', 'workspaces'), guestAgentPath: guestAgentPath(), log });
  const reports = recordFileReports(client, log);
  const unsubscribe = directory.onReport(reports.record);
  const manager = createManager({
    client,
    log,
    controllers: allControllers({
      client,
      driverFor: (agent) => chooseDriver(agent, [driver]),
      newIncarnation: newUid,
      workspaceChanges: (enqueue) =>
        driver.onChange((id) => {
          const agent = directory.store.list('Agent').items.find(({ metadata }) => metadata.uid === id);
          if (agent) enqueue({ kind: 'Agent', namespace: agent.metadata.namespace, name: agent.metadata.name });
        }),
      isLive: async ({ metadata, status }, signal) => {
        const workspace = await driver.get(metadata.uid, signal);
        return workspace?.phase === 'running' && workspace.incarnation === status?.incarnation;
      },
      run: (agent, task, signal) => runInGuest({ driver: chooseDriver(agent, [driver]), agent, task, signal }),
    }),
    gcKinds: kinds.filter(({ crd }) => crd).map(({ kind }) => kind),
  });
  const stopping = new AbortController();
  const running = manager.start(stopping.signal);
  return {
    client,
    async stop() {
      stopping.abort();
      await running;
      await endWorkspaces(driver);
      unsubscribe();
      await reports.flush();
      await directory.close();
    },
  };
}

const STRENGTH = ['process', 'sandbox', 'vm'] as const;

/** The strongest there is, or the one asked for; never a weaker one than the team's minimum. */
function chooseDriver({ spec }: Agent, drivers: readonly Driver[]): Driver {
  const { driver: asked = 'auto', minimum = 'process' } = spec.isolation ?? {};
  const strength = (name: string) => STRENGTH.indexOf(name as (typeof STRENGTH)[number]);
  const usable = drivers
    .filter(({ name }) => (asked === 'auto' || name === asked) && strength(name) >= strength(minimum))
    .sort((a, b) => strength(b.name) - strength(a.name));
  const [strongest] = usable;
  if (strongest && spec.isolation?.requireLimits && strongest.isolation.limits === 'none') {
    throw new StalledError('LimitsUnavailable', `isolation.requireLimits is set, and the ${strongest.name} driver limits nothing`);
  }
  if (strongest) return strongest;
  const wanted = asked === 'auto' ? `at least ${minimum}` : asked;
  throw new StalledError(
    'IsolationUnavailable',
    `the agent asks for isolation ${wanted}; this machine offers ${drivers.map(({ name }) => name).join(', ')}`,
  );
}

/** Resources and disks stay: the next start brings the agents back where they were. */
async function endWorkspaces(driver: Driver): Promise<void> {
  const signal = AbortSignal.timeout(30_000);
  let running = (await driver.list(signal)).map(({ id }) => id);
  while (running.length > 0) {
    const ended = await Promise.all(running.map((id) => driver.stop(id, signal)));
    running = running.filter((_, index) => !ended[index]);
    if (running.length > 0) await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Beside the bundle; from source, where the build put it. */
function guestAgentPath(): string {
  const candidates = ['guest-agent.cjs', '../dist/guest-agent.cjs'].map((path) => fileURLToPath(new URL(path, import.meta.url)));
  const found = candidates.find(existsSync);
  if (found) return found;
  throw new AgentisoError('Internal', `the guest agent is not built: ${candidates[0]} does not exist`, { hint: 'run npm run build' });
}
