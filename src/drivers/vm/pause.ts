/** A machine that stands still with all that is in its memory. */
import type { Machine } from './machine.ts';

const QMP_MS = 5_000;

export async function pauseMachine(machine: Machine, isPaused: boolean): Promise<void> {
  const qmp = await machine.qmp(AbortSignal.timeout(QMP_MS));
  // First: one that stands still already is not to be let go on meanwhile.
  machine.isPaused = isPaused;
  await qmp.execute(isPaused ? 'stop' : 'cont');
}
