/** A copy that somebody has killed as it began says nothing of the template that it is a copy of. */
import { once } from 'node:events';
import { timeLimit } from '#lib/time-limit.ts';
import { wasKilled } from '../local/guest-process.ts';

/** From the moment when QEMU hangs up until its launcher has ended. */
const END_MS = 5_000;

/** `ended` is the signal of its process, which has ended or is about to. */
export async function isEndedByKill(ended: AbortSignal): Promise<boolean> {
  if (!ended.aborted) await once(ended, 'abort', { signal: timeLimit(END_MS) }).catch(() => {});
  return wasKilled(ended);
}
