/** A server in a process of its own: started, awaited by its first line of output, ended by its pid. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { BenchError } from '../harness/operation.ts';

const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 30_000;
const MAX_STDERR = 10_000;

export interface ServerProcess {
  readonly pid: number;
  /** Throws when it had to be killed or said that something went wrong. */
  close(): Promise<void>;
}

/** `argv` of node. Resolves when the server has printed a line: it listens. */
export async function startServer(name: string, argv: readonly string[]): Promise<ServerProcess> {
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'pipe'] });
  const kill = (): boolean => child.kill('SIGKILL');
  process.prependOnceListener('exit', kill); // before its data is removed
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(0, MAX_STDERR);
  });
  try {
    await firstOutput(child);
  } catch (error) {
    child.kill('SIGKILL');
    throw new BenchError(`${name}: ${(error as Error).message}: ${firstLine(stderr)}`, { cause: stderr });
  }
  return {
    pid: child.pid as number,
    async close() {
      await end(child);
      process.off('exit', kill);
      if (child.signalCode !== null || child.exitCode !== 0) {
        throw new BenchError(`${name} ended with ${child.signalCode ?? child.exitCode}: ${firstLine(stderr)}`, { cause: stderr });
      }
    },
  };
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}

async function firstOutput(child: ChildProcess): Promise<void> {
  const signal = AbortSignal.timeout(START_TIMEOUT_MS);
  await Promise.race([
    once(child.stdout as NodeJS.ReadableStream, 'data', { signal }),
    once(child, 'exit', { signal }).then(([code]) => {
      throw new Error(`ended with ${code} while starting`);
    }),
  ]);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await exited;
  clearTimeout(timer);
}
