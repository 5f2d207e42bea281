/**
 * How long this process has been awake. Time in which it did not run at all (stopped with Ctrl-Z, held by a debugger, starved by the machine) does
 * not count: whoever listens to nobody cannot say that the others were silent.
 */

/** A process that runs looks at least this often. */
const LOOK_MS = 1_000;
/** So much of a gap counts: it may have been busy. */
const MAX_GAP_MS = 5_000;

export class AwakeTime {
  readonly #nowMs: () => number;
  #lookedMs: number;
  #awakeMs = 0;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
    this.#lookedMs = nowMs();
  }

  /** Never goes back. To be called at least every LOOK_MS. */
  look(): number {
    const nowMs = this.#nowMs();
    this.#awakeMs += Math.min(nowMs - this.#lookedMs, MAX_GAP_MS);
    this.#lookedMs = nowMs;
    return this.#awakeMs;
  }
}

let ofThisProcess: AwakeTime | undefined;

/** Milliseconds since the first call. */
export function awakeMs(): number {
  ofThisProcess ??= watched(new AwakeTime(() => performance.now()));
  return ofThisProcess.look();
}

function watched(time: AwakeTime): AwakeTime {
  setInterval(() => time.look(), LOOK_MS).unref();
  return time;
}
