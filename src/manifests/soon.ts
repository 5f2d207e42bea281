/** Calls one piece of work soon after a hint, gathers hints that come close together, and never runs it twice at once. */

export interface SoonOptions {
  readonly work: () => Promise<void>;
  /** Hints closer together than this are one. */
  readonly quietMs: number;
  /** Hints that never pause are heard after this. */
  readonly patienceMs: number;
}

export class Soon {
  readonly #options: SoonOptions;
  #firstHintMs: number | undefined;
  #hintDueMs = Number.POSITIVE_INFINITY;
  #dueMs = Number.POSITIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #isStopped = false;

  constructor(options: SoonOptions) {
    this.#options = options;
  }

  hint(): void {
    const nowMs = performance.now();
    this.#firstHintMs ??= nowMs;
    this.#hintDueMs = Math.min(nowMs + this.#options.quietMs, this.#firstHintMs + this.#options.patienceMs);
    this.#schedule();
  }

  /** At the latest after this time. */
  within(ms: number): void {
    this.#dueMs = Math.min(this.#dueMs, performance.now() + ms);
    this.#schedule();
  }

  /** Resolves when no work runs, and none will. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    const dueMs = Math.min(this.#hintDueMs, this.#dueMs);
    if (this.#isStopped || this.#running || !Number.isFinite(dueMs)) return;
    this.#timer = setTimeout(() => this.#run(), Math.max(0, dueMs - performance.now()));
  }

  #run(): void {
    this.#firstHintMs = undefined;
    this.#hintDueMs = Number.POSITIVE_INFINITY;
    this.#dueMs = Number.POSITIVE_INFINITY;
    this.#running = this.#options.work().finally(() => {
      this.#running = undefined;
      this.#schedule();
    });
  }
}
