/**
 * Runs a program to its end, in a session of its own: Ctrl-C at a terminal reaches all that runs in front there, and is meant for this
 * process alone. What it began it finishes, or ends itself. (execFile cannot: it knows no `detached`.)
 */
import { type SpawnOptions, spawn } from 'node:child_process';

export interface ExecuteOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Ends it, with all it has started. */
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number;
  /** Of each of the two. More, and it is ended. */
  readonly maxOutputBytes?: number;
}

export interface Executed {
  readonly stdout: string;
  readonly stderr: string;
}

const MAX_OUTPUT_BYTES = 1024 * 1024;

/** It could not be run, failed, or was not let finish. */
export class ExecuteError extends Error implements Executed {
  override readonly name = 'ExecuteError';
  /** What it ended with, or why it could not start (`ENOENT`). */
  readonly code: number | string | undefined;
  readonly stdout: string;
  readonly stderr: string;

  constructor(message: string, code: number | string | undefined, { stdout, stderr }: Executed, cause?: unknown) {
    super(message, { cause });
    this.code = code;
    this.stdout = stdout;
    this.stderr = stderr;
  }
}

/** Rejects with an ExecuteError, or with the reason of the signal. */
export async function execute(program: string, args: readonly string[], options: ExecuteOptions = {}): Promise<Executed> {
  const { cwd, env, signal, timeoutMs, maxOutputBytes = MAX_OUTPUT_BYTES } = options;
  signal?.throwIfAborted();
  const place: SpawnOptions = { ...(cwd !== undefined && { cwd }), ...(env && { env: { ...env } }) };
  const child = spawn(program, args, { ...place, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const what = [program, ...args].join(' ');
  let problem: string | undefined;
  const end = (why: string) => {
    problem ??= why;
    endGroup(child.pid);
  };
  const stdout = gather(child.stdout, maxOutputBytes, end);
  const stderr = gather(child.stderr, maxOutputBytes, end);
  const stop = () => end('it was stopped');
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => end(`it took longer than ${timeoutMs} ms`), timeoutMs);
  signal?.addEventListener('abort', stop, { once: true });
  const said = () => ({ stdout: stdout(), stderr: stderr() });
  try {
    const code = await new Promise<number | string>((resolve, reject) => {
      child.once('error', (cause: NodeJS.ErrnoException) => reject(new ExecuteError(cause.message, cause.code, said(), cause)));
      child.once('close', (status, killedBy) => resolve(status ?? killedBy ?? 'unknown'));
    });
    signal?.throwIfAborted();
    if (code === 0 && problem === undefined) return said();
    throw new ExecuteError(`Command failed: ${what}: ${problem ?? (stderr().trim() || `it ended with ${code}`)}`, code, said());
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}

/** Where no descriptor was left there is no stream; the child says so itself. */
function gather(stream: NodeJS.ReadableStream | null | undefined, limit: number, end: (why: string) => void): () => string {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream?.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > limit) end(`it said more than ${limit} bytes`);
    else chunks.push(chunk);
  });
  return () => Buffer.concat(chunks).toString('utf8');
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has just ended by itself.
  }
}
