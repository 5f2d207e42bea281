/** Tells the host that this guest lives: every 10 s, soon after anything the host plans with has changed, and at once of a result. */
import type { HeartbeatParams } from '#protocol/relay.ts';
import { monotonicMs } from '../monotonic.ts';
import type { Attachment } from './link.ts';

const INTERVAL_MS = 10_000;
/** Between two of them that changes cause. */
const MIN_GAP_MS = 250;
/** Between two that somebody waits for: results that come together are told together. */
const URGENT_GAP_MS = 10;

export class Heartbeat implements Attachment {
  readonly #send: () => Promise<unknown>;
  #timer: NodeJS.Timeout | undefined;
  #lastMs = Number.NEGATIVE_INFINITY;
  #isStarted = false;
  #isSending = false;
  #isChanged = false;
  #isUrgent = false;

  /** `send` may fail: then the connection is ending, and the next one begins with a heartbeat. */
  constructor(send: () => Promise<unknown>) {
    this.#send = send;
  }

  start(): void {
    this.#isStarted = true;
    this.#beat();
  }

  stop(): void {
    this.#isStarted = false;
    this.#isUrgent = false;
    clearTimeout(this.#timer);
  }

  changed(): void {
    if (!this.#isStarted || this.#isChanged) return;
    this.#isChanged = true;
    if (!this.#isSending) this.#schedule(Math.max(0, this.#lastMs + MIN_GAP_MS - monotonicMs()));
  }

  /** Somebody waits for what has changed: only for one that is on its way it waits itself. */
  urgent(): void {
    if (!this.#isStarted || this.#isUrgent) return;
    this.#isChanged = true;
    this.#isUrgent = true;
    if (!this.#isSending) this.#schedule(Math.max(0, this.#lastMs + URGENT_GAP_MS - monotonicMs()));
  }

  #schedule(delayMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#beat(), delayMs);
    this.#timer.unref();
  }

  #beat(): void {
    if (!this.#isStarted) return;
    this.#isChanged = this.#isSending;
    this.#isUrgent &&= this.#isSending;
    this.#lastMs = monotonicMs();
    this.#schedule(INTERVAL_MS);
    if (this.#isSending) return;
    this.#isSending = true;
    void this.#send()
      .catch(() => {})
      .finally(() => {
        this.#isSending = false;
        if (this.#isStarted && this.#isChanged) this.#schedule(this.#isUrgent ? URGENT_GAP_MS : MIN_GAP_MS);
      });
  }
}

export function toHeartbeat(parts: Omit<HeartbeatParams, 'uptimeMs'>): HeartbeatParams {
  return { ...parts, uptimeMs: Math.round(process.uptime() * 1000) };
}
