/** A private Redis on a unix socket with its own data directory, every command on disk before it is answered: started, awaited, ended by its pid. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { BenchError, MissingToolError } from '../harness/operation.ts';

const START_TIMEOUT_MS = 20_000;
const STOP_TIMEOUT_MS = 5_000;
const BINARIES = ['/usr/bin/redis-server', '/usr/local/bin/redis-server'];

export interface Redis {
  /** Ends it. */
  close(): Promise<void>;
}

/** The caller owns `dir` and removes it. Throws MissingToolError when Redis is not installed. */
export async function startRedis(dir: string, socketPath: string): Promise<Redis> {
  const binary = BINARIES.find(isExecutable);
  if (binary === undefined) throw new MissingToolError('the benchmark needs Redis: apt-get install redis-server');
  const child = spawn(binary, redisArgs(dir, socketPath), { stdio: 'ignore', env: {} });
  const kill = (): boolean => child.kill('SIGKILL');
  process.prependOnceListener('exit', kill); // before its data is removed
  try {
    await untilListening(child, socketPath);
  } catch (error) {
    await end(child);
    throw error;
  }
  return {
    async close() {
      await end(child);
      process.off('exit', kill);
    },
  };
}

/** undefined: not installed. */
export function redisVersion(): string | undefined {
  const binary = BINARIES.find(isExecutable);
  return binary && /v=(\S+)/.exec(execFileSync(binary, ['--version'], { encoding: 'utf8' }))?.[1];
}

function redisArgs(dir: string, socketPath: string): string[] {
  return [
    ['--port', '0', '--unixsocket', socketPath, '--dir', dir, '--daemonize', 'no'],
    ['--save', '', '--appendonly', 'yes', '--appendfsync', 'always', '--auto-aof-rewrite-percentage', '0'],
  ].flat();
}

async function untilListening(child: ChildProcess, socketPath: string): Promise<void> {
  for (const deadline = performance.now() + START_TIMEOUT_MS; !existsSync(socketPath); await delay(20)) {
    if (child.exitCode !== null) throw new BenchError(`redis-server ended with code ${child.exitCode} while starting`);
    if (performance.now() > deadline) throw new BenchError('redis-server does not listen');
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

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
