/** Signals to whole process groups. A group's id is the pid of the command that leads it. */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 50;

/** False: the group has no members any more. */
export function signalGroup(groupId: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-groupId, signal);
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
export async function endGroup(groupId: number, graceMs: number): Promise<void> {
  const deadline = performance.now() + graceMs;
  let isAlive = signalGroup(groupId, 'SIGTERM');
  while (isAlive && performance.now() < deadline) {
    await delay(POLL_MS);
    isAlive = signalGroup(groupId, 0) && hasLiveMember(groupId);
  }
  if (isAlive) signalGroup(groupId, 'SIGKILL');
}

/** Ended members count for the kernel until somebody reaps them, and in many containers nobody does. */
function hasLiveMember(groupId: number): boolean {
  return readdirSync('/proc').some((name) => {
    if (!/^[1-9]/.test(name)) return false;
    const [state, , group] = readAfterName(`/proc/${name}/stat`).split(' ');
    return group === String(groupId) && state !== 'Z' && state !== 'X';
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

/** The groups this guest has running, so that none of them outlives it. */
export class ProcessGroups {
  readonly #running = new Set<number>();
  #isClosed = false;

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** A command that was on its way while the guest began to stop ends at once. */
  add(groupId: number): void {
    this.#running.add(groupId);
    if (this.#isClosed) signalGroup(groupId, 'SIGKILL');
  }

  delete(groupId: number): void {
    this.#running.delete(groupId);
  }

  /** From here on no command may start. */
  async close(graceMs: number): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#running].map((groupId) => endGroup(groupId, graceMs)));
  }
}
