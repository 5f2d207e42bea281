/**
 * What tells that something changed. A source gives one item when it has begun to follow, and one per change after it; it ends when its
 * signal aborts, and fails when it cannot go on.
 */

import type { KindObject } from '#api/meta.ts';
import type { ListOptions, WatchEvent, WatchOptions } from '#client/client.ts';
import { isCode } from '#lib/errors.ts';
import type { Asking } from '../resource.ts';

export type Source = (asking: Asking) => AsyncIterable<void>;

type Counts = (event: WatchEvent<KindObject>) => boolean;

/** Objects as a watch tells of them; of all that happens to them only what counts. */
export function watched(kind: string, options: ListOptions, counts: Counts = () => true): Source {
  return async function* (asking) {
    while (!asking.signal.aborted) {
      const { resourceVersion } = await asking.client.list(kind, options);
      yield;
      for await (const event of untilExpired(asking, kind, { ...options, resourceVersion })) if (counts(event)) yield;
    }
  };
}

/** What happens after that is not known any more: it counts as a change, and following begins anew. */
async function* untilExpired({ client, signal }: Asking, kind: string, options: Omit<WatchOptions, 'signal'>) {
  try {
    yield* client.watch(kind, { ...options, signal });
  } catch (error) {
    if (!isCode(error, 'Expired')) throw error;
  }
}

export function named(kind: string, namespace: string, name: string): Source {
  return watched(kind, { namespace, fieldSelector: `metadata.name=${name}` });
}

/** All of them as one: begun when all have begun. What comes while nobody asks for the next item is one item. */
export async function* together(sources: readonly Source[], asking: Asking): AsyncGenerator<void> {
  const ending = new AbortController();
  const all = new Pulse();
  const signal = AbortSignal.any([asking.signal, ending.signal]);
  const pumps = sources.map((source) => pump(source({ ...asking, signal }), all, signal));
  const finished = Promise.all(pumps).then(
    () => all.end(),
    (error: unknown) => all.end(error),
  );
  try {
    while (await all.next(sources.length)) yield;
  } finally {
    ending.abort();
    await finished;
  }
}

/** A stream that breaks because nobody wants it any more has not failed. */
async function pump(source: AsyncIterable<void>, pulse: Pulse, signal: AbortSignal): Promise<void> {
  let isFirst = true;
  try {
    for await (const _item of source) {
      if (isFirst) pulse.begin();
      else pulse.change();
      isFirst = false;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

class Pulse {
  #begun = 0;
  #isNews = true;
  #isOver = false;
  #failure: unknown;
  #wake: () => void = () => {};

  begin(): void {
    this.#begun++;
    this.#wake();
  }

  change(): void {
    this.#isNews = true;
    this.#wake();
  }

  end(failure?: unknown): void {
    this.#isOver = true;
    this.#failure = failure;
    this.#wake();
  }

  /** False when there will be no more. The first is the beginning of all. */
  async next(count: number): Promise<boolean> {
    while (!this.#isOver && !(this.#isNews && this.#begun >= count)) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (this.#failure !== undefined) throw this.#failure;
    this.#isNews = false;
    return !this.#isOver;
  }
}
