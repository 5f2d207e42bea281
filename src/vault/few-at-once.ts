/** Lets only so many go on at the same time, in the order in which they came. */
export class FewAtOnce {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(count: number) {
    this.#free = count;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      // The place goes from hand to hand: nobody who comes now overtakes.
      if (next) next();
      else this.#free++;
    }
  }
}
