/**
 * Work on very many objects, a few at a time: those of one turn of the event loop share a write to disk, and everybody else has a turn in
 * between. One after the other they would do neither. A lone write to a quick disk is made in place, so that ten thousand of them in a row
 * are ten thousand waits for the disk and one turn that lasts seconds.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';

const AT_ONCE = 32;

/** They are begun in their order. Rejects with the first failure, after which none is begun; those that were begun have ended by then. */
export async function inTurns<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < items.length; at += AT_ONCE) {
    if (at > 0) await nextTurn();
    const settled = await Promise.allSettled(items.slice(at, at + AT_ONCE).map(work));
    const failed = settled.find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  }
}
