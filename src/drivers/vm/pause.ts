/** A machine that stands still with all that is in its memory. */
import { timeLimit } from '#lib/time-limit.ts';
import type { Machine } from './machine.ts';

const QMP_MS = 5_000;

export async function pauseMachine(machine: Machine, isPaused: boolean): Promise<void> {
  const qmp = await machine.qmp(timeLimit(QMP_MS));
  // First: one that stands still already is not to be let go on meanwhile.
  machine.isPaused = isPaused;
  await qmp.execute(isPaused ? 'stop' : 'cont');
}
