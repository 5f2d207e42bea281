/** Lets a command stand still and go on: everything it has started is stopped by signal, and its time limit waits. */
import { monotonicMs } from './monotonic.ts';
import { type Family, signalFamily } from './process-group.ts';

/** What there is to stop, once there is something. */
interface Held {
  readonly families: () => readonly Family[];
  readonly timer: PausableTimer;
}

export class Freezer {
  #held: Held | undefined;
  #others: () => readonly Family[] = () => [];
  #isFrozen = false;

  /** Safe at any time, any number of times; a command that is still to start is stopped as soon as it has. */
  set(isFrozen: boolean): void {
    this.#isFrozen = isFrozen;
    this.#apply();
  }

  /** The command runs. */
  hold(held: Held): void {
    this.#held = held;
    if (this.#isFrozen) this.#apply();
  }

  /** What the command has started beside its own group, as it is known at the time. */
  include(others: () => readonly Family[]): void {
    this.#others = others;
    if (this.#isFrozen) this.#apply();
  }

  /** It is to end, and must be able to: who is stopped hears of nothing but SIGKILL. */
  release(): void {
    const held = this.#held;
    this.#held = undefined;
    if (held && this.#isFrozen) for (const family of this.#all(held)) signalFamily(family, 'SIGCONT');
  }

  #apply(): void {
    if (!this.#held) return;
    const { timer } = this.#held;
    if (this.#isFrozen) timer.pause();
    for (const family of this.#all(this.#held)) signalFamily(family, this.#isFrozen ? 'SIGSTOP' : 'SIGCONT');
    if (!this.#isFrozen) timer.resume();
  }

  #all({ families }: Held): readonly Family[] {
    return [...families(), ...this.#others()];
  }
}

/** A timer that can wait. */
export class PausableTimer {
  readonly #onTime: () => void;
  #leftMs: number;
  #startedMs = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(afterMs: number, onTime: () => void) {
    this.#leftMs = afterMs;
    this.#onTime = onTime;
    this.resume();
  }

  pause(): void {
    if (this.#timer === undefined) return;
    this.clear();
    this.#leftMs -= monotonicMs() - this.#startedMs;
  }

  resume(): void {
    if (this.#timer !== undefined || this.#leftMs === Number.POSITIVE_INFINITY) return;
    this.#startedMs = monotonicMs();
    this.#timer = setTimeout(this.#onTime, Math.max(0, this.#leftMs));
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
