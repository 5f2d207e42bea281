/** Runs one command as the leader of its own process group, from spawn to the last byte of its output. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import { EXEC_KILL_GRACE_MS } from '#protocol/messages.ts';
import { Output, type Outputs } from './output.ts';
import { endGroup, type ProcessGroups, signalGroup } from './process-group.ts';

/** How long output may stay open after the command: only a process that left the group can hold it. */
const PIPE_GRACE_MS = 1_000;

export interface Command {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly groups: ProcessGroups;
}

export interface CommandEnd extends Outputs {
  /** 128 + n when signal n ended it. */
  readonly exitCode: number;
  /** Set when the command was not allowed to end by itself. */
  readonly stoppedBy: 'timeout' | 'cancel' | undefined;
}

type Child = ChildProcessByStdio<null, Readable, Readable>;

/** Rejects when the command cannot be started. */
export async function runCommand(command: Command): Promise<CommandEnd> {
  const { argv, cwd, env, groups } = command;
  const [file = '', ...args] = argv;
  const child = spawn(file, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const groupId = child.pid;
  if (groupId === undefined) throw (await once(child, 'error'))[0];
  groups.add(groupId);
  try {
    return await follow(child, { ...command, groupId });
  } finally {
    groups.delete(groupId);
  }
}

async function follow(child: Child, { groupId, timeoutMs, signal }: Command & { readonly groupId: number }): Promise<CommandEnd> {
  const stdout = new Output(child.stdout);
  const stderr = new Output(child.stderr);
  const closed = once(child, 'close');
  const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;

  let stoppedBy: CommandEnd['stoppedBy'];
  let stopped: Promise<void> | undefined;
  const stop = (by: 'timeout' | 'cancel') => {
    stoppedBy ??= by;
    stopped ??= endGroup(groupId, EXEC_KILL_GRACE_MS);
  };
  const cancel = () => stop('cancel');
  const timer = setTimeout(() => stop('timeout'), timeoutMs);
  signal.addEventListener('abort', cancel, { once: true });
  if (signal.aborted) cancel();

  const [code, endSignal] = await exited;
  clearTimeout(timer);
  signal.removeEventListener('abort', cancel);
  // What a command leaves in its group ends with it: otherwise it would run on, unknown to anybody.
  if (stopped === undefined) signalGroup(groupId, 'SIGKILL');
  else await stopped;
  await closedOrLate(child, closed);
  return { exitCode: code ?? 128 + constants.signals[endSignal ?? 'SIGKILL'], stoppedBy, stdout: stdout.read(), stderr: stderr.read() };
}

async function closedOrLate(child: Child, closed: Promise<unknown>): Promise<void> {
  const timeout = new AbortController();
  await Promise.race([closed, delay(PIPE_GRACE_MS, undefined, { signal: timeout.signal }).catch(() => {})]);
  timeout.abort();
  // After a long stall the timer fires before the bytes that already wait in the pipes are read: give them one turn.
  await turn();
  child.stdout.destroy();
  child.stderr.destroy();
}
