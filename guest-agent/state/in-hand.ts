/**
 * Messages that have come and are not on this disk yet. The host has them on its own, so the agent may look at them at once; they come
 * again when this guest dies before they are stored. Only what the agent does about them, that it has seen them, waits for the disk.
 */
import type { Envelope } from '#protocol/relay.ts';

/** Somebody who wants to say of several that they were seen. */
interface Waiting {
  /** How many of them are still in hand. */
  count: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export class InHand {
  readonly #messages = new Map<string, Envelope>();
  /** Who wants to say of which that it was seen. */
  readonly #seen = new Map<string, Waiting[]>();

  has(id: string): boolean {
    return this.#messages.has(id);
  }

  /** In the order of their seq. */
  get messages(): Iterable<Envelope> {
    return this.#messages.values();
  }

  add(message: Envelope): void {
    this.#messages.set(message.message_id, message);
  }

  /** The agent has seen these. Resolves when they are stored, or turn out to be no messages of this inbox; rejects when they are not. */
  seen(ids: readonly string[]): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { count: ids.length, resolve, reject };
      for (const id of ids) this.#waitFor(id, waiting);
    });
  }

  #waitFor(id: string, waiting: Waiting): void {
    const others = this.#seen.get(id);
    if (others) others.push(waiting);
    else this.#seen.set(id, [waiting]);
  }

  isSeen(id: string): boolean {
    return this.#seen.has(id);
  }

  /** Everything up to this seq is stored, or will never be. */
  passed(seq: number): void {
    for (const [id, message] of this.#messages) {
      if (message.seq > seq) return;
      this.#messages.delete(id);
      for (const waiting of this.#take(id)) {
        waiting.count -= 1;
        if (waiting.count === 0) waiting.resolve();
      }
    }
  }

  /** They stay in hand, and are tried again; but nobody can say that they are marked as seen. */
  failed(error: unknown): void {
    for (const id of [...this.#seen.keys()]) for (const { reject } of this.#take(id)) reject(error);
  }

  #take(id: string): readonly Waiting[] {
    const waiting = this.#seen.get(id) ?? [];
    this.#seen.delete(id);
    return waiting;
  }
}
