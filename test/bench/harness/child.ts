/** Fresh node processes for measurements that need a clean heap. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { BenchError } from './operation.ts';

const TIMEOUT_MS = 600_000;
const run = promisify(execFile);

export interface Measured {
  readonly value: number;
  /** How many objects the value is about. */
  readonly count: number;
}

/**
 * Runs test/bench/children/<name>.ts with this process' own node flags; resolves to the value it answered.
 * Throws when it failed or was about another number of objects than asked.
 */
export async function measureInChild(name: string, args: Readonly<Record<string, unknown>> & { count: number }): Promise<number> {
  const script = fileURLToPath(new URL(`../children/${name}.ts`, import.meta.url));
  const { value, count } = parseAnswer(await output(name, [...process.execArgv, script, JSON.stringify(args)]));
  if (count !== args.count) throw new BenchError(`${name}: ${count} objects instead of ${args.count}`);
  return value;
}

/** The child's side: what measureInChild passed. */
export function childArgs<T>(): T {
  return JSON.parse(process.argv[2] ?? '{}') as T;
}

export function answer(measured: Measured): void {
  process.stdout.write(`${JSON.stringify(measured)}\n`);
}

async function output(name: string, argv: readonly string[]): Promise<string> {
  const running = run(process.execPath, argv, { timeout: TIMEOUT_MS, killSignal: 'SIGKILL' });
  const kill = (): boolean => running.child.kill('SIGKILL');
  process.prependOnceListener('exit', kill); // before its data is removed
  try {
    return (await running).stdout;
  } catch (error) {
    const stderr = (error as { stderr?: string }).stderr ?? '';
    const reason = stderr.split('\n').find((line) => /^\w*Error\b/.test(line)) ?? 'ended without an answer';
    // The command line in the error's own message is all paths; what the child said is what helps.
    throw new BenchError(`child ${name}: ${reason}`, { cause: stderr });
  } finally {
    process.off('exit', kill);
  }
}

function parseAnswer(stdout: string): Measured {
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Measured;
}
