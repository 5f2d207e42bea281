/**
 * The writes of all mailboxes, in rounds: what is to be written by then is written at the same time, and is told when all of it is on disk.
 * So what follows from it goes out together too, however many mailboxes there are. Whoever writes alone may wait for the disk in place.
 */
export interface Writer {
  /** Without leaving this turn of the event loop. False: that cannot be, and nothing was done. */
  writeInPlace(): boolean;
  /** Never rejects. Gives what is to be done when the round is over. */
  write(): Promise<() => void>;
}

export class WriteTurn {
  #due: Writer[] = [];
  #isRunning = false;

  /** Takes part in the next round; the first one begins when everything has run that this turn of the event loop has set going. */
  add(writer: Writer): void {
    this.#due.push(writer);
    if (this.#isRunning) return;
    this.#isRunning = true;
    process.nextTick(() => {
      const [first, second] = this.#due;
      if (first && !second) {
        this.#due = [];
        if (!first.writeInPlace()) this.#due.unshift(first);
      }
      void this.#run();
    });
  }

  async #run(): Promise<void> {
    while (this.#due.length > 0) {
      const due = this.#due;
      this.#due = [];
      const ends = await Promise.all(due.map((writer) => writer.write()));
      for (const end of ends) end();
    }
    this.#isRunning = false;
  }
}
