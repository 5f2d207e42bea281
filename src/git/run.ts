/** Running git: always by argv, never with a person's configuration, hooks or prompts, and always with a limit on time. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { AgentisoError } from '#lib/errors.ts';
import { readProcessIdentity } from '#lib/process-identity.ts';

export interface GitOptions {
  /** A repository, bare or with a worktree. */
  readonly directory: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: Buffer | string;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  /** Who the process runs as; absent: who we are. A repository that belongs to somebody keeps belonging to them. */
  readonly owner?: { readonly uid: number; readonly gid: number };
}

export interface GitOutcome {
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

const DEFAULT_TIMEOUT_MS = 60_000;
/** Of what git complains about, in a message for people. */
const KEPT_COMPLAINT = 2_000;

/** Hooks and configuration of a repository are code of whoever wrote it: none of it runs here. */
const SETTINGS = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.alternateRefsCommand=true',
  'gc.auto=0',
  'maintenance.auto=false',
  'safe.directory=*',
  'protocol.ext.allow=never',
  'commit.gpgSign=false',
  'core.fsync=committed',
  'uploadpack.packObjectsHook=',
].flatMap((setting) => ['-c', setting]);

export function spawnGit(args: readonly string[], { directory, env = {}, signal, owner }: GitOptions): ChildProcess {
  return spawn('git', [...SETTINGS, ...args], {
    cwd: directory,
    env: { ...cleanEnv(), ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
    // Ctrl-C at the terminal is not meant for it: whoever asked says whether it finishes. It ends when nobody is at its pipes any more.
    detached: true,
    ...(signal && { signal }),
    ...owner,
  });
}

function cleanEnv(): Record<string, string> {
  return {
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    HOME: '/nonexistent',
    LC_ALL: 'C.UTF-8',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_ADVICE: '0',
  };
}

/** Whether this process waits for one that it has started: nobody who wants to end waits for one that has nothing to do. */
export function waitForChild(child: ChildProcess, isWaiting: boolean): void {
  for (const handle of [child, child.stdin, child.stdout, child.stderr]) {
    const held = handle as { ref?(): void; unref?(): void } | null;
    if (isWaiting) held?.ref?.();
    else held?.unref?.();
  }
}

/** Also one that has just died, of which this process has not heard yet: until then nobody else gets its pid. */
export function hasEnded({ pid, exitCode, signalCode }: ChildProcess): boolean {
  return pid === undefined || exitCode !== null || signalCode !== null || readProcessIdentity(pid) === undefined;
}

/** Whatever it ends with; rejects only when git could not be run or was not let finish. */
export function tryGit(args: readonly string[], options: GitOptions): Promise<GitOutcome> {
  const { timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  const child = spawnGit(args, options);
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  let isLate = false;
  child.stdout?.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr?.on('data', (chunk: Buffer) => err.push(chunk));
  // A git that ends before it has read everything says why by its exit code.
  child.stdin?.on('error', () => undefined);
  const timer = setTimeout(() => {
    isLate = true;
    child.kill('SIGKILL');
  }, timeoutMs);
  child.stdin?.end(options.input);
  return new Promise<GitOutcome>((resolve, reject) => {
    child.once('error', (error) => reject(isMissing(error) ? missing(options.directory) : error));
    child.once('close', (code) => {
      if (isLate) reject(new AgentisoError('Timeout', `git ${args[0]} took longer than ${timeoutMs / 1_000} s`));
      else resolve({ code: code ?? -1, stdout: Buffer.concat(out), stderr: Buffer.concat(err).toString() });
    });
  }).finally(() => clearTimeout(timer));
}

export class GitError extends AgentisoError {
  readonly exitCode: number;

  constructor(args: readonly string[], { code, stderr }: GitOutcome) {
    super('IoError', `git ${args.find((arg) => !arg.startsWith('-')) ?? ''} failed (${code}): ${complaint(stderr)}`, {
      reason: 'GitFailed',
    });
    this.exitCode = code;
  }
}

export async function git(args: readonly string[], options: GitOptions): Promise<string> {
  const outcome = await tryGit(args, options);
  if (outcome.code !== 0) throw new GitError(args, outcome);
  return outcome.stdout.toString();
}

/** Addresses may carry a password. */
function complaint(stderr: string): string {
  const text = stderr.trim().replace(/:\/\/[^@\s/]+@/g, '://***@');
  return text.length > KEPT_COMPLAINT ? `${text.slice(0, KEPT_COMPLAINT)}…` : text || 'without a word';
}

/** The system says the same of a program and of a folder that is not there. */
function missing(directory: string): AgentisoError {
  if (!existsSync(directory)) return new AgentisoError('IoError', `there is no folder ${directory}`, { reason: 'GitFailed' });
  return new AgentisoError('Unavailable', 'git is not installed', { reason: 'GitMissing', hint: 'install git' });
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
