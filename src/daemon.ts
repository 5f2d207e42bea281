/** The composition root: builds every room, wires them together, starts and stops them. Nothing else knows them all. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { trackHandEdit } from '#api/fields/hand-edit.ts';
import { admission, kinds } from '#api/kinds.ts';
import type { Agent } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import { localClient } from '#client/local.ts';
import type { DaemonConfig } from '#config';
import { allControllers, allSweeps } from '#controllers/index.ts';
import { newUid } from '#lib/clock.ts';
import { AgentisoError } from '#lib/errors.ts';
import { createLogger, type Logger } from '#lib/log.ts';
import { Metrics } from '#lib/metrics.ts';
import { checkDirectories } from '#manifests/directory.ts';
import { followManifests } from '#manifests/follow.ts';
import { EventLog } from '#runtime/events.ts';
import { recordFileReports } from '#runtime/file-reports.ts';
import { createManager } from '#runtime/manager.ts';
import { followNamespaces } from '#runtime/namespaces.ts';
import { DirectoryStore } from '#store/directory.ts';
import { createAgentIo } from './agent-io.ts';
import { agentWakes, agentWatches } from './agent-wakes.ts';
import { agentDeps, openAgents } from './agents.ts';
import { openAttempts } from './attempts.ts';
import { chooseDriver, type DriverName } from './isolation.ts';
import { serveApi } from './serve-api.ts';
import { endAgents, endOrphans } from './stop-agents.ts';

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
  const { home, hostEnv = () => undefined } = config;
  const { store } = directory;
  const client = localClient(store);
  const stopping = new AbortController();
  const ours = kinds.filter(({ crd }) => crd).map(({ kind }) => kind);
  await followNamespaces(client, ours, { signal: stopping.signal, log });
  const metrics = new Metrics();
  const events = new EventLog({ client, log });
  const agentByUid = (uid: string) => store.list('Agent').items.find(({ metadata }) => metadata.uid === uid) as Agent | undefined;
  const agents = await openAgents({
    home,
    client,
    log,
    agentByUid,
    guestAgentPath: guestAgentPath(),
    version: config.version ?? 'source',
    uplink: config.uplink ?? false,
    onRefused: (agent, name) =>
      events.recorder('egress').warning(agent, 'EgressRefused', `${name} is not in the team's network.allowDomains`),
  });
  const attempts = await openAttempts({ client, mail: agents.mail, sessions: agents.sessions, log });
  const reports = recordFileReports(client, log);
  const unsubscribe = directory.onReport(reports.record);
  const deps = {
    ...agentDeps(agents, client),
    client,
    contentKinds: kinds.filter(({ kind, isNamespaced }) => isNamespaced && kind !== 'Lease').map(({ kind }) => kind),
    newIncarnation: newUid,
    hostEnv,
    monotonicMs: () => performance.now(),
    workspaceChanges: agentWakes(agents, agentByUid),
    watches: agentWatches(store),
    attempts,
    network: agents.network,
    numbers: agents.numbers,
    driverNameOf: (agent: Agent) => chooseDriver(agent, agents.here).name as DriverName,
  };
  const manager = createManager({
    client,
    log,
    metrics,
    controllers: allControllers(deps),
    sweeps: allSweeps(deps),
    gcKinds: [...ours, 'ConfigMap'],
  });
  const served = await serveApi({
    config,
    store,
    log,
    metrics: () => metrics.render(),
    reconcileProblem: () => manager.problem(),
    agentIo: createAgentIo(agents),
  });
  const running = manager.start(stopping.signal);
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
      attempts.close();
      if (!directory.isInPlace()) {
        await endOrphans(agents, store.list('Agent').items as Agent[]);
        directory.abandon();
        return;
      }
      await endAgents(agents, client, { keep: config.keepWorkspaces ?? false });
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

/** Beside the bundle; from source, where the build put it. */
function guestAgentPath(): string {
  const candidates = ['guest-agent.cjs', '../dist/guest-agent.cjs'].map((path) => fileURLToPath(new URL(path, import.meta.url)));
  const found = candidates.find(existsSync);
  if (found) return found;
  throw new AgentisoError('Internal', `the guest agent is not built: ${candidates[0]} does not exist`, { hint: 'run npm run build' });
}
