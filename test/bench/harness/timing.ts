/** Timed loops shared by the operations. */
import { median } from './stats.ts';

/** Median of what `time` says about each item, one after the other. */
export async function medianOf<T>(items: readonly T[], time: (item: T, index: number) => Promise<number>): Promise<number> {
  const durations: number[] = [];
  for (const [index, item] of items.entries()) durations.push(await time(item, index));
  return median(durations);
}

/** Median duration in ms of one call per item, one after the other. */
export function medianOfEach<T>(items: readonly T[], call: (item: T, index: number) => Promise<unknown>): Promise<number> {
  return medianOf(items, async (item, index) => {
    const start = performance.now();
    await call(item, index);
    return performance.now() - start;
  });
}

/** Calls per second of `writers` loops side by side, each making `each` calls in a row. */
export async function rateOf(writers: number, each: number, call: (writer: number, turn: number) => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await sideBySide(writers, async (writer) => {
    for (let turn = 0; turn < each; turn += 1) await call(writer, turn);
  });
  return perSecond(writers * each, performance.now() - start);
}

/** Fails only when all have ended: what they write to is closed after a failure, and must not be written to any more. */
export async function sideBySide(writers: number, work: (writer: number) => Promise<void>): Promise<void> {
  const ended = await Promise.allSettled(Array.from({ length: writers }, (_, writer) => work(writer)));
  for (const end of ended) if (end.status === 'rejected') throw end.reason;
}

export function perSecond(calls: number, elapsedMs: number): number {
  return (calls / elapsedMs) * 1_000;
}
