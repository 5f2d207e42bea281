/** One after the other, per name: for what must happen in the order it was asked for. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Nobody is before whoever asks for this name now. */
  isFree(name: string): boolean {
    return !this.#last.has(name);
  }

  /** Begins when everything that was asked for under this name before has ended, well or not. */
  take<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(name);
    const mine = before === undefined ? work() : before.then(work, work);
    this.#last.set(name, mine);
    const end = () => {
      if (this.#last.get(name) === mine) this.#last.delete(name);
    };
    mine.then(end, end);
    return mine;
  }
}
