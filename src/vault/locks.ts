/** Locks by name, within this process: many readers or one writer, in the order in which they came. */

interface Waiting {
  readonly isWriter: boolean;
  readonly start: () => void;
}

interface Lock {
  readers: number;
  hasWriter: boolean;
  readonly queue: Waiting[];
}

export class Locks {
  readonly #locks = new Map<string, Lock>();

  shared<T>(name: string, work: () => Promise<T>): Promise<T> {
    return this.#run(name, false, work);
  }

  alone<T>(name: string, work: () => Promise<T>): Promise<T> {
    return this.#run(name, true, work);
  }

  async #run<T>(name: string, isWriter: boolean, work: () => Promise<T>): Promise<T> {
    const lock = this.#locks.get(name) ?? { readers: 0, hasWriter: false, queue: [] };
    this.#locks.set(name, lock);
    await new Promise<void>((start) => {
      lock.queue.push({ isWriter, start });
      startNext(lock);
    });
    try {
      return await work();
    } finally {
      if (isWriter) lock.hasWriter = false;
      else lock.readers--;
      startNext(lock);
      if (lock.readers === 0 && !lock.hasWriter && lock.queue.length === 0) this.#locks.delete(name);
    }
  }
}

/** Nobody overtakes: a writer that waits lets no later reader pass. */
function startNext(lock: Lock): void {
  for (let next = lock.queue[0]; next; next = lock.queue[0]) {
    if (lock.hasWriter || (next.isWriter && lock.readers > 0)) return;
    lock.queue.shift();
    if (next.isWriter) lock.hasWriter = true;
    else lock.readers++;
    next.start();
  }
}
