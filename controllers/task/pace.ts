/** How long the tasks of a team take. */

/** Fewer say nothing about the next one. */
const ENOUGH = 3;

export class Pace {
  #count = 0;
  #sumMs = 0;

  /** A task has another time than before, or none. */
  replace(beforeMs: number | undefined, afterMs: number | undefined): void {
    if (beforeMs !== undefined) this.#add(-1, -beforeMs);
    if (afterMs !== undefined) this.#add(1, afterMs);
  }

  get averageMs(): number | undefined {
    return this.#count >= ENOUGH ? this.#sumMs / this.#count : undefined;
  }

  #add(count: number, ms: number): void {
    this.#count += count;
    this.#sumMs += ms;
  }
}
