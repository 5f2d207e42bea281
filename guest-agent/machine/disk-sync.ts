/**
 * Brings to the disk of a machine what its kernel still holds in memory: whoever turns the machine off without a word takes nothing of that. Node
 * cannot ask the kernel for it, so the helper does; the one that has set the machine up is kept for it, because to start a process takes longer.
 */
import type { Helper } from './helper.ts';

/** Somebody may have killed the helper. */
const TRIES = 2;

export class DiskSync {
  readonly #startHelper: () => Helper;
  #helper: Helper | undefined;
  #place: string | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #next: Promise<void> | undefined;

  constructor(startHelper: () => Helper) {
    this.#startHelper = startHelper;
  }

  /** `helper`: one that has nothing else to do. `place`: of the file system. */
  begin(helper: Helper, place: string): void {
    this.#helper = helper;
    this.#place = place;
  }

  /** When it resolves, all that was written before it was called is there. Those who come while one is under way share the one after it. */
  sync(): Promise<void> {
    this.#next ??= this.#last.then(() => {
      this.#next = undefined;
      const syncing = this.#syncNow();
      this.#last = syncing.catch(() => {});
      return syncing;
    });
    return this.#next;
  }

  async #syncNow(): Promise<void> {
    for (let left = TRIES; this.#place !== undefined; left--) {
      this.#helper ??= this.#startHelper();
      try {
        this.#helper.tell([`sync ${this.#place}`]);
        return await this.#helper.said('synced');
      } catch (error) {
        this.#helper.end();
        this.#helper = undefined;
        if (left <= 1) throw new Error(`what was written may not be on the disk: ${(error as Error).message}`);
      }
    }
  }
}
