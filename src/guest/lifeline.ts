/** One connection that is opened again for as long as it is wanted. */
import { setTimeout as delay } from 'node:timers/promises';
import { type AgentisoError, messageOf } from '#lib/errors.ts';

export interface Connected {
  readonly closed: Promise<AgentisoError>;
  close(reason: string): void;
}

export interface LifelineOptions<C extends Connected> {
  connect(signal: AbortSignal): Promise<C>;
  /** Opened, lost, or failed once more. */
  onChange(): void;
}

const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 2_000;

export class Lifeline<C extends Connected> {
  readonly #options: LifelineOptions<C>;
  readonly #stopping = new AbortController();
  #connection: C | undefined;
  #problem: string | undefined = 'not connected yet';
  /** What made it fail, for those who must tell one failure from another. */
  #error: unknown;

  constructor(options: LifelineOptions<C>) {
    this.#options = options;
    void this.#keep();
  }

  get connection(): C | undefined {
    return this.#connection;
  }

  get problem(): string | undefined {
    return this.#problem;
  }

  get error(): unknown {
    return this.#error;
  }

  close(reason: string): void {
    this.#stopping.abort(new Error(reason));
    this.#connection?.close(reason);
  }

  async #keep(): Promise<void> {
    const { signal } = this.#stopping;
    let pauseMs = FIRST_PAUSE_MS;
    while (!signal.aborted) {
      const wasOpen = await this.#hold(signal);
      if (signal.aborted) return;
      this.#options.onChange();
      pauseMs = wasOpen ? FIRST_PAUSE_MS : Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
      // Not the last thing that keeps a process alive.
      await delay(pauseMs, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  /** Until the connection ends; false when there was none. */
  async #hold(signal: AbortSignal): Promise<boolean> {
    try {
      this.#connection = await this.#options.connect(signal);
    } catch (error) {
      this.#problem = messageOf(error);
      this.#error = error;
      return false;
    }
    if (signal.aborted) this.#connection.close(messageOf(signal.reason));
    this.#problem = undefined;
    this.#error = undefined;
    this.#options.onChange();
    this.#problem = (await this.#connection.closed).message;
    this.#connection = undefined;
    return true;
  }
}
