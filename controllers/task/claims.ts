/** Claims that were decided and may not be stored yet. There is one for each task: who comes second waits for what becomes of it. */

/** The controller hands out; agents claim by the book. */
export type Claimant = 'controller' | 'book';

export interface PendingClaim {
  readonly holder: string;
  readonly attempt: number;
  readonly by: Claimant;
}

export class Claims {
  readonly #claims = new Map<string, PendingClaim>();
  readonly #waiting = new Map<string, (() => void)[]>();

  get size(): number {
    return this.#claims.size;
  }

  get(name: string): PendingClaim | undefined {
    return this.#claims.get(name);
  }

  put(name: string, claim: PendingClaim): void {
    this.#claims.set(name, claim);
  }

  end(name: string): void {
    if (!this.#claims.delete(name)) return;
    const waiting = this.#waiting.get(name) ?? [];
    this.#waiting.delete(name);
    for (const resolve of waiting) resolve();
  }

  settled(name: string): Promise<void> {
    if (!this.#claims.has(name)) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.set(name, [...(this.#waiting.get(name) ?? []), resolve]);
    });
  }
}
