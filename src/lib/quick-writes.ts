/**
 * Whether the disk answers so fast that to wait for it in place costs less than to hand the wait to a thread: two changes of thread take
 * as long as a quick disk, and longer on a busy machine. On a slow one the event loop has better things to do. The guest uses it, too: it
 * imports nothing.
 */
const QUICK_MS = 1;
/** Of the last ones: some slow ones among them are what a busy disk does. */
const MAX_SLOW_SHARE = 0.5;
/** What the newest write counts. */
const WEIGHT = 1 / 8;
/** How often a slow disk is looked at again. */
const PROBE_MS = 250;

export class QuickWrites {
  readonly #nowMs: () => number;
  #slowShare = 0;
  #lastMs = Number.NEGATIVE_INFINITY;

  /** `nowMs` never goes back; absent: performance.now(). */
  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** Ask before a write that may wait in place, and say afterwards how long it took. */
  get areUsual(): boolean {
    return this.#slowShare <= MAX_SLOW_SHARE || this.#nowMs() - this.#lastMs >= PROBE_MS;
  }

  /** Of a write in place: what a thread takes says more about the machine than about the disk. */
  learn(tookMs: number): void {
    this.#lastMs = this.#nowMs();
    this.#slowShare += WEIGHT * ((tookMs > QUICK_MS ? 1 : 0) - this.#slowShare);
  }
}
