/** Per file: one piece of work after the other, and at most one later look. */
import type { ObjectKey } from '#api/meta.ts';
import type { Logger } from '#lib/log.ts';
import { idOf } from './paths.ts';

const RETRY_MS = 1_000;

export class Schedule {
  readonly #look: (key: ObjectKey) => void;
  readonly #log: Logger;
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #running = new Map<string, Promise<void>>();
  #idle: (() => void)[] = [];
  #isClosed = false;

  constructor(look: (key: ObjectKey) => void, log: Logger) {
    this.#look = look;
    this.#log = log;
  }

  isBusy(key: ObjectKey): boolean {
    return this.#running.has(idOf(key));
  }

  /** Work that fails is not lost: the file is looked at again. */
  run(key: ObjectKey, work: () => Promise<void>): void {
    const id = idOf(key);
    const run = (this.#running.get(id) ?? Promise.resolve()).then(work).catch((error: unknown) => {
      this.#log.warn({ err: error, key }, 'edit could not be taken in, will retry');
      this.later(key, RETRY_MS);
    });
    const ended = run.finally(() => {
      if (this.#running.get(id) === ended) this.#running.delete(id);
      this.#wakeIdle();
    });
    this.#running.set(id, ended);
  }

  later(key: ObjectKey, delayMs: number, look: () => void = () => this.#look(key)): void {
    const id = idOf(key);
    if (this.#isClosed || this.#timers.has(id)) return;
    const timer = setTimeout(() => {
      this.#timers.delete(id);
      look();
      this.#wakeIdle();
    }, delayMs);
    this.#timers.set(id, timer);
  }

  async idle(): Promise<void> {
    if (this.isIdle) return;
    await new Promise<void>((resolve) => {
      this.#idle.push(resolve);
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    await Promise.allSettled(this.#running.values());
    this.#wakeIdle();
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get isIdle(): boolean {
    return this.#running.size === 0 && this.#timers.size === 0;
  }

  #wakeIdle(): void {
    if (this.isIdle) for (const resolve of this.#idle.splice(0)) resolve();
  }
}
