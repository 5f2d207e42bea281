/** Runs a tool of the system to its end: by argument list, with nothing of a person's environment, ended with all it started on a signal. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { AgentisoError, messageOf } from '#lib/errors.ts';
import { withPipes } from '#lib/with-pipes.ts';

export interface RunOptions {
  readonly signal: AbortSignal;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly input?: Uint8Array | string;
  /** Told of every line of its output, and of its complaints. */
  readonly onLine?: (line: string) => void;
}

/** Tools of the administrator are not on everybody's path. */
export const TOOL_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
/** Of what a tool complains about, in a message for people. */
const KEPT_COMPLAINT = 2_000;
/** How far apt is, which it says in the same place. */
const STATUS_LINES = /^(?:dl|pm)status:.*\n/gm;

/** Gives its output. Rejects when it could not be run, failed, or was not let finish. */
export async function run([program, ...args]: readonly [string, ...string[]], options: RunOptions): Promise<Buffer> {
  const { signal, env = {}, cwd = '/', input, onLine } = options;
  signal.throwIfAborted();
  // A group of its own: what it started ends with it. And it ends with us, however we end: nobody else would know of it.
  const child = start(program, ['--pdeathsig=KILL', '--', program, ...args], { cwd, env });
  const out: Buffer[] = [];
  let complaint = '';
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
  const lines = lineSplitter(onLine);
  if (onLine) child.stdout.on('data', lines);
  child.stderr.on('data', lines);
  child.stderr.on('data', (chunk: Buffer) => {
    complaint = (complaint + chunk.toString().replace(STATUS_LINES, '')).slice(-KEPT_COMPLAINT);
  });
  // One that ends before it has read everything says why by its exit code.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const stop = () => endGroup(child.pid);
  signal.addEventListener('abort', stop, { once: true });
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', (cause) => reject(failed(program, cause.message, cause)));
      child.once('close', resolve);
    });
    signal.throwIfAborted();
    if (code !== 0) throw failed(program, complaint.trim() || `exit code ${code}`);
  } finally {
    signal.removeEventListener('abort', stop);
  }
  return Buffer.concat(out);
}

function start(
  program: string,
  args: readonly string[],
  { cwd, env }: Required<Pick<RunOptions, 'cwd' | 'env'>>,
): ChildProcessWithoutNullStreams {
  const options = { cwd, env: { PATH: TOOL_PATH, LC_ALL: 'C.UTF-8', ...env }, stdio: 'pipe', detached: true } as const;
  try {
    return withPipes(spawn('setpriv', args, options));
  } catch (cause) {
    throw failed(program, messageOf(cause), cause);
  }
}

function lineSplitter(onLine: ((line: string) => void) | undefined): (chunk: Buffer) => void {
  let rest = '';
  return (chunk) => {
    const parts = (rest + chunk.toString()).split(/[\r\n]+/);
    rest = parts.pop() ?? '';
    for (const part of parts) onLine?.(part);
  };
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has just ended by itself.
  }
}

function failed(program: string, message: string, cause?: unknown): AgentisoError {
  return new AgentisoError('Unavailable', `${program} failed: ${message}`, { reason: 'ImageToolFailed', cause });
}
