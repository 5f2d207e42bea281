/** Lets so many calls be under way at once: those beyond wait their turn, in order, for the host ends a connection that carries too many. */
import type { ProtocolError } from '#protocol/protocol-error.ts';

interface Waiting {
  readonly begin: () => void;
  readonly giveUp: (reason: unknown) => void;
}

export class CallRoom {
  readonly #places: number;
  readonly #waiting = new Set<Waiting>();
  #taken = 0;

  constructor(places: number) {
    this.#places = places;
  }

  /** Undefined: there is a place now. Otherwise it resolves with one, or rejects with the reason of the signal. Each is given back by `leave`. */
  enter(signal: AbortSignal | undefined): Promise<void> | undefined {
    if (this.#taken < this.#places) {
      this.#taken += 1;
      return undefined;
    }
    return new Promise((resolve, reject) => {
      const end = () => {
        this.#waiting.delete(waiting);
        signal?.removeEventListener('abort', onAbort);
      };
      const waiting: Waiting = {
        begin: () => {
          end();
          resolve();
        },
        giveUp: (reason) => {
          end();
          reject(reason);
        },
      };
      const onAbort = () => waiting.giveUp(signal?.reason);
      this.#waiting.add(waiting);
      if (signal?.aborted) onAbort();
      else signal?.addEventListener('abort', onAbort);
    });
  }

  /** A place is free, or goes to whoever has waited longest. */
  leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#taken -= 1;
    else next.begin();
  }

  /** None of those who wait gets a place. */
  clear(reason: ProtocolError): void {
    for (const waiting of [...this.#waiting]) waiting.giveUp(reason);
  }
}
