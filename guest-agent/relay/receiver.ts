/**
 * Brings the mail in: pulls from the cursor, stores, confirms. A hint wakes it at once; a look every 2 s and one at each new connection
 * make up for hints that are lost. It waits for the host and for its own sync, never for a task.
 */
import { ProtocolError } from '#protocol/protocol-error.ts';
import type { Envelope, RelayHostResult } from '#protocol/relay.ts';
import { behind, type Inbox } from '../state/inbox.ts';
import type { Attachment, HostLink } from './link.ts';

const POLL_MS = 2_000;
const MAX_PULL = 100;
/** What one teamAck may name. */
const MAX_SEEN = 1000;

export interface ReceiverParts {
  readonly inbox: Inbox;
  readonly host: Pick<HostLink, 'call'>;
  /** Resolves when they are durable. */
  readonly takeAssignments: (messages: readonly Envelope[]) => Promise<void>;
  /** Everything the host had is stored here. */
  readonly onDrained: () => void;
  readonly warn: (text: string) => void;
}

export class Receiver implements Attachment {
  readonly #parts: ReceiverParts;
  #timer: NodeJS.Timeout | undefined;
  #isAwake = false;
  #isWanted = false;
  #isAckDue = false;
  #connections = 0;
  #pullLimit = MAX_PULL;

  constructor(parts: ReceiverParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#connections += 1;
    // What an earlier connection has not carried to the host.
    this.#isAckDue = true;
    this.#timer = setInterval(() => this.wake(), POLL_MS);
    this.#timer.unref();
    this.wake();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  hint(nextSeq: number): void {
    if (nextSeq - 1 > this.#parts.inbox.cursor) this.wake();
  }

  wake(): void {
    this.#isWanted = true;
    if (this.#isAwake) return;
    this.#isAwake = true;
    const connections = this.#connections;
    void this.#work().finally(() => {
      this.#isAwake = false;
      // It may have failed for the end of the connection before.
      if (this.#connections !== connections) this.wake();
    });
  }

  async #work(): Promise<void> {
    try {
      while (this.#isWanted) {
        this.#isWanted = false;
        await this.#drain();
      }
    } catch (error) {
      // The next look, or the next connection, tries again.
      if (!(error instanceof ProtocolError))
        this.#parts.warn(`mail was not stored: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  async #drain(): Promise<void> {
    for (let hasMore = true; hasMore; ) {
      hasMore = await this.#pull();
      if (this.#isAckDue || this.#parts.inbox.unreported().length > 0) await this.#acknowledge();
    }
    this.#parts.onDrained();
  }

  /** True: the host has more. */
  async #pull(): Promise<boolean> {
    const { inbox } = this.#parts;
    const answer = await this.#ask();
    if (answer === undefined) return true;
    const fresh = behind(inbox.cursor, answer.messages);
    if (fresh.length === 0) return false;
    this.#pullLimit = MAX_PULL;
    await this.#store(fresh);
    this.#isAckDue = true;
    return inbox.cursor < answer.nextSeq - 1;
  }

  /** undefined: many large messages are more than a frame, and fewer are to be asked for. */
  async #ask(): Promise<RelayHostResult<'teamReceive'> | undefined> {
    try {
      return await this.#parts.host.call('teamReceive', { after: this.#parts.inbox.cursor, limit: this.#pullLimit });
    } catch (error) {
      if (!(error instanceof ProtocolError) || error.code !== 'TooLarge' || this.#pullLimit === 1) throw error;
      this.#pullLimit = Math.ceil(this.#pullLimit / 10);
      return undefined;
    }
  }

  /** Assignments first: once the cursor is behind them they do not come again. */
  async #store(messages: readonly Envelope[]): Promise<void> {
    const { inbox, takeAssignments } = this.#parts;
    const assignments = messages.filter(({ message_type, message_id }) => message_type === 'task_assignment' && !inbox.knows(message_id));
    if (assignments.length > 0) await takeAssignments(assignments);
    await inbox.store(messages);
  }

  async #acknowledge(): Promise<void> {
    const { inbox, host } = this.#parts;
    const seen = inbox.unreported().slice(0, MAX_SEEN);
    await host.call('teamAck', { storedSeq: inbox.cursor, seen });
    this.#isAckDue = false;
    await inbox.markReported(seen);
  }
}
