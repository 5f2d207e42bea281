/** Runs the built program the way a person does, from its own temporary folder. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
export const manifests = join(root, 'manifests');

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliRun {
  readonly child: ChildProcess;
  readonly result: Promise<CliResult>;
  /** Resolves when either stream has said this. */
  said(text: string): Promise<void>;
}

export interface CliOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** In a process group of its own, as a shell starts it: what Ctrl-C reaches is `-pid`. */
  readonly isJob?: boolean;
}

export function startCli(args: readonly string[], options: CliOptions = {}): CliRun {
  const child = spawn(process.execPath, [join(root, 'dist', 'agentiso.js'), ...args], {
    cwd: options.cwd ?? root,
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: options.isJob ?? false,
  });
  const output = { stdout: '', stderr: '' };
  const listeners = new Set<() => void>();
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (chunk: string) => {
      output[stream] += chunk;
      for (const listener of listeners) listener();
    });
  }
  const result = new Promise<CliResult>((resolve) => child.on('close', (code) => resolve({ code, ...output })));
  const said = (text: string) =>
    new Promise<void>((resolve, reject) => {
      const look = () => {
        if (output.stdout.includes(text) || output.stderr.includes(text)) resolve();
      };
      listeners.add(look);
      look();
      void result.then(({ code }) =>
        reject(new Error(`ended with ${code} before saying ${JSON.stringify(text)}:\n${output.stdout}${output.stderr}`)),
      );
    });
  return { child, result, said };
}

export function runCli(args: readonly string[], options: { cwd?: string; env?: NodeJS.ProcessEnv } = {}): Promise<CliResult> {
  return startCli(args, options).result;
}

/** A folder that is gone after the work, whatever happens. */
export async function inTemporaryFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'agentiso-test-'));
  let failure: unknown;
  try {
    return await work(folder);
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    removeFolder(folder, failure);
  }
}

/** What is still running in there after a failure may keep it from going; the failure is what has to be heard of. */
function removeFolder(folder: string, failure: unknown): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch (error) {
    if (failure === undefined) throw error;
  }
}
