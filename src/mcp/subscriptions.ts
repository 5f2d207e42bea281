/** What one session follows: each address once, and not more of them than a client can look at. */
import { AgentisoError } from '#lib/errors.ts';

const MAX_FOLLOWED = 32;

type Changes = (signal: AbortSignal) => AsyncIterable<void>;

export class Subscriptions {
  readonly #running = new Map<string, AbortController>();

  /** Everything ends with the signal. */
  constructor(signal: AbortSignal) {
    signal.addEventListener('abort', () => this.#endAll(), { once: true });
  }

  has(id: string): boolean {
    return this.#running.has(id);
  }

  /** Resolves when following has begun; rejects when it cannot. To ask twice is to ask once. */
  async begin(id: string, changes: Changes, onChange: () => Promise<void>): Promise<void> {
    if (this.#running.has(id)) return;
    if (this.#running.size >= MAX_FOLLOWED) {
      throw new AgentisoError('QuotaExceeded', `${MAX_FOLLOWED} addresses are followed already`, { hint: 'unsubscribe from one first' });
    }
    const ending = new AbortController();
    this.#running.set(id, ending);
    const items = changes(ending.signal)[Symbol.asyncIterator]();
    try {
      await items.next();
    } catch (error) {
      this.#forget(id, ending);
      throw error;
    }
    void this.#follow(items, onChange).finally(() => this.#forget(id, ending));
  }

  end(id: string): void {
    this.#running.get(id)?.abort();
    this.#running.delete(id);
  }

  /** The next item is asked for when the last word is out: a slow client gets fewer of them. What ends it is a change as well. */
  async #follow(items: AsyncIterator<void>, onChange: () => Promise<void>): Promise<void> {
    try {
      for (let item = await items.next(); item.done !== true; item = await items.next()) await onChange();
    } catch {
      // The next read says what is wrong.
      await onChange().catch(() => {});
    }
  }

  #forget(id: string, ending: AbortController): void {
    if (this.#running.get(id) === ending) this.#running.delete(id);
  }

  #endAll(): void {
    for (const ending of this.#running.values()) ending.abort();
    this.#running.clear();
  }
}
