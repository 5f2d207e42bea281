import { setImmediate as nextTurn } from 'node:timers/promises';

/** What was rejected meanwhile with nobody there to hear it: each of these would end a daemon, or a guest with all of its tasks. */
export async function unheardRejections(work: () => Promise<unknown>): Promise<readonly unknown[]> {
  const unheard: unknown[] = [];
  const hear = (error: unknown) => unheard.push(error);
  process.on('unhandledRejection', hear);
  try {
    await work();
    await nextTurn();
  } finally {
    process.off('unhandledRejection', hear);
  }
  return unheard;
}
