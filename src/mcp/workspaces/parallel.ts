/** The same for many, only so many at a time; one that fails stops no other. */

/** In the order of the items. `work` must not reject. */
export async function fewAtATime<T, R>(items: readonly T[], atATime: number, work: (item: T) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = [];
  const waiting = [...items.entries()];
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [index, item] = next;
      results[index] = await work(item);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atATime, items.length) }, worker));
  return results;
}
