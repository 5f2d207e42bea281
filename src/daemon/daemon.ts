/** The composition root: builds every room, wires them together, starts and stops them. Nothing else knows them all. */
import { resolve } from 'node:path';
import { trackHandEdit } from '#api/fields/hand-edit.ts';
import { admission, kinds } from '#api/kinds.ts';
import { DEFAULT_NAMESPACE, type KindObject } from '#api/meta.ts';
import type { Client } from '#client/client.ts';
import { localClient } from '#client/local.ts';
import type { DaemonConfig } from '#config';
import { allControllers, allSweeps, FINALIZERS } from '#controllers/index.ts';
import { messageOf } from '#lib/errors.ts';
import { createLogger, type Logger } from '#lib/log.ts';
import { Metrics } from '#lib/metrics.ts';
import { Redactor } from '#lib/redact.ts';
import { checkDirectories } from '#manifests/directory.ts';
import { followManifests } from '#manifests/follow.ts';
import { openCredentials } from '#providers/credential-file.ts';
import { createRates } from '#relay/create-rates.ts';
import { EventLog } from '#runtime/events.ts';
import { recordFileReports } from '#runtime/file-reports.ts';
import { createManager } from '#runtime/manager.ts';
import { followNamespaces } from '#runtime/namespaces.ts';
import { DirectoryStore } from '#store/directory.ts';
import type { Machine } from './agents.ts';
import { openAuditLog } from './audit/audit-log.ts';
import { serveApi } from './serve-api.ts';
import { serveMcp } from './serve-mcp.ts';
import { Settings } from './settings/settings.ts';
import { openTeamwork } from './teamwork.ts';
import { followTransitions, Transitions } from './work-metrics.ts';

export interface Daemon {
  readonly client: Client;
  /** `https://127.0.0.1:PORT` */
  readonly url: string;
  readonly kubeconfig: string;
  /** Resolves, with what happened, when the home was removed or replaced under us, or no controller works any more: then only `stop` is left to do. */
  readonly lost: Promise<string>;
  /** HOME/config.yaml once more; a wrong one is refused and told of, and what held before goes on holding. */
  reload(): void;
  /** Watches end, agents end, everything accepted is on disk, the lock is free. */
  stop(): Promise<void>;
}

/** What may differ from the daemon that people start. */
export interface DaemonParts {
  readonly machine?: Machine;
}

export async function startDaemon(config: DaemonConfig, parts: DaemonParts = {}): Promise<Daemon> {
  const { home, logLevel: level, logFormat: format = 'json' } = config;
  const redactor = new Redactor();
  const log = createLogger({ level, format, redactor });
  checkDirectories(config.manifestDirectories ?? [], { home });
  const held = kinds.map((kind) => ({ ...kind, finalizers: FINALIZERS[kind.kind] ?? [] }));
  const directory = await DirectoryStore.open({ home, kinds: held, admission, log, freeze: false, trackEdit: trackHandEdit });
  try {
    return await startOn(directory, config, { ...parts, log, redactor });
  } catch (error) {
    await directory.close();
    throw error;
  }
}

async function startOn(
  directory: DirectoryStore,
  config: DaemonConfig,
  { log, redactor, machine }: DaemonParts & { readonly log: Logger; readonly redactor: Redactor },
): Promise<Daemon> {
  const { store } = directory;
  const client = localClient(store);
  const stopping = new AbortController();
  const ours = kinds.filter(({ crd }) => crd).map(({ kind }) => kind);
  await followNamespaces(client, ours, { signal: stopping.signal, log });
  const settings = new Settings(config.home, config.limits);
  const { limits } = settings;
  const metrics = new Metrics();
  const events = new EventLog({ client, log, redact: (message) => redactor.redact(message) });
  // What is on the disk is whole, and everybody else is served: one failure of ours is no reason to leave all agents alone.
  config.onUnheard?.((error) => {
    log.error({ err: error }, 'something failed that nobody waited for; everything else goes on');
    events.recorder('daemon').warning(HERE, 'InternalError', `a fault of agentiso: ${messageOf(error)}; everything else goes on`);
  });
  const rates = createRates({ rates: settings.rates });
  const home = resolve(config.home);
  const audit = openAuditLog({ home, log });
  const credentials = openCredentials({ home, environment: config.hostEnv ?? (() => undefined), redactor, log });
  const teamwork = await openTeamwork({
    config,
    store,
    client,
    log,
    metrics,
    events,
    limits,
    onLimits: (listener) => settings.onReload(listener),
    rates,
    audit,
    credentials,
    ...(machine && { machine }),
  });
  const { deps, desks, agentIo, workspaces, agentMode } = teamwork;
  const counting = followTransitions(client, new Transitions(metrics), stopping.signal).catch((error: unknown) =>
    log.warn({ err: error }, 'merges and starts are no longer counted'),
  );
  const reports = recordFileReports(client, log);
  const unsubscribe = directory.onReport(reports.record);
  const manager = createManager({
    client,
    log,
    metrics,
    controllers: allControllers(deps),
    sweeps: [...allSweeps(deps), ...teamwork.sweeps],
    gcKinds: [...ours, 'ConfigMap', 'Lease'],
  });
  const version = config.version ?? 'source';
  const mcp = serveMcp({
    home: config.home,
    version,
    log,
    rates,
    audit,
    workspaces,
    ask: (request, channel) => served.ask(request, channel),
    agentMode,
  });
  const served = await serveApi({
    config,
    store,
    log,
    metrics: () => metrics.render(),
    reconcileProblem: () => manager.problem(),
    agentIo,
    limits,
    models: (provider) => credentials.models(provider),
    desks: { ...desks, mcp: mcp.desk },
  });
  await mcp.listen();
  const running = manager.start(stopping.signal);
  const manifests = followManifests({
    directories: config.manifestDirectories ?? [],
    client,
    events: events.recorder('manifests'),
    log,
  });
  await manifests.ready;
  const watch = watchPlace(directory, config.home);
  return {
    client,
    url: served.url,
    kubeconfig: served.kubeconfig,
    lost: Promise.race([watch.lost, endedTooSoon(running)]),
    reload() {
      try {
        settings.reload();
        log.info('settings read again');
      } catch (error) {
        log.warn({ err: error }, 'settings refused');
        events.recorder('settings').warning(HERE, 'ConfigInvalid', `${messageOf(error)}; the settings before go on`);
      }
    },
    async stop() {
      watch.stop();
      await mcp.close();
      await served.close();
      await manifests.stop();
      stopping.abort();
      await Promise.all([running, counting]);
      unsubscribe();
      if (!directory.isInPlace()) {
        await teamwork.abandon();
        await audit.close();
        directory.abandon();
        return;
      }
      try {
        await teamwork.close({ keep: config.keepWorkspaces ?? false });
      } finally {
        await audit.close();
        await reports.flush();
        await events.flush();
        await directory.close();
      }
    },
  };
}

/** What is of the whole daemon is told in the namespace that everybody looks at. */
const HERE = {
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: DEFAULT_NAMESPACE, namespace: DEFAULT_NAMESPACE, uid: '', resourceVersion: '', generation: 1, creationTimestamp: '' },
} as KindObject;

/** Without its controllers a daemon only looks alive. Never resolves while they work, or when they were stopped. */
function endedTooSoon(running: Promise<void>): Promise<string> {
  return new Promise((resolve) => {
    running.catch((error: unknown) => resolve(`the controllers have ended: ${messageOf(error)}`));
  });
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
