/**
 * The work queue of one controller: keys, deduplicated, one pass per key at a time, delays and per-key back-off.
 * A key added while it is being processed is handed out again afterwards. A pass makes earlier delays of its key moot.
 * What somebody waits for goes first, but never keeps the rest from having its turn.
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

/** So many keys in a row may go before others that have waited longer. */
const FIRST_IN_A_ROW = 8;

export class Queue {
  readonly #hooks: QueueHooks;
  readonly #random: () => number;
  readonly #nowMs: () => number;
  /** By id, in the order in which they are handed out. */
  readonly #ready = new Map<string, Key>();
  readonly #first = new Map<string, Key>();
  #inARow = 0;
  /** Ids that are to be handed out, ready or waiting for their running pass to end; true for those that go first. */
  readonly #wanted = new Map<string, boolean>();
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
    return this.#ready.size + this.#first.size;
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
    this.#want(key, id, false);
  }

  /** Before those that were only added, also if it is one of them already. */
  addFirst(key: Key): void {
    const id = formatKey(key);
    if (this.#stopped || this.#wanted.get(id)) return;
    this.#ready.delete(id);
    if (!this.#wanted.has(id)) this.#want(key, id, true);
    else {
      this.#wanted.set(id, true);
      if (!this.#running.has(id)) this.#first.set(id, key);
    }
  }

  #want(key: Key, id: string, isFirst: boolean): void {
    this.#wanted.set(id, isFirst);
    this.#hooks.added?.();
    if (!this.#running.has(id)) this.#offer(key, id);
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
    const key = this.#take();
    if (!key) return new Promise((resolve) => this.#waiters.push(resolve));
    this.#movedMs = this.#nowMs();
    this.#hooks.depth?.(this.depth);
    this.#begin(key);
    return Promise.resolve(key);
  }

  #take(): Key | undefined {
    const isFirst = this.#first.size > 0 && (this.#inARow < FIRST_IN_A_ROW || this.#ready.size === 0);
    this.#inARow = isFirst ? this.#inARow + 1 : 0;
    const line = isFirst ? this.#first : this.#ready;
    for (const [id, key] of line) {
      line.delete(id);
      return key;
    }
    return undefined;
  }

  done(key: Key): void {
    const id = formatKey(key);
    this.#running.delete(id);
    if (this.#wanted.has(id) && !this.#stopped) this.#offer(key, id);
  }

  /** Hands out nothing more and takes nothing more. */
  stop(): void {
    this.#stopped = true;
    this.#ready.clear();
    this.#first.clear();
    this.#hooks.depth?.(0);
    if (this.#timer) clearTimeout(this.#timer.handle);
    this.#timer = undefined;
    for (const resolve of this.#waiters.splice(0)) resolve(undefined);
  }

  #offer(key: Key, id: string): void {
    const waiter = this.#waiters.shift();
    if (waiter) {
      this.#begin(key);
      waiter(key);
      return;
    }
    if (this.depth === 0) this.#movedMs = this.#nowMs();
    (this.#wanted.get(id) ? this.#first : this.#ready).set(id, key);
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
