/** How many programs of the workspace wait for something at this moment. */
export class Waits {
  readonly #onChange: () => void;
  #count = 0;

  /** Called when the first begins and when the last has ended. */
  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  get count(): number {
    return this.#count;
  }

  async during<T>(waiting: Promise<T>): Promise<T> {
    if (this.#count++ === 0) this.#onChange();
    try {
      return await waiting;
    } finally {
      if (--this.#count === 0) this.#onChange();
    }
  }
}
