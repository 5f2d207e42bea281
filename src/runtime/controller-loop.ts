/** One controller at work: its queue, its workers, what each outcome means for the key. */
import { randomUUID } from 'node:crypto';
import { formatKey, type KindObject, keyOf } from '#api/meta.ts';
import type { Client } from '#client/client.ts';
import type { Clock } from '#lib/clock.ts';
import type { Logger } from '#lib/log.ts';
import type { Controller, EventRecorder, Key, ReconcileContext, Watch } from './controller.ts';
import type { ControllerMetrics } from './controller-metrics.ts';
import { Echoes } from './echo.ts';
import { Queue } from './queue.ts';
import { type Outcome, runPass } from './reconcile.ts';
import type { SourceEvent } from './source.ts';
import type { Turn } from './turn.ts';

export interface LoopOptions {
  readonly controller: Controller;
  readonly client: Client;
  readonly log: Logger;
  readonly clock: Clock;
  readonly events: EventRecorder;
  readonly metrics: ControllerMetrics;
  readonly random: () => number;
  readonly turn: Turn;
}

const CONCURRENCY = 10;

export class ControllerLoop {
  readonly #options: LoopOptions;
  readonly #log: Logger;
  readonly #queue: Queue;
  readonly #echoes = new Echoes();
  /** When each key was last looked at, where a watch has to know. */
  readonly #lookedMs: Map<string, number> | undefined;

  constructor(options: LoopOptions) {
    const { controller, log, metrics, random } = options;
    this.#options = options;
    this.#log = log.child({ controller: controller.name });
    this.#queue = new Queue({ hooks: metrics.queueHooks(controller.name), random });
    this.#lookedMs = controller.watches?.some(({ spacingMs }) => spacingMs !== undefined) ? new Map() : undefined;
  }

  /** The kinds to listen to. */
  get kinds(): string[] {
    const { kind, watches = [] } = this.#options.controller;
    return [kind, ...watches.map((watch) => watch.kind)];
  }

  get stalledMs(): number {
    return this.#queue.stalledMs;
  }

  onEvent(event: SourceEvent): void {
    const { kind, watches = [] } = this.#options.controller;
    if (event.object.kind === kind) this.#onOwn(event);
    for (const watch of watches) {
      if (watch.kind === event.object.kind) this.#onWatched(watch, event);
    }
  }

  /** Works until the queue has stopped. `passSignal` is what the passes see. */
  async run(passSignal: AbortSignal): Promise<void> {
    const { concurrency = CONCURRENCY, wakes = [] } = this.#options.controller;
    const unsubscribes = wakes.map((wake) => wake((key) => this.#queue.add(key)));
    try {
      await Promise.all(Array.from({ length: concurrency }, () => this.#work(passSignal)));
    } finally {
      for (const unsubscribe of unsubscribes) unsubscribe();
    }
  }

  /** Takes no more keys; passes that run go on. */
  stop(): void {
    this.#queue.stop();
  }

  #onOwn({ type, object, before }: SourceEvent): void {
    const key = keyOf(object);
    const id = formatKey(key);
    if (type === 'DELETED') this.#lookedMs?.delete(id);
    if (type !== 'SYNC' && (this.#isAtRest(object, before) || !this.#echoes.isNews(id, object.metadata.resourceVersion))) return;
    if (isAskedFor(object, before)) this.#queue.addFirst(key);
    else this.#queue.add(key);
  }

  #isAtRest(object: KindObject, before: KindObject | undefined): boolean {
    return object.metadata.deletionTimestamp === undefined && (this.#options.controller.isAtRest?.(object, before) ?? false);
  }

  #onWatched(watch: Watch, { type, object, before }: SourceEvent): void {
    try {
      for (const key of watch.toKeys(object, type, before)) {
        if (key.kind === this.#options.controller.kind) this.#queue.addAfter(key, this.#delayMs(watch, key));
      }
    } catch (error) {
      this.#log.error({ err: error, watched: formatKey(keyOf(object)) }, 'toKeys failed');
    }
  }

  #delayMs({ delayMs = 0, spacingMs }: Watch, key: Key): number {
    const lookedMs = spacingMs === undefined ? undefined : this.#lookedMs?.get(formatKey(key));
    return lookedMs === undefined || spacingMs === undefined ? delayMs : Math.max(delayMs, lookedMs + spacingMs - performance.now());
  }

  async #work(signal: AbortSignal): Promise<void> {
    for (let key = await this.#queue.next(); key; key = await this.#queue.next()) {
      await this.#options.turn.pause();
      await this.#pass(key, signal);
    }
  }

  async #pass(key: Key, signal: AbortSignal): Promise<void> {
    const { controller, client, metrics } = this.#options;
    const id = formatKey(key);
    const ctx = this.#context(key, signal);
    const startedMs = performance.now();
    this.#lookedMs?.set(id, startedMs);
    this.#echoes.begin(id);
    const outcome = await runPass(controller, key, client, ctx);
    metrics.passed(controller.name, outcome.result, (performance.now() - startedMs) / 1_000);
    this.#requeue(key, outcome, ctx);
    const isOwnNews = outcome.result === 'success' && !controller.ignoresOwnWrites && !outcome.leavesNothing;
    // Before done(): the key is then handed out again, not forgotten.
    if (this.#echoes.end(id, { isOwnNews, written: outcome.written })) this.#queue.add(key);
    this.#queue.done(key);
  }

  #requeue(key: Key, { result, requeueAfterMs, error }: Outcome, ctx: ReconcileContext): void {
    if (result === 'error') {
      if (ctx.signal.aborted) ctx.log.debug({ err: error }, 'pass cut short by the stop');
      else ctx.log.error({ err: error }, 'reconcile failed');
    } else if (result !== 'success') {
      ctx.log.debug({ err: error, result }, 'reconcile to be repeated');
    }
    if (result === 'error' || result === 'conflict') {
      this.#queue.retry(key);
      return;
    }
    this.#queue.forget(key);
    if (requeueAfterMs !== undefined) this.#queue.addAfter(key, requeueAfterMs);
  }

  #context({ kind, namespace, name }: Key, signal: AbortSignal): ReconcileContext {
    const { clock, events } = this.#options;
    let id: string | undefined;
    let log: Logger | undefined;
    const idOfPass = () => {
      id ??= randomUUID();
      return id;
    };
    const newLog = () => this.#log.child({ kind, namespace, name, reconcileId: idOfPass() });
    return {
      // Made for those that have something to say: most passes say nothing, and a start makes one for every object there is.
      get log() {
        log ??= newLog();
        return log;
      },
      get reconcileId() {
        return idOfPass();
      },
      now: () => clock.now(),
      signal,
      events,
    };
  }
}

/** A person wants something else of it, and waits; everything else is news of what goes on by itself. */
function isAskedFor({ metadata }: KindObject, before: KindObject | undefined): boolean {
  return before !== undefined && before.metadata.generation !== metadata.generation;
}
