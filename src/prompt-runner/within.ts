/** A limit in time for what may never come. */

/** Rejects with what `late` makes when `work` takes longer. The work itself goes on. */
export function within<T>(work: Promise<T>, limitMs: number, late: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), limitMs);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
