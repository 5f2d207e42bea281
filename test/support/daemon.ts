/** A real daemon on a folder: started, asked, stopped, killed. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { TokenStore } from '#server/auth/tokens.ts';
import { type ApiClient, apiClient } from './api-client.ts';
import { type CliResult, type CliRun, startCli } from './cli.ts';

export interface Daemon {
  readonly home: string;
  readonly run: CliRun;
  readonly kubeconfig: string;
  readonly server: Server;
  /** As admin, over HTTPS. */
  readonly api: ApiClient;
  stop(): Promise<CliResult>;
  kill(): Promise<CliResult>;
}

/** What a kubeconfig says. */
export interface Server {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  readonly ca: string;
  readonly token: string;
}

export async function startDaemon(home: string, args: readonly string[] = [], env: NodeJS.ProcessEnv = {}): Promise<Daemon> {
  const run = startCli(['serve', '--home', home, ...args], { env });
  await run.said('agentiso ready');
  const kubeconfig = join(home, 'kubeconfig');
  const server = readKubeconfig(kubeconfig);
  const api = apiClient(server);
  const end = (signal: NodeJS.Signals) => {
    api.close();
    run.child.kill(signal);
    return run.result;
  };
  return { home, run, kubeconfig, server, api, stop: () => end('SIGTERM'), kill: () => end('SIGKILL') };
}

interface Kubeconfig {
  readonly clusters: readonly { readonly cluster: { readonly server: string; readonly 'certificate-authority-data': string } }[];
  readonly users: readonly { readonly user: { readonly token: string } }[];
}

export function readKubeconfig(path: string): Server {
  const config = parse(readFileSync(path, 'utf8')) as Kubeconfig;
  const [cluster] = config.clusters;
  const [user] = config.users;
  if (!cluster || !user) throw new Error(`${path} names no server`);
  const url = new URL(cluster.cluster.server);
  return {
    url: cluster.cluster.server,
    host: url.hostname,
    port: Number(url.port),
    ca: Buffer.from(cluster.cluster['certificate-authority-data'], 'base64').toString(),
    token: user.user.token,
  };
}

/** Tokens are read when a daemon starts, so this is for before. */
export async function issueToken(home: string, role: 'admin' | 'viewer', user: string): Promise<string> {
  return (await TokenStore.open(join(home, 'state', 'access'))).issue({ role, user });
}

/** For suites that share a daemon: made in beforeAll, removed in afterAll. */
export function temporaryFolder(): { readonly folder: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'agentiso-test-'));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }) };
}
