/** Streams that are under way: how many each user has, and how they all end when the server or a token does. */
import { failure } from '../status.ts';

const MAX_PER_USER = 64;

export interface StreamPlace {
  /** Aborts when the stream has to end. */
  readonly signal: AbortSignal;
  leave(): void;
}

export class RunningStreams {
  readonly #places = new Map<AbortController, string>();

  get size(): number {
    return this.#places.size;
  }

  /** Refused when the user has too many already. */
  enter(user: string): StreamPlace {
    let count = 0;
    for (const owner of this.#places.values()) if (owner === user) count++;
    if (count >= MAX_PER_USER) {
      throw failure(429, `${user} has ${count} streams open, which is as many as there may be; close one first`, {
        details: { retryAfterSeconds: 1 },
      });
    }
    const controller = new AbortController();
    this.#places.set(controller, user);
    return { signal: controller.signal, leave: () => void this.#places.delete(controller) };
  }

  /** Of one user, or all. */
  end(user?: string): void {
    for (const [controller, owner] of this.#places) if (user === undefined || user === owner) controller.abort();
  }
}
