/** git inside the workspace, on files that only an agent has written: it may do whatever the agent may. */
import type { ChildProcess } from 'node:child_process';
import { ProtocolError } from '#protocol/protocol-error.ts';
import type { Guest } from '../guest.ts';
import { lazy } from '../lazy-modules.ts';

export interface Repository {
  readonly guest: Guest;
  /** The folder that is worked in. */
  readonly directory: string;
  /** Beyond the guest's own: GIT_DIR and the like. */
  readonly env: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

export interface Outcome {
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** No hooks, no editors, no signing: this is a copy of what is there, not work of the agent's. */
const SETTINGS = [
  '-c',
  'core.hooksPath=/dev/null',
  '-c',
  'commit.gpgSign=false',
  '-c',
  'gc.auto=0',
  '-c',
  'core.fsmonitor=false',
  '-c',
  'pack.threads=1',
  '-c',
  'core.quotePath=false',
  '-c',
  'safe.directory=*',
];
const NOBODY = {
  GIT_AUTHOR_NAME: 'agentiso',
  GIT_AUTHOR_EMAIL: 'autosave@agentiso.invalid',
  GIT_COMMITTER_NAME: 'agentiso',
  GIT_COMMITTER_EMAIL: 'autosave@agentiso.invalid',
  GIT_TERMINAL_PROMPT: '0',
  GIT_OPTIONAL_LOCKS: '0',
};

export function startGit({ guest, directory, env, signal }: Repository, args: readonly string[]): ChildProcess {
  return lazy.childProcess.spawn('git', [...SETTINGS, ...args], {
    cwd: directory,
    env: { ...guest.env(), ...NOBODY, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
    signal,
  });
}

export function tryGit(repository: Repository, args: readonly string[], input?: string | Buffer): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = startGit(repository, args);
    const out: Buffer[] = [];
    let stderr = '';
    child.stdout?.on('data', (chunk: Buffer) => out.push(chunk));
    child.stderr?.on('data', (chunk: Buffer) => {
      stderr = `${stderr}${chunk}`.slice(-4_000);
    });
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
    child.once('error', (error) => reject(new ProtocolError('Unavailable', `git cannot be run in the workspace: ${error.message}`, error)));
    child.once('close', (code) => resolve({ code: code ?? -1, stdout: Buffer.concat(out), stderr }));
  });
}

export async function git(repository: Repository, args: readonly string[], input?: string | Buffer): Promise<string> {
  const { code, stdout, stderr } = await tryGit(repository, args, input);
  if (code !== 0) throw new ProtocolError('IoError', `git ${args[0]} failed in the workspace (${code}): ${stderr.trim()}`);
  return stdout.toString();
}

export async function resolveCommit(repository: Repository, name: string): Promise<string | undefined> {
  const { code, stdout } = await tryGit(repository, ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`]);
  return code === 0 ? stdout.toString().trim() : undefined;
}
