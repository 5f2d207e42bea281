/**
 * Signals to everything a command has started. Most commands are one process group, named by the pid of the process that leads it; a
 * command on a terminal is a session of several groups, because its shell gives every job a group of its own.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { monotonicMs } from './monotonic.ts';
import type { PipePool } from './pipes/pipe-pool.ts';

const POLL_MS = 50;

export interface Family {
  readonly kind: 'group' | 'session';
  readonly id: number;
}

/** False: nobody is left. */
export function signalFamily({ kind, id }: Family, signal: NodeJS.Signals | 0): boolean {
  if (kind === 'group') return signalPid(-id, signal);
  // A list, not some(): every member gets the signal.
  return liveMembers({ kind, id })
    .map((pid) => signalPid(pid, signal))
    .includes(true);
}

export function signalGroup(id: number, signal: NodeJS.Signals | 0): boolean {
  return signalFamily({ kind: 'group', id }, signal);
}

function signalPid(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

/**
 * SIGTERM, then SIGKILL when the grace is over. The kernel tells nobody when a group becomes empty, hence the poll; and an empty group
 * is never signalled again, because its id may by then belong to a stranger.
 */
export async function endFamily(family: Family, graceMs: number): Promise<void> {
  const deadline = monotonicMs() + graceMs;
  let isAlive = signalFamily(family, 'SIGTERM');
  while (isAlive && monotonicMs() < deadline) {
    await delay(POLL_MS);
    isAlive = signalFamily(family, 0) && liveMembers(family).length > 0;
  }
  if (isAlive) signalFamily(family, 'SIGKILL');
}

/** Ended members count for the kernel until somebody reaps them, and in many containers nobody does. */
function liveMembers({ kind, id }: Family): readonly number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^[1-9]/.test(name)) return [];
    const [state, , group, session] = readAfterName(`/proc/${name}/stat`).split(' ');
    const isMember = (kind === 'group' ? group : session) === String(id);
    return isMember && state !== 'Z' && state !== 'X' ? [Number(name)] : [];
  });
}

/** The fields behind the command's name, which may contain anything; empty when the process is gone. */
function readAfterName(path: string): string {
  try {
    const text = readFileSync(path, 'latin1');
    return text.slice(text.lastIndexOf(')') + 2);
  } catch {
    return '';
  }
}

/** What this guest has running, so that none of it outlives the guest. */
export class ProcessGroups {
  /** Where its commands get their pipes from; absent: Node's own sockets do. */
  readonly pipes: PipePool | undefined;
  readonly #running = new Map<number, Family>();
  readonly #listeners = new Set<() => void>();
  #isClosed = false;

  constructor(pipes?: PipePool) {
    this.pipes = pipes;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get size(): number {
    return this.#running.size;
  }

  /** A command that was on its way while the guest began to stop ends at once. */
  add(id: number, kind: Family['kind'] = 'group'): void {
    const family: Family = { kind, id };
    this.#running.set(id, family);
    if (this.#isClosed) signalFamily(family, 'SIGKILL');
  }

  delete(id: number): void {
    this.#running.delete(id);
    for (const listener of this.#listeners) listener();
  }

  /** Whenever a command has ended. */
  onEnd(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** Without any grace, for when there is no time. */
  killAll(): void {
    this.#isClosed = true;
    for (const family of this.#running.values()) signalFamily(family, 'SIGKILL');
  }

  /** From here on no command may start. */
  async close(graceMs: number): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#running.values()].map((family) => endFamily(family, graceMs)));
  }
}
