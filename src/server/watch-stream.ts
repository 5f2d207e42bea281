/**
 * One watch: events as lines, in the order of the store, for as long as the client reads them. A client that does not keep up is not
 * waited for in memory: its subscription ends and goes on from the history when it has read what it was sent.
 */
import type { KindObject } from '#api/meta.ts';
import { isCode, messageOf } from '#lib/errors.ts';
import type { StoreEvent } from '#store/history.ts';
import type { ListOptions } from './list-options.ts';
import type { Source } from './source.ts';
import { failure, type Status } from './status.ts';

/** The part of a response that a watch needs. */
export interface Sink {
  write(line: string | Buffer): unknown;
  end(): void;
  /** Gives the connection up: nobody reads. */
  destroy(): void;
  readonly writableLength: number;
  on(event: 'drain' | 'close', listener: () => void): unknown;
}

export interface WatchEncoder {
  event(type: StoreEvent['type'], object: KindObject): string | Buffer;
  /** `isInitialEnd`: all that was there at the start has been sent. */
  bookmark(resourceVersion: number, isInitialEnd: boolean): string;
  error(status: Status): string;
}

export interface WatchStreamOptions {
  readonly source: Source;
  readonly sink: Sink;
  readonly encoder: WatchEncoder;
  readonly options: ListOptions;
  readonly isVisible?: (object: KindObject) => boolean;
  readonly timeoutMs: number;
}

/** What may wait in memory for one client. */
const MAX_WAITING_BYTES = 1024 * 1024;
/** A client that reads nothing for so long is gone. */
const STUCK_MS = 60_000;
const BOOKMARK_MS = 60_000;

export class WatchStream {
  readonly #source: Source;
  readonly #sink: Sink;
  readonly #encoder: WatchEncoder;
  readonly #options: ListOptions;
  readonly #isVisible: ((object: KindObject) => boolean) | undefined;
  readonly #timers: NodeJS.Timeout[] = [];
  /** What was there at the start and has not been sent yet. */
  #initial: readonly KindObject[] = [];
  #sent = 0;
  #isInitialDone = false;
  /** Everything up to here has been sent, or was not for this client. */
  #version = 0;
  #unsubscribe: (() => void) | undefined;
  #isFull = false;
  #isEnded = false;
  #stuck: NodeJS.Timeout | undefined;

  constructor({ source, sink, encoder, options, isVisible, timeoutMs }: WatchStreamOptions) {
    this.#source = source;
    this.#sink = sink;
    this.#encoder = encoder;
    this.#options = options;
    this.#isVisible = isVisible;
    sink.on('drain', () => this.#drained());
    sink.on('close', () => this.#stop());
    this.#timers.push(setTimeout(() => this.end(), timeoutMs).unref());
    if (options.allowWatchBookmarks) this.#timers.push(setInterval(() => this.#bookmark(), BOOKMARK_MS).unref());
  }

  start(): void {
    const { resourceVersion, sendInitialEvents } = this.#options;
    const isFromNow = resourceVersion === undefined || resourceVersion === '0';
    if (sendInitialEvents === true || (isFromNow && sendInitialEvents !== false)) {
      const { items, resourceVersion: version } = this.#source.list(this.#options);
      this.#initial = items;
      this.#version = version;
    } else this.#version = isFromNow ? this.#source.resourceVersion() : Number(resourceVersion);
    this.#proceed();
  }

  /** The client resumes from the last version it has seen. */
  end(): void {
    if (this.#isEnded) return;
    if (this.#options.allowWatchBookmarks) this.#bookmark();
    this.#stop();
    this.#sink.end();
  }

  /** Says what is wrong, in the stream because it has begun, and ends. */
  fail(status: Status): void {
    this.#send(this.#encoder.error(status));
    this.#stop();
    this.#sink.end();
  }

  #proceed(): void {
    while (this.#sent < this.#initial.length && !this.#isFull) {
      const object = this.#initial[this.#sent++] as KindObject;
      if (!this.#isVisible || this.#isVisible(object)) this.#send(this.#encoder.event('ADDED', object));
    }
    if (this.#isFull || this.#isEnded) return;
    if (!this.#isInitialDone) this.#endInitial();
    this.#subscribe();
  }

  /** Once: what comes later comes from the history. */
  #endInitial(): void {
    this.#isInitialDone = true;
    this.#initial = [];
    this.#sent = 0;
    const { sendInitialEvents, allowWatchBookmarks } = this.#options;
    if (sendInitialEvents && allowWatchBookmarks) this.#send(this.#encoder.bookmark(this.#version, true));
  }

  #subscribe(): void {
    try {
      const query = { ...this.#options, resourceVersion: String(this.#version) };
      const unsubscribe = this.#source.watch(query, (event) => this.#onEvent(event));
      // The replay of what was missed may have filled the buffer again, or the client may have gone.
      if (this.#isFull || this.#isEnded) unsubscribe();
      else this.#unsubscribe = unsubscribe;
    } catch (error) {
      if (!isCode(error, 'Expired')) throw error;
      this.fail(failure(410, messageOf(error)).status);
    }
  }

  #onEvent({ type, object, resourceVersion }: StoreEvent): void {
    if (this.#isFull || this.#isEnded) return;
    this.#version = resourceVersion;
    if (!this.#isVisible || this.#isVisible(object)) this.#send(this.#encoder.event(type, object));
    if (this.#isFull) this.#pause();
  }

  #send(chunk: string | Buffer): void {
    this.#sink.write(chunk);
    if (this.#sink.writableLength <= MAX_WAITING_BYTES) return;
    this.#isFull = true;
    this.#stuck ??= setTimeout(() => this.#giveUp(), STUCK_MS).unref();
  }

  #pause(): void {
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
  }

  #drained(): void {
    clearTimeout(this.#stuck);
    this.#stuck = undefined;
    if (!this.#isFull || this.#isEnded) return;
    this.#isFull = false;
    this.#proceed();
  }

  #bookmark(): void {
    if (this.#isFull || this.#isEnded || !this.#isInitialDone) return;
    this.#version = Math.max(this.#version, this.#source.resourceVersion());
    this.#send(this.#encoder.bookmark(this.#version, false));
  }

  #giveUp(): void {
    this.#stop();
    this.#sink.destroy();
  }

  #stop(): void {
    this.#isEnded = true;
    this.#pause();
    clearTimeout(this.#stuck);
    for (const timer of this.#timers) clearTimeout(timer);
  }
}
