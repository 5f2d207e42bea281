/** The API of one home: certificates, tokens, both doors, and the kubeconfig that leads to them. */
import { join } from 'node:path';
import type { KnownModels } from '#api/known-models.ts';
import type { Limits } from '#api/limits.ts';
import type { DaemonConfig } from '#config';
import { systemClock } from '#lib/clock.ts';
import type { Logger } from '#lib/log.ts';
import type { AgentIo } from '#server/agent-io.ts';
import { type Api, createApi } from '#server/api.ts';
import { personIdentity } from '#server/auth/identity.ts';
import { TokenStore } from '#server/auth/tokens.ts';
import type { Desks } from '#server/desk.ts';
import { kubeconfigText, writeKubeconfig } from '#server/kubeconfig.ts';
import { openDoors } from '#server/listen.ts';
import { ensureCertificates } from '#server/tls/ensure.ts';
import { tokenDesk } from '#server/token-desk.ts';
import type { Store } from '#store/store.ts';
import { homeProblem } from './home-health.ts';

export interface ServedApi {
  readonly url: string;
  readonly kubeconfig: string;
  readonly tokens: TokenStore;
  readonly ask: Api['ask'];
  close(): Promise<void>;
}

export interface ServeApiOptions {
  readonly config: DaemonConfig;
  readonly store: Store;
  readonly log: Logger;
  readonly metrics: () => string;
  /** What keeps the controllers from working; undefined when nothing does. */
  readonly reconcileProblem: () => string | undefined;
  readonly agentIo?: AgentIo;
  readonly desks?: Desks;
  readonly limits?: Limits;
  readonly models?: KnownModels;
}

const LOOPBACK = '127.0.0.1';

export async function serveApi(options: ServeApiOptions): Promise<ServedApi> {
  const { config, store, log, metrics, reconcileProblem, agentIo, desks, limits, models } = options;
  const { home, listen = { host: LOOPBACK } } = config;
  const access = join(home, 'state', 'access');
  const tls = await ensureCertificates({ dir: access, now: systemClock.now(), hosts: [listen.host] });
  const tokens = await TokenStore.open(access);
  const kubeconfigOf = (token: string) => kubeconfigText({ server: doors.url, caPem: tls.caPem, token });
  const api = createApi({
    ...(agentIo && { agentIo }),
    desks: { ...desks, tokens: tokenDesk({ tokens, kubeconfig: kubeconfigOf, onRevoked: (user) => api.endWatches(user) }) },
    ...(limits && { limits }),
    ...(models && { models }),
    store,
    log,
    tokens,
    hosts: [listen.host],
    health: { checks: { ping: () => undefined, reconcile: reconcileProblem }, readiness: { home: () => homeProblem(home) } },
    metrics,
  });
  const doors = await openDoors({
    api,
    log,
    tls,
    ...listen,
    portFile: join(home, 'state', 'port'),
    socketPath: join(home, 'agentiso.sock'),
    socketIdentity: personIdentity('admin', 'admin'),
  });
  const kubeconfig = join(home, 'kubeconfig');
  try {
    await writeKubeconfig(kubeconfig, kubeconfigOf(tokens.adminToken));
  } catch (error) {
    // Open doors would keep a daemon alive that nobody has.
    await doors.close();
    throw error;
  }
  return { url: doors.url, kubeconfig, tokens, ask: api.ask, close: () => doors.close() };
}
