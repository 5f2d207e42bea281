/** One piece of work at a time per key, in the order asked. */
export class KeyedLock {
  readonly #lasts = new Map<string, Promise<void>>();

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const mine = (this.#lasts.get(key) ?? Promise.resolve()).then(work);
    const settled = mine.then(ignore, ignore);
    this.#lasts.set(key, settled);
    try {
      return await mine;
    } finally {
      if (this.#lasts.get(key) === settled) this.#lasts.delete(key);
    }
  }
}

function ignore(): void {}
