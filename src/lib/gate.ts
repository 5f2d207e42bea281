/** How much may be under way at once. Whoever is in counts once, however often it asks; the limit may change meanwhile. */
export class Gate {
  readonly #limit: () => number;
  readonly #inside = new Set<string>();

  constructor(limit: () => number) {
    this.#limit = limit;
  }

  get limit(): number {
    return this.#limit();
  }

  get isEmpty(): boolean {
    return this.#inside.size === 0;
  }

  /** False: it is not its turn. */
  enter(key: string): boolean {
    if (!this.#inside.has(key) && this.#inside.size >= this.#limit()) return false;
    this.#inside.add(key);
    return true;
  }

  leave(key: string): void {
    this.#inside.delete(key);
  }
}
