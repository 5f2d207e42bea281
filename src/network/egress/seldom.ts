/** Saying the same thing at most once a minute, and not too many different things either: whoever is refused chooses the names. */

const MINUTE_MS = 60_000;
const MAX_NAMES = 100;

export class Seldom {
  readonly #nowMs: () => number;
  /** When each was said, oldest first. */
  readonly #said = new Map<string, number>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  mayBeSaid(name: string): boolean {
    const nowMs = this.#nowMs();
    for (const [old, saidMs] of this.#said) {
      if (nowMs - saidMs < MINUTE_MS) break;
      this.#said.delete(old);
    }
    if (this.#said.has(name) || this.#said.size >= MAX_NAMES) return false;
    this.#said.set(name, nowMs);
    return true;
  }
}
