/**
 * Small results go to the host with the sign of life that tells of them, each once per connection: the host need not ask. What it has not
 * acknowledged stays here, and the next connection begins anew.
 */
import type { AttemptKey, TaskResult } from '#protocol/control.ts';
import { MAX_TOLD_RESULTS } from '#protocol/relay.ts';
import { toKey } from '../state/attempts.ts';
import type { Attachment } from './link.ts';

/** A sign of life is to be small. */
const MAX_BYTES = 64 * 1024;

export interface TellableResults {
  /** Undefined where the host has to ask. */
  untold(told: ReadonlySet<string>, room: { readonly limit: number; readonly maxBytes: number }): readonly TaskResult[] | undefined;
}

export class ToldResults implements Attachment {
  readonly #results: () => TellableResults;
  #told = new Set<string>();

  constructor(results: () => TellableResults) {
    this.#results = results;
  }

  start(): void {
    this.#told = new Set();
  }

  stop(): void {}

  /** Says them with what `send` sends; they count as told when it has been answered. */
  async with(send: (told: { readonly results?: readonly TaskResult[] }) => Promise<unknown>): Promise<void> {
    const told = this.#told;
    const results = this.#results().untold(told, { limit: MAX_TOLD_RESULTS, maxBytes: MAX_BYTES });
    await send(results === undefined ? {} : { results });
    for (const result of results ?? []) told.add(toKey(result));
  }

  /** The host has them for good. */
  forget(keys: readonly AttemptKey[]): void {
    for (const key of keys) this.#told.delete(toKey(key));
  }
}
