/**
 * Tells the echo of a pass's own writes from other people's changes.
 * Without it a failure would write its condition, hear of that write, run again at once, and so outrun its back-off.
 */

interface Running {
  readonly heard: Set<string>;
}

export class Echoes {
  readonly #running = new Map<string, Running>();
  /** What a pass wrote and has perhaps not heard of yet. */
  readonly #expected = new Map<string, ReadonlySet<string>>();

  begin(id: string): void {
    this.#running.set(id, { heard: new Set() });
    this.#expected.delete(id);
  }

  /** A version of the object came by. True: it needs a pass now. While one is running, `end` decides. */
  isNews(id: string, version: string): boolean {
    const running = this.#running.get(id);
    if (running) running.heard.add(version);
    return !running && !this.#expected.get(id)?.has(version);
  }

  /** True when another pass is needed. `isOwnNews`: also for what this one wrote. */
  end(id: string, { isOwnNews, written }: { isOwnNews: boolean; written: readonly string[] }): boolean {
    const heard = this.#running.get(id)?.heard ?? new Set();
    this.#running.delete(id);
    if (isOwnNews) return heard.size > 0;
    const own = new Set(written);
    if (own.size > 0) this.#expected.set(id, own);
    return [...heard].some((version) => !own.has(version));
  }
}
