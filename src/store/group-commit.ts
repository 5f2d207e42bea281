/** Changes on their way to the disk: while one batch is being made durable the next one gathers. */
import type { Change, Persistence } from './change.ts';

interface PendingWrite {
  readonly change: Change;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export class GroupCommit {
  readonly #persistence: Persistence;
  readonly #publish: (change: Change) => void;
  #queue: PendingWrite[] = [];
  #isPumping = false;

  /** `publish` is called for each change, in their order, once its batch is on disk. */
  constructor(persistence: Persistence, publish: (change: Change) => void) {
    this.#persistence = persistence;
    this.#publish = publish;
  }

  /** Resolves when the change is durable and published. */
  add(change: Change): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ change, resolve, reject });
      if (this.#isPumping) return;
      this.#isPumping = true;
      // A microtask later, so that all writes of this turn of the event loop share the first commit.
      queueMicrotask(() => void this.#pump());
    });
  }

  async #pump(): Promise<void> {
    while (this.#queue.length > 0) {
      const batch = this.#queue;
      this.#queue = [];
      try {
        await this.#persistence.commit(batch.map(({ change }) => change));
      } catch (error) {
        for (const { reject } of batch) reject(error);
        continue;
      }
      for (const { change, resolve } of batch) {
        this.#publish(change);
        resolve();
      }
    }
    this.#isPumping = false;
  }
}
