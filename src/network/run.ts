/** Runs a tool of the system: argument list, text in, text out, bounded in time and size. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { AgentisoError, messageOf } from '#lib/errors.ts';
import { withPipes } from '#lib/with-pipes.ts';

export interface RunOptions {
  readonly input?: string;
  /** Looked at before the start. What has begun is finished: it takes milliseconds, and half of it would be worse than either. */
  readonly signal?: AbortSignal;
  /** Told at once: what the tool does is announced under its pid. */
  readonly onPid?: (pid: number) => void;
}

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const TIMEOUT_MS = 30_000;
/** The listing of 65,000 agents has 10 MiB. */
const MAX_OUTPUT = 64 * 1024 * 1024;

/** Rejects when the tool could not be run to its end; a tool that fails is not a failure here. */
export function run([command, ...args]: readonly [string, ...string[]], options: RunOptions = {}): Promise<Finished> {
  const { input = '', signal, onPid } = options;
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const child = start(command, args);
    if (child.pid !== undefined) onPid?.(child.pid);
    const stdout = collect(child.stdout, () => child.kill('SIGKILL'));
    const stderr = collect(child.stderr, () => child.kill('SIGKILL'));
    child.on('error', (cause) => reject(failure(command, cause.message, cause)));
    child.on('close', (code, killedBy) => {
      if (killedBy !== null) reject(failure(command, `ended by ${killedBy}: ${stderr()}`));
      else resolve({ code, stdout: stdout(), stderr: stderr() });
    });
    // A tool that ends without reading to the end says why on stderr.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
  });
}

function start(command: string, args: readonly string[]): ChildProcessWithoutNullStreams {
  try {
    // Ctrl-C at the daemon's terminal is not meant for it: half a change would be worse than one that comes to its end.
    return withPipes(spawn(command, args, { stdio: 'pipe', timeout: TIMEOUT_MS, killSignal: 'SIGKILL', detached: true }));
  } catch (cause) {
    throw failure(command, messageOf(cause), cause);
  }
}

function collect(stream: NodeJS.ReadableStream, onOverflow: () => void): () => string {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_OUTPUT) onOverflow();
    else chunks.push(chunk);
  });
  return () => Buffer.concat(chunks).toString('utf8');
}

function failure(command: string, message: string, cause?: unknown): AgentisoError {
  return new AgentisoError('Unavailable', `${command} failed: ${message.trim()}`, { reason: 'NetworkToolFailed', cause });
}
