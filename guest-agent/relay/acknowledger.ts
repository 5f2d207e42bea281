/**
 * Tells the host what is stored here and what the agent has seen: one call at a time, with all there is to tell by then. Nobody waits for it,
 * so it lets a little more come together first.
 */
import { ProtocolError } from '#protocol/protocol-error.ts';
import type { Inbox } from '../state/inbox.ts';
import type { HostLink } from './link.ts';

const GATHER_MS = 5;
/** So many are told at once: the host takes a hundred that it does not know to be seen, and somebody may wait for room. */
const MANY_SEEN = 32;
/** What one teamAck may name. */
const MAX_SEEN = 1000;

export interface AcknowledgerParts {
  readonly inbox: Inbox;
  readonly host: Pick<HostLink, 'call'>;
  readonly warn: (text: string) => void;
}

export class Acknowledger {
  readonly #parts: AcknowledgerParts;
  #isStoredDue = false;
  #isConnected = false;
  #timer: NodeJS.Timeout | undefined;
  #telling: Promise<void> | undefined;
  #withNext: (() => void)[] = [];

  constructor(parts: AcknowledgerParts) {
    this.#parts = parts;
  }

  /** A new connection: how far the last one came is not known. */
  start(): void {
    this.#isConnected = true;
    this.#isStoredDue = true;
  }

  stop(): void {
    this.#isConnected = false;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#release();
  }

  /** Resolves when the next report is said, or when there is none: what is answered then goes along with it. */
  withNext(): Promise<void> {
    return new Promise((resolve) => this.#withNext.push(resolve));
  }

  /** Something more is stored. */
  stored(): void {
    this.#isStoredDue = true;
    this.soon();
  }

  /** If there is anything to tell. */
  soon(): void {
    if (this.#telling !== undefined) return;
    if (this.#timer && this.#parts.inbox.unreportedCount < MANY_SEEN) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.#isDue) {
      this.#release();
      return;
    }
    if (this.#parts.inbox.unreportedCount >= MANY_SEEN) this.#begin();
    else this.#timer = setTimeout(() => this.#begin(), GATHER_MS).unref();
  }

  #begin(): void {
    this.#timer = undefined;
    this.#telling = this.#tell().finally(() => {
      this.#telling = undefined;
      this.#release();
    });
  }

  get #isDue(): boolean {
    return this.#isConnected && (this.#isStoredDue || this.#parts.inbox.unreportedCount > 0);
  }

  async #tell(): Promise<void> {
    try {
      while (this.#isDue) await this.#tellOnce();
    } catch (error) {
      // The next look, or the next connection, tries again.
      if (!(error instanceof ProtocolError)) this.#parts.warn(`mail was not acknowledged: ${String(error)}`);
    }
  }

  async #tellOnce(): Promise<void> {
    const { inbox, host } = this.#parts;
    const seen = inbox.unreported().slice(0, MAX_SEEN);
    // Before the call: what is stored while it is under way is one more thing to tell.
    this.#isStoredDue = false;
    try {
      const told = host.call('teamAck', { storedSeq: inbox.cursor, seen });
      this.#release();
      await told;
    } catch (error) {
      this.#isStoredDue = true;
      throw error;
    }
    await inbox.markReported(seen);
  }

  #release(): void {
    for (const resolve of this.#withNext.splice(0)) resolve();
  }
}
