/**
 * The one watch on a kind that everybody in this process shares: list, then watch from that version, again after any failure.
 * It remembers what it has seen, so that a change that fell between two watches, a deletion too, still becomes an event.
 */
import { formatKey, type KindObject, keyOf } from '#api/meta.ts';
import type { Client } from '#client/client.ts';
import { backoffMs } from '#lib/backoff.ts';
import { isCode } from '#lib/errors.ts';
import type { Logger } from '#lib/log.ts';
import { sleep } from './sleep.ts';

export interface SourceEvent {
  /** SYNC: nothing is known to have changed; look again all the same. */
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'SYNC';
  readonly object: KindObject;
  /** What was last heard of it, for one that was there already. */
  readonly before?: KindObject;
}

export interface SourceOptions {
  readonly client: Client;
  readonly kind: string;
  readonly log: Logger;
  readonly resyncMs: number;
  readonly random?: () => number;
  /** Must not throw. */
  readonly onEvent: (event: SourceEvent) => void;
}

/** Runs until the signal aborts; never rejects. */
export async function runSource(options: SourceOptions, signal: AbortSignal): Promise<void> {
  await new Source(options).run(signal);
}

class Source {
  readonly #options: SourceOptions;
  readonly #known = new Map<string, KindObject>();
  #failures = 0;
  #syncDue = false;

  constructor(options: SourceOptions) {
    this.#options = options;
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const error = await this.#round(signal);
      if (signal.aborted || (error === undefined && this.#syncDue)) continue;
      const { kind, log, random = Math.random } = this.#options;
      const expired = isCode(error, 'Expired');
      if (expired) log.debug({ kind }, 'watch expired, listing again');
      else log.warn({ kind, err: error }, 'watch ended, listing again');
      const failures = this.#failures++;
      // The first time at once: an expired version is no sign of trouble. When it keeps expiring, it is.
      if (!expired || failures > 0) await sleep(backoffMs(failures, { random }), signal);
    }
  }

  /** List and watch, until the signal, the next resync or a failure, which it returns. */
  async #round(signal: AbortSignal): Promise<unknown> {
    const { client, kind, resyncMs } = this.#options;
    const ended = new AbortController();
    const end = () => ended.abort();
    signal.addEventListener('abort', end, { once: true });
    const timer = setTimeout(() => {
      this.#syncDue = true;
      end();
    }, resyncMs);
    try {
      const { items, resourceVersion } = await client.list(kind);
      this.#replace(items);
      for await (const event of client.watch(kind, { resourceVersion, signal: ended.signal })) {
        this.#failures = 0;
        this.#apply(event, formatKey(keyOf(event.object)));
      }
      return undefined;
    } catch (error) {
      return error;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
    }
  }

  #replace(items: readonly KindObject[]): void {
    const sync = this.#syncDue;
    this.#syncDue = false;
    const ids = items.map((object) => formatKey(keyOf(object)));
    if (this.#known.size > 0) this.#applyMissing(new Set(ids));
    items.forEach((object, index) => {
      this.#applyListed(object, ids[index] ?? '', sync);
    });
  }

  #applyMissing(listed: ReadonlySet<string>): void {
    for (const [id, object] of this.#known) {
      if (!listed.has(id)) this.#apply({ type: 'DELETED', object }, id);
    }
  }

  #applyListed(object: KindObject, id: string, sync: boolean): void {
    const before = this.#known.get(id);
    // Deleted and made again under the same name: two objects, two events.
    if (before && before.metadata.uid !== object.metadata.uid) this.#apply({ type: 'DELETED', object: before }, id);
    if (!before || before.metadata.uid !== object.metadata.uid) this.#apply({ type: 'ADDED', object }, id);
    else if (before.metadata.resourceVersion !== object.metadata.resourceVersion) this.#apply({ type: 'MODIFIED', object }, id);
    else if (sync) this.#apply({ type: 'SYNC', object }, id);
  }

  #apply({ type, object }: SourceEvent, id: string): void {
    const before = this.#known.get(id);
    if (type === 'DELETED') this.#known.delete(id);
    else this.#known.set(id, object);
    // Another object of the same name is no earlier state of this one.
    const isSame = before?.metadata.uid === object.metadata.uid && type !== 'ADDED';
    this.#options.onEvent(before && isSame ? { type, object, before } : { type, object });
  }
}
