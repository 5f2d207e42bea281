/** Starts a command as the leader of its own process group and says when and how it ended. Its pipes belong to the caller. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import { EXEC_KILL_GRACE_MS } from '#protocol/control.ts';
import { asFirstToGo } from './first-to-go.ts';
import { type Freezer, PausableTimer } from './freezer.ts';
import { lazy } from './lazy-modules.ts';
import { type CommandPipes, openPipes } from './pipes/command-pipes.ts';
import { endFamily, type Family, type ProcessGroups, signalFamily } from './process-group.ts';

/** How long output may stay open after the command: only a process that left the group can hold it. */
const PIPE_GRACE_MS = 1_000;

export interface CommandStart {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Absent: as long as it takes. */
  readonly timeoutMs?: number | undefined;
  readonly signal: AbortSignal;
  readonly groups: ProcessGroups;
  readonly hasStdin?: boolean;
  /** A pipe out of the command beside its output, as descriptor 3. */
  readonly hasReport?: boolean;
  /** What belongs to the command beside its group; may grow while it runs. */
  readonly alsoEnd?: readonly Family[];
  /** Whoever has it may let the command stand still. */
  readonly freezer?: Freezer | undefined;
}

export interface CommandExit {
  /** 128 + n when signal n ended it. */
  readonly exitCode: number;
  /** Set when the command was not allowed to end by itself. */
  readonly stoppedBy: 'timeout' | 'cancel' | undefined;
}

export interface StartedCommand {
  readonly groupId: number;
  readonly stdin: Writable | undefined;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly report: Readable | undefined;
  /** The command and everything in its group have ended; output may still be in the pipes. */
  readonly exited: Promise<CommandExit>;
  /** After `exited`: resolves when the pipes have ended, or after a grace during which no slow reader held their bytes back. */
  drained(isHeldBack?: () => boolean): Promise<void>;
}

/** Rejects when the command cannot be started. */
export async function startCommand(start: CommandStart): Promise<StartedCommand> {
  const { argv, cwd, env, groups, hasStdin = false, hasReport = false } = start;
  const [file = '', ...args] = argv;
  const pipes = await openPipes(groups.pipes, hasStdin);
  const child = spawnOrClose(pipes, () =>
    asFirstToGo(() =>
      lazy.childProcess.spawn(file, args, {
        cwd,
        env,
        detached: true,
        stdio: [...pipes.stdio, ...(hasReport ? (['pipe'] as const) : [])],
      }),
    ),
  );
  const streams = pipes.connect(child);
  const groupId = child.pid;
  if (groupId === undefined || streams === undefined) throw (await once(child, 'error'))[0];
  groups.add(groupId);
  const closed = Promise.all([streams.stdout, streams.stderr].map(closedOf));
  return {
    ...streams,
    groupId,
    report: hasReport ? (child.stdio[3] as Readable) : undefined,
    exited: follow(child, { ...start, groupId }),
    drained: (isHeldBack = () => false) => drained({ ...streams, closed, isHeldBack }),
  };
}

/** A zero byte in an argument is refused before anything is spawned. */
function spawnOrClose(pipes: CommandPipes, spawnIt: () => ChildProcess): ChildProcess {
  try {
    return spawnIt();
  } catch (error) {
    pipes.close();
    throw error;
  }
}

/** However it closes: a pipe that breaks is a pipe that has ended. */
function closedOf(stream: Readable): Promise<void> {
  stream.on('error', () => {});
  return new Promise((resolve) => stream.once('close', () => resolve()));
}

async function follow(child: ChildProcess, start: CommandStart & { readonly groupId: number }): Promise<CommandExit> {
  const { groupId, timeoutMs = Number.POSITIVE_INFINITY, signal, groups, alsoEnd = [], freezer } = start;
  const families = (): readonly Family[] => [{ kind: 'group', id: groupId }, ...alsoEnd];
  let stoppedBy: CommandExit['stoppedBy'];
  let stopped: Promise<unknown> | undefined;
  const stop = (by: 'timeout' | 'cancel') => {
    stoppedBy ??= by;
    stopped ??= Promise.all(families().map((family) => endFamily(family, EXEC_KILL_GRACE_MS)));
    freezer?.release();
  };
  const cancel = () => stop('cancel');
  const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  const timer = new PausableTimer(timeoutMs, () => stop('timeout'));
  freezer?.hold({ families, timer });
  signal.addEventListener('abort', cancel, { once: true });
  if (signal.aborted) cancel();
  try {
    const [code, endSignal] = await exited;
    timer.clear();
    freezer?.release();
    signal.removeEventListener('abort', cancel);
    // What a command leaves in its group ends with it: otherwise it would run on, unknown to anybody.
    await stopped;
    if (stopped === undefined) for (const family of families()) signalFamily(family, 'SIGKILL');
    return { exitCode: code ?? 128 + constants.signals[endSignal ?? 'SIGKILL'], stoppedBy };
  } finally {
    groups.delete(groupId);
  }
}

interface Pipes {
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly closed: Promise<unknown>;
  readonly isHeldBack: () => boolean;
}

/** A process that has left the group may hold the pipes for ever: what it writes is not waited for. */
async function drained({ stdout, stderr, closed, isHeldBack }: Pipes): Promise<void> {
  do {
    if ((await Promise.race([closed, quiet()])) !== 'quiet') return;
  } while (isHeldBack());
  // After a long stall the timer fires before the bytes that already wait in the pipes are read: give them one turn.
  await turn();
  stdout.destroy();
  stderr.destroy();
}

function quiet(): Promise<'quiet'> {
  return delay(PIPE_GRACE_MS, 'quiet' as const, { ref: false });
}
