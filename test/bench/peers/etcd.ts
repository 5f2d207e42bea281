/** A private etcd on loopback with its own data directory: started, awaited, ended by its pid. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { BenchError, MissingToolError } from '../harness/operation.ts';
import { connectEtcd, type EtcdClient } from './etcd-client.ts';

const START_TIMEOUT_MS = 20_000;
const STOP_TIMEOUT_MS = 5_000;
const BINARIES = ['/usr/bin/etcd', '/usr/local/bin/etcd'];

export interface Etcd {
  readonly client: EtcdClient;
  /** Ends etcd. */
  close(): Promise<void>;
}

/** The caller owns `dir` and removes it. Throws MissingToolError when etcd is not installed. */
export async function startEtcd(dir: string): Promise<Etcd> {
  const binary = BINARIES.find(isExecutable);
  if (binary === undefined) throw new MissingToolError('the benchmark needs etcd: apt-get install etcd-server');
  const [clientPort, peerPort] = await freePorts();
  const child = spawn(binary, etcdArgs(join(dir, 'etcd'), clientPort, peerPort), { stdio: 'ignore', env: {} }); // no ETCD_ variables of the caller
  const kill = (): boolean => child.kill('SIGKILL');
  process.prependOnceListener('exit', kill); // before its data is removed
  try {
    const client = await untilAnswering(child, `http://127.0.0.1:${clientPort}`);
    return {
      client,
      async close() {
        client.close();
        await end(child);
        process.off('exit', kill);
      },
    };
  } catch (error) {
    await end(child);
    throw error;
  }
}

/** undefined: not installed. */
export function etcdVersion(): string | undefined {
  const binary = BINARIES.find(isExecutable);
  return binary && /etcd Version: (\S+)/.exec(execFileSync(binary, ['--version'], { encoding: 'utf8' }))?.[1];
}

function etcdArgs(dataDir: string, clientPort: number, peerPort: number): string[] {
  const clientUrl = `http://127.0.0.1:${clientPort}`;
  const peerUrl = `http://127.0.0.1:${peerPort}`;
  return [
    ['--name', 'bench', '--data-dir', dataDir, '--logger', 'zap', '--log-level', 'error'],
    ['--listen-client-urls', clientUrl, '--advertise-client-urls', clientUrl],
    ['--listen-peer-urls', peerUrl, '--initial-advertise-peer-urls', peerUrl, '--initial-cluster', `bench=${peerUrl}`],
  ].flat();
}

async function untilAnswering(child: ChildProcess, url: string): Promise<EtcdClient> {
  const deadline = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    if (child.exitCode !== null) throw new BenchError(`etcd ended with code ${child.exitCode} while starting`);
    const client = connectEtcd(url);
    try {
      await client.stats('/');
      return client;
    } catch (error) {
      client.close();
      if (performance.now() > deadline) throw new BenchError('etcd does not answer', { cause: error });
    }
    await delay(50);
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await exited;
  clearTimeout(timer);
}

/** Both are held open together, so that they differ. */
async function freePorts(): Promise<[number, number]> {
  const servers = [createServer(), createServer()] as const;
  await Promise.all(servers.map((server) => once(server.listen(0, '127.0.0.1'), 'listening')));
  const [first, second] = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return [first ?? 0, second ?? 0];
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
