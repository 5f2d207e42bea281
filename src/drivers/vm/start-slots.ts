/** How many machines start at once, and of those how many boot. By a name of each, usually its folder. */
import { WaitingError } from '#lib/errors.ts';
import type { Gate } from '#lib/gate.ts';

/** A machine that boots keeps one processor busy for seconds: more at once make all of them late. */
const BOOTS_AT_ONCE = 2;
const LOOK_MS = 250;

export class StartSlots {
  /** Of those that boot and those that begin as a copy. */
  readonly #starting: Gate;
  readonly #booting = new Set<string>();

  constructor(starting: Gate) {
    this.#starting = starting;
  }

  /** Whether nobody is starting. */
  get isIdle(): boolean {
    return this.#starting.isEmpty;
  }

  /** Throws WaitingError when it is not its turn. */
  take(name: string, isBoot: boolean): void {
    if (!this.#starting.enter(name)) {
      const message = `${this.#starting.limit} machines or forks are starting (limits.maxConcurrentForks); this one is next`;
      throw new WaitingError('StartsUnderWay', message, LOOK_MS);
    }
    if (!isBoot) return;
    if (this.#booting.size >= BOOTS_AT_ONCE && !this.#booting.has(name)) {
      this.#starting.leave(name);
      throw new WaitingError('BootsUnderWay', `${BOOTS_AT_ONCE} machines are booting; this one is next`, LOOK_MS);
    }
    this.#booting.add(name);
  }

  leave(name: string): void {
    this.#booting.delete(name);
    this.#starting.leave(name);
  }
}
