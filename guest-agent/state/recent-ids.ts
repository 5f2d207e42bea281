/** The last so many ids, each once, oldest first. To forget one costs the same however many were forgotten before. */
export class RecentIds {
  readonly #max: number;
  readonly #known = new Set<string>();
  /** A ring: where the next one goes is the oldest, once it is full. */
  readonly #ring: string[] = [];
  #next = 0;

  constructor(max: number) {
    this.#max = max;
  }

  has(id: string): boolean {
    return this.#known.has(id);
  }

  /** One that is known stays where it is. */
  add(id: string): void {
    if (this.#known.has(id)) return;
    this.#known.add(id);
    const oldest = this.#ring[this.#next];
    if (oldest !== undefined) this.#known.delete(oldest);
    this.#ring[this.#next] = id;
    this.#next = (this.#next + 1) % this.#max;
  }

  toArray(): string[] {
    return [...this.#ring.slice(this.#next), ...this.#ring.slice(0, this.#next)];
  }
}
