/** The composition root: builds every room, wires them together, starts and stops them. Nothing else knows them all. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { trackHandEdit } from '#api/fields/hand-edit.ts';
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
import { createLogger, type Logger } from '#lib/log.ts';
import { Metrics } from '#lib/metrics.ts';
import { checkDirectories } from '#manifests/directory.ts';
import { followManifests } from '#manifests/follow.ts';
import { EventLog } from '#runtime/events.ts';
import { recordFileReports } from '#runtime/file-reports.ts';
import { createManager } from '#runtime/manager.ts';
import { followNamespaces } from '#runtime/namespaces.ts';
import { DirectoryStore } from '#store/directory.ts';
import { runInGuest } from './run-in-guest.ts';
import { serveApi } from './serve-api.ts';

export interface Daemon {
  readonly client: Client;
  /** `https://127.0.0.1:PORT` */
  readonly url: string;
  readonly kubeconfig: string;
  /** Resolves, with what happened, when the home was removed or replaced under us: then only `stop` is left to do. */
  readonly lost: Promise<string>;
  /** Watches end, agents end, everything accepted is on disk, the lock is free. */
  stop(): Promise<void>;
}

export async function startDaemon(config: DaemonConfig): Promise<Daemon> {
  const { home, logLevel: level, logFormat: format = 'json' } = config;
  const log = createLogger({ level, format });
  checkDirectories(config.manifestDirectories ?? [], { home });
  const directory = await DirectoryStore.open({ home, kinds, admission, log, freeze: false, trackEdit: trackHandEdit });
  try {
    return await startOn(directory, config, log);
  } catch (error) {
    await directory.close();
    throw error;
  }
}

async function startOn(directory: DirectoryStore, config: DaemonConfig, log: Logger): Promise<Daemon> {
  const { home } = config;
  const client = localClient(directory.store);
  const stopping = new AbortController();
  const ours = kinds.filter(({ crd }) => crd).map(({ kind }) => kind);
  await followNamespaces(client, ours, { signal: stopping.signal, log });
  const metrics = new Metrics();
  const driver = processDriver({ stateDir: join(home, 'state', 'workspaces'), guestAgentPath: guestAgentPath(), log });
  const reports = recordFileReports(client, log);
  const unsubscribe = directory.onReport(reports.record);
  const manager = createManager({
    client,
    log,
    metrics,
    controllers: allControllers({
      client,
      contentKinds: kinds.filter(({ kind, isNamespaced }) => isNamespaced && kind !== 'Lease').map(({ kind }) => kind),
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
    gcKinds: [...ours, 'ConfigMap'],
  });
  const served = await serveApi({
    config,
    store: directory.store,
    log,
    metrics: () => metrics.render(),
    reconcileProblem: () => manager.problem(),
  });
  const running = manager.start(stopping.signal);
  const events = new EventLog({ client, log });
  const manifests = followManifests({
    directories: config.manifestDirectories ?? [],
    client,
    events: events.recorder('manifests'),
    log,
  });
  await manifests.ready;
  const watch = watchPlace(directory, home);
  return {
    client,
    url: served.url,
    kubeconfig: served.kubeconfig,
    lost: watch.lost,
    async stop() {
      watch.stop();
      await served.close();
      await manifests.stop();
      stopping.abort();
      await running;
      unsubscribe();
      if (!directory.isInPlace()) {
        await endOrphans(driver, directory);
        directory.abandon();
        return;
      }
      await endWorkspaces(driver);
      await reports.flush();
      await events.flush();
      await directory.close();
    },
  };
}

const LOOK_MS = 1_000;

/** Without its directory a daemon protects nothing: the next one would not know of it, and both would run the same tasks. */
function watchPlace(directory: DirectoryStore, home: string): { lost: Promise<string>; stop(): void } {
  let timer: NodeJS.Timeout | undefined;
  const lost = new Promise<string>((resolve) => {
    timer = setInterval(() => {
      if (directory.isInPlace()) return;
      clearInterval(timer);
      resolve(`${home} was removed or replaced while it was in use`);
    }, LOOK_MS);
    timer.unref();
  });
  return { lost, stop: () => clearInterval(timer) };
}

/** The records of the workspaces went with the directory; the agents that are known tell which ones there were. */
async function endOrphans(driver: Driver, directory: DirectoryStore): Promise<void> {
  const signal = AbortSignal.timeout(5_000);
  const agents = directory.store.list('Agent').items;
  await Promise.allSettled(agents.map(({ metadata }) => driver.stop(metadata.uid, signal)));
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
