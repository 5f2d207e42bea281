/** A machine that stands still with all that is in its memory. */
import { setTimeout as pause } from 'node:timers/promises';
import type { WorkspacePaths } from '../local/paths.ts';
import { isMarked } from '../local/suspended-mark.ts';
import type { Machine } from './machine.ts';

const QMP_MS = 5_000;
const LOOK_MS = 200;

export async function pauseMachine(machine: Machine, isPaused: boolean): Promise<void> {
  const qmp = await machine.qmp(AbortSignal.timeout(QMP_MS));
  await qmp.execute(isPaused ? 'stop' : 'cont');
}

/** Of a machine that an earlier daemon has suspended nothing is heard before it is resumed. */
export async function untilResumed(paths: WorkspacePaths, signal: AbortSignal): Promise<void> {
  while (isMarked(paths)) await pause(LOOK_MS, undefined, { signal });
}
