/**
 * The work queue of one controller: keys, deduplicated, one pass per key at a time, delays and per-key back-off.
 * A key added while it is being processed is handed out again afterwards. A pass makes earlier delays of its key moot.
 */
import { formatKey } from '#api/meta.ts';
import { backoffMs } from '#lib/backoff.ts';
import type { Key } from './controller.ts';
import { Delays } from './delays.ts';
import { MAX_TIMER_MS } from './sleep.ts';

export interface QueueHooks {
  added?(): void;
  retried?(): void;
  depth?(depth: number): void;
}

export interface QueueOptions {
  readonly hooks?: QueueHooks;
  readonly random?: () => number;
  /** Monotonic milliseconds. */
  readonly nowMs?: () => number;
}

type Waiter = (key: Key | undefined) => void;

/** Taken keys stay at the front of the array until there are this many: shifting each time would cost the whole length. */
const COMPACT_AT = 1_024;

export class Queue {
  readonly #hooks: QueueHooks;
  readonly #random: () => number;
  readonly #nowMs: () => number;
  #ready: Key[] = [];
  #taken = 0;
  /** Ids that are to be handed out: those in `#ready`, and those that wait for their running pass to end. */
  readonly #wanted = new Set<string>();
  readonly #running = new Set<string>();
  readonly #failures = new Map<string, number>();
  readonly #delays = new Delays();
  readonly #waiters: Waiter[] = [];
  #timer: { readonly at: number; readonly handle: NodeJS.Timeout } | undefined;
  #stopped = false;
  /** When a key was last handed out, or came into an empty queue. */
  #movedMs = 0;

  constructor({ hooks = {}, random = Math.random, nowMs = () => performance.now() }: QueueOptions = {}) {
    this.#hooks = hooks;
    this.#random = random;
    this.#nowMs = nowMs;
  }

  /** Keys that could be handed out now. */
  get depth(): number {
    return this.#ready.length - this.#taken;
  }

  /** For how long keys have been ready and none has been taken. */
  get stalledMs(): number {
    return this.depth === 0 ? 0 : this.#nowMs() - this.#movedMs;
  }

  get runningCount(): number {
    return this.#running.size;
  }

  add(key: Key): void {
    const id = formatKey(key);
    if (this.#stopped || this.#wanted.has(id)) return;
    this.#wanted.add(id);
    this.#hooks.added?.();
    if (!this.#running.has(id)) this.#offer(key);
  }

  /** The earliest of several delays wins. */
  addAfter(key: Key, delayMs: number): void {
    if (this.#stopped) return;
    if (delayMs <= 0) {
      this.add(key);
      return;
    }
    this.#delays.put(key, this.#nowMs() + delayMs);
    this.#arm();
  }

  /** After a failure: later each time, until `forget`. */
  retry(key: Key): void {
    const id = formatKey(key);
    const failures = this.#failures.get(id) ?? 0;
    this.#failures.set(id, failures + 1);
    this.#hooks.retried?.();
    this.addAfter(key, backoffMs(failures, { random: this.#random }));
  }

  forget(key: Key): void {
    this.#failures.delete(formatKey(key));
  }

  /** The next key, which is then running until `done`; undefined when the queue has stopped. */
  next(): Promise<Key | undefined> {
    if (this.#stopped) return Promise.resolve(undefined);
    const key = this.#ready[this.#taken];
    if (!key) return new Promise((resolve) => this.#waiters.push(resolve));
    this.#movedMs = this.#nowMs();
    this.#taken++;
    if (this.#taken >= COMPACT_AT && this.#taken * 2 >= this.#ready.length) {
      this.#ready = this.#ready.slice(this.#taken);
      this.#taken = 0;
    }
    this.#hooks.depth?.(this.depth);
    this.#begin(key);
    return Promise.resolve(key);
  }

  done(key: Key): void {
    const id = formatKey(key);
    this.#running.delete(id);
    if (this.#wanted.has(id) && !this.#stopped) this.#offer(key);
  }

  /** Hands out nothing more and takes nothing more. */
  stop(): void {
    this.#stopped = true;
    this.#ready = [];
    this.#taken = 0;
    this.#hooks.depth?.(0);
    if (this.#timer) clearTimeout(this.#timer.handle);
    this.#timer = undefined;
    for (const resolve of this.#waiters.splice(0)) resolve(undefined);
  }

  #offer(key: Key): void {
    const waiter = this.#waiters.shift();
    if (waiter) {
      this.#begin(key);
      waiter(key);
      return;
    }
    if (this.depth === 0) this.#movedMs = this.#nowMs();
    this.#ready.push(key);
    this.#hooks.depth?.(this.depth);
  }

  #begin(key: Key): void {
    const id = formatKey(key);
    this.#wanted.delete(id);
    this.#running.add(id);
    this.#delays.drop(key);
  }

  /** One timer, for the earliest key. */
  #arm(): void {
    const at = this.#delays.earliest();
    if (at === undefined || (this.#timer && this.#timer.at <= at)) return;
    if (this.#timer) clearTimeout(this.#timer.handle);
    // Rounded up: a timer that fires a fraction early would find nothing due and spin.
    const delayMs = Math.min(Math.max(0, Math.ceil(at - this.#nowMs())), MAX_TIMER_MS);
    this.#timer = { at, handle: setTimeout(() => this.#fire(), delayMs) };
  }

  #fire(): void {
    this.#timer = undefined;
    for (const key of this.#delays.takeDue(this.#nowMs())) this.add(key);
    this.#arm();
  }
}
