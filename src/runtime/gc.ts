/** The garbage collector: hears of every change of its kinds and looks at the objects whose ownership it may have touched. */
import { formatKey, keyOf, type ObjectKey } from '#api/meta.ts';
import type { Client } from '#client/client.ts';
import { isCode } from '#lib/errors.ts';
import type { Logger } from '#lib/log.ts';
import { collect, waitsForCollector } from './collect.ts';
import type { ControllerMetrics } from './controller-metrics.ts';
import { OwnerIndex } from './owner-index.ts';
import { Queue } from './queue.ts';
import type { SourceEvent } from './source.ts';
import type { Turn } from './turn.ts';

export interface CollectorOptions {
  readonly client: Client;
  readonly kinds: readonly string[];
  readonly log: Logger;
  readonly metrics: ControllerMetrics;
  readonly random: () => number;
  readonly turn: Turn;
}

export const COLLECTOR_NAME = 'garbage-collector';
const CONCURRENCY = 10;

export class GarbageCollector {
  readonly #options: CollectorOptions;
  readonly #log: Logger;
  readonly #index = new OwnerIndex();
  readonly #queue: Queue;

  constructor(options: CollectorOptions) {
    const { log, metrics, random } = options;
    this.#options = options;
    this.#log = log.child({ controller: COLLECTOR_NAME });
    this.#queue = new Queue({ hooks: metrics.queueHooks(COLLECTOR_NAME), random });
  }

  get kinds(): readonly string[] {
    return this.#options.kinds;
  }

  onEvent({ type, object }: SourceEvent): void {
    const { uid, ownerReferences = [] } = object.metadata;
    const waiting = this.#index.waitingOwnersOf(uid);
    if (type === 'DELETED') {
      this.#index.remove(uid);
      this.#look([...waiting, ...this.#index.dependentsOf(uid)]);
      return;
    }
    const waits = waitsForCollector(object);
    const changed = this.#index.put(object, waits);
    if (!changed && type !== 'SYNC') return;
    this.#look(waiting);
    if (waits || ownerReferences.length > 0) this.#look([keyOf(object)]);
  }

  /** Works until it was stopped. */
  async run(): Promise<void> {
    await Promise.all(Array.from({ length: CONCURRENCY }, () => this.#work()));
  }

  stop(): void {
    this.#queue.stop();
  }

  #look(keys: readonly ObjectKey[]): void {
    for (const key of keys) this.#queue.add(key);
  }

  async #work(): Promise<void> {
    for (let key = await this.#queue.next(); key; key = await this.#queue.next()) {
      await this.#options.turn.pause();
      const startedMs = performance.now();
      const result = await this.#pass(key);
      this.#options.metrics.passed(COLLECTOR_NAME, result, (performance.now() - startedMs) / 1_000);
      this.#queue.done(key);
    }
  }

  async #pass(key: ObjectKey): Promise<'success' | 'conflict' | 'error'> {
    try {
      await collect(this.#options, key);
      this.#queue.forget(key);
      return 'success';
    } catch (error) {
      this.#queue.retry(key);
      if (isCode(error, 'Conflict')) return 'conflict';
      this.#log.error({ err: error, object: formatKey(key) }, 'garbage collection failed');
      return 'error';
    }
  }
}
