/** One running guest: started by this daemon, or by an earlier one and found again. Watched until it ends, and its end explained. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { AgentisoError, UnavailableError } from '#lib/errors.ts';
import { isRunning, type ProcessIdentity, readProcessIdentity } from '#lib/process-identity.ts';
import type { StartCommand } from './launcher.ts';
import { socketIn, type WorkspacePaths } from './paths.ts';

export interface GuestProcess {
  /** Empty for a member of a pool, until it is given away. */
  incarnation: string;
  readonly pid: number;
  /** undefined: it had ended before it could be looked at. */
  readonly identity: ProcessIdentity | undefined;
  isListening: boolean;
  /** How it ended. */
  exit: string | undefined;
  /** Aborted when it has ended; see wasKilled. */
  readonly ended: AbortSignal;
  /** Of one that would end with this process: from now on it does not. */
  letLive?(): void;
}

export interface GuestStart {
  readonly incarnation: string;
  readonly command: StartCommand;
  readonly paths: WorkspacePaths;
  readonly onChange: () => void;
  readonly awaitGuest?: AwaitGuest;
}

/** Resolves when the guest listens; given up when its process, which has this pid, has ended. */
export type AwaitGuest = (paths: WorkspacePaths, signal: AbortSignal, pid: number) => Promise<void>;

/** Nobody tells a process about the end of one that is not its child: it has to look. */
const LOOK_MS = 250;
const LISTENING = 'listening\n';
/** What a process whose life hangs on this one waits for on its standard input. */
const LET_LIVE = 'live\n';
const KILLED = 'GuestKilled';
/** Of a shell and of bubblewrap, when what they have started was ended by SIGKILL. */
const KILLED_CODE = 128 + 9;

/** Of the signal of one that has ended: whether somebody has killed it, or what it ran. Of one that this daemon did not start nobody can tell. */
export function wasKilled({ aborted, reason }: AbortSignal): boolean {
  return aborted && reason instanceof AgentisoError && reason.reason === KILLED;
}

export async function startGuest({ incarnation, command, paths, onChange, awaitGuest }: GuestStart): Promise<GuestProcess> {
  const child = await spawnDetached(command, paths.log);
  const { pid } = child;
  const ended = new AbortController();
  const identity = readProcessIdentity(pid);
  const guest: GuestProcess = { incarnation, pid, identity, isListening: false, exit: undefined, ended: ended.signal };
  const { stdin } = child;
  if (stdin !== null) guest.letLive = () => void stdin.end(LET_LIVE);
  child.once('exit', (code, signal) => {
    guest.exit = signal === null ? `exited with code ${code}` : `ended by ${signal}`;
    const isKilled = signal === 'SIGKILL' || code === KILLED_CODE;
    ended.abort(new UnavailableError(`the guest ${guest.exit}`, { reason: isKilled ? KILLED : 'GuestEnded' }));
    onChange();
  });
  if (awaitGuest !== undefined) void listenWhenThere(guest, awaitGuest(paths, ended.signal, pid), onChange);
  let said = '';
  child.stdout?.on('data', (chunk) => {
    said = (said + chunk).slice(-LISTENING.length);
    if (said !== LISTENING || guest.isListening) return;
    guest.isListening = true;
    onChange();
  });
  return guest;
}

/** A guest that never comes is ended by whoever waits for it; why is in what it leaves. */
async function listenWhenThere(guest: GuestProcess, there: Promise<void>, onChange: () => void): Promise<void> {
  try {
    await there;
    guest.isListening = true;
    onChange();
  } catch {
    onChange();
  }
}

/** A session of its own and no pipe it depends on: Ctrl-C at the daemon's terminal is not meant for it, nor is the daemon's end. */
async function spawnDetached(command: StartCommand, logPath: string): Promise<ChildProcess & { pid: number }> {
  const [program, ...args] = command.argv;
  const files: number[] = [];
  try {
    files.push(openSync(logPath, 'a', 0o600));
    for (const path of command.files) files.push(openSync(path, 'r'));
    const stdio = [command.endsWithDaemon ? ('pipe' as const) : ('ignore' as const), 'pipe' as const, ...files];
    const environment = command.environment === undefined ? {} : { env: { ...command.environment } };
    const child = spawn(program, args, { cwd: command.cwd, detached: true, stdio, ...environment });
    if (child.pid === undefined) throw (await once(child, 'error'))[0];
    releaseDaemon(child);
    return Object.assign(child, { pid: child.pid });
  } finally {
    for (const file of files) closeSync(file);
  }
}

/** The guest must not keep the daemon alive. */
function releaseDaemon(child: ChildProcess): void {
  for (const stream of [child.stdin, child.stdout]) {
    stream?.on('error', () => {});
    if (stream !== null && 'unref' in stream && typeof stream.unref === 'function') stream.unref();
  }
  child.unref();
}

export interface GuestAdoption {
  readonly incarnation: string;
  readonly identity: ProcessIdentity;
  readonly paths: WorkspacePaths;
  readonly onChange: () => void;
  readonly awaitGuest?: AwaitGuest;
}

export function adoptGuest({ incarnation, identity, paths, onChange, awaitGuest }: GuestAdoption): GuestProcess {
  const isThere = () => awaitGuest === undefined && isListeningIn(paths);
  const ended = new AbortController();
  const guest: GuestProcess = { incarnation, pid: identity.pid, identity, isListening: isThere(), exit: undefined, ended: ended.signal };
  if (awaitGuest !== undefined) void listenWhenThere(guest, awaitGuest(paths, ended.signal, guest.pid), onChange);
  const timer = setInterval(() => {
    if (!isRunning(identity)) {
      clearInterval(timer);
      guest.exit = 'ended';
      ended.abort();
      onChange();
    } else if (!guest.isListening && isThere()) {
      guest.isListening = true;
      onChange();
    }
  }, LOOK_MS);
  timer.unref();
  return guest;
}

/** The relay's socket comes last, and before a start both are removed. */
function isListeningIn({ run }: WorkspacePaths): boolean {
  return existsSync(socketIn(run, 'control')) && existsSync(socketIn(run, 'relay'));
}
