/** Nobody tells of the end of processes that are not our children: they are looked at. */
import { setTimeout as pause } from 'node:timers/promises';
import { isRunning, type ProcessIdentity } from '#lib/process-identity.ts';

const LOOK_MS = 20;

/** Resolves when none of them runs, or the time is over. */
export async function untilGone(processes: readonly ProcessIdentity[], forMs: number): Promise<void> {
  for (let waitedMs = 0; waitedMs < forMs && processes.some(isRunning); waitedMs += LOOK_MS)
    await pause(LOOK_MS, undefined, { ref: false });
}
