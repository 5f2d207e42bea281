/**
 * Brings the mail in: takes what comes with a hint when it follows on what is here, pulls everything else from the cursor, stores, confirms.
 * A hint wakes it at once; a look every 2 s and one at each new connection make up for hints that are lost. It waits for the host and for
 * its own sync, never for a task.
 */
import { ProtocolError } from '#protocol/protocol-error.ts';
import type { Envelope, RelayHostResult } from '#protocol/relay.ts';
import { behind, type Inbox } from '../state/inbox.ts';
import { Acknowledger } from './acknowledger.ts';
import type { Attachment, HostLink } from './link.ts';

const POLL_MS = 2_000;
const MAX_PULL = 100;
/** What the agent can read already lets others come for so long, and shares a sync with them: the host's disk has it. */
const STORE_WITHIN_MS = 2;
/** So many are stored at once: the host waits to hear of them before it takes many more. */
const MANY = 32;

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
  readonly #acknowledger: Acknowledger;
  #timer: NodeJS.Timeout | undefined;
  #isAwake = false;
  #isWanted = false;
  #connections = 0;
  #pullLimit = MAX_PULL;
  /** Came with a hint and are not stored yet, by seq. */
  readonly #hinted = new Map<number, Envelope>();
  #hintedSeq = 0;
  #isStoreDue = false;
  #patience: NodeJS.Timeout | undefined;
  /** What came before this connection nobody has hinted at. */
  #isPullDue = true;

  constructor(parts: ReceiverParts) {
    this.#parts = parts;
    this.#acknowledger = new Acknowledger(parts);
  }

  start(): void {
    this.#connections += 1;
    this.#isPullDue = true;
    // What an earlier connection has not carried to the host.
    this.#acknowledger.start();
    this.#timer = setInterval(() => this.#look(), POLL_MS);
    this.#timer.unref();
    this.wake();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#acknowledger.stop();
    // Whoever said that it has seen something waits for the disk, with or without a host.
    if (this.#patience !== undefined) this.#storeNow();
  }

  hint(nextSeq: number, messages: readonly Envelope[] = []): void {
    const { cursor } = this.#parts.inbox;
    if (nextSeq - 1 <= cursor) return;
    this.#hintedSeq = Math.max(this.#hintedSeq, nextSeq - 1);
    const fitting = messages.filter(({ seq }) => seq > cursor).slice(0, MAX_PULL - this.#hinted.size);
    for (const message of fitting) this.#hinted.set(message.seq, message);
    // Whoever waits for it does not wait for this disk: the message is safe on the host's.
    this.#parts.inbox.take(fitting);
    const isWaitedFor = this.#parts.inbox.lastSeq < this.#hintedSeq || fitting.some(isAssignment);
    if (isWaitedFor || this.#hinted.size >= MANY) this.#storeSoon();
    else if (!this.#isStoreDue) this.#patience ??= setTimeout(() => this.#storeNow(), STORE_WITHIN_MS).unref();
  }

  #storeSoon(): void {
    if (this.#isStoreDue) return;
    this.#isStoreDue = true;
    // Several may have come in one go: they are stored together, when all of it is read.
    process.nextTick(() => this.#storeNow());
  }

  #storeNow(): void {
    clearTimeout(this.#patience);
    this.#patience = undefined;
    this.#isStoreDue = false;
    this.wake();
  }

  /** Resolves when the host may be told that a hint was taken: with the report on its messages, so that both go together. */
  taken(): Promise<void> {
    const isTaken = !this.#isStoreDue && this.#patience === undefined && !this.#isAwake;
    return isTaken ? Promise.resolve() : this.#acknowledger.withNext();
  }

  /** The agent has seen something. */
  report(): void {
    this.#acknowledger.soon();
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

  #look(): void {
    this.#isPullDue = true;
    this.wake();
  }

  async #work(): Promise<void> {
    try {
      while (this.#isWanted) {
        this.#isWanted = false;
        while (await this.#bringIn());
        this.#parts.onDrained();
      }
    } catch (error) {
      // The next look, or the next connection, tries again.
      this.#isPullDue = true;
      if (!(error instanceof ProtocolError))
        this.#parts.warn(`mail was not stored: ${error instanceof Error ? error.message : String(error)}`);
    }
    this.#acknowledger.soon();
  }

  /** True: there is more. */
  async #bringIn(): Promise<boolean> {
    const { inbox } = this.#parts;
    const hinted = this.#takeHinted();
    if (hinted.length > 0) {
      await this.#store(hinted);
      return this.#isPullDue || inbox.cursor < this.#hintedSeq;
    }
    if (!this.#isPullDue && inbox.cursor >= this.#hintedSeq) return false;
    return this.#pull();
  }

  /** Those that follow on what is here. What is missing before the others is asked for, and they come with it. */
  #takeHinted(): Envelope[] {
    const found: Envelope[] = [];
    for (let seq = this.#parts.inbox.cursor + 1; ; seq += 1) {
      const message = this.#hinted.get(seq);
      if (message === undefined) break;
      found.push(message);
    }
    if (found.length === 0) this.#hinted.clear();
    for (const { seq } of found) this.#hinted.delete(seq);
    return found;
  }

  async #pull(): Promise<boolean> {
    const { inbox } = this.#parts;
    const hintedSeq = this.#hintedSeq;
    this.#isPullDue = false;
    const answer = await this.#ask();
    if (answer === undefined) return true;
    // The last ones may have been taken back: they are not asked for again, unless somebody hints at more.
    if (this.#hintedSeq === hintedSeq) this.#hintedSeq = 0;
    const fresh = behind(inbox.cursor, answer.messages);
    if (fresh.length === 0) return false;
    this.#pullLimit = MAX_PULL;
    await this.#store(fresh);
    if (inbox.cursor >= answer.nextSeq - 1) return false;
    this.#isPullDue = true;
    return true;
  }

  /** undefined: many large messages are more than a frame, and fewer are to be asked for. */
  async #ask(): Promise<RelayHostResult<'teamReceive'> | undefined> {
    try {
      return await this.#parts.host.call('teamReceive', { after: this.#parts.inbox.cursor, limit: this.#pullLimit });
    } catch (error) {
      this.#isPullDue = true;
      if (!(error instanceof ProtocolError) || error.code !== 'TooLarge' || this.#pullLimit === 1) throw error;
      this.#pullLimit = Math.ceil(this.#pullLimit / 10);
      return undefined;
    }
  }

  /** Assignments first: once the cursor is behind them they do not come again. */
  async #store(messages: readonly Envelope[]): Promise<void> {
    const { inbox, takeAssignments } = this.#parts;
    const assignments = messages.filter((message) => isAssignment(message) && !inbox.knows(message.message_id));
    if (assignments.length > 0) await takeAssignments(assignments);
    await inbox.store(messages);
    this.#acknowledger.stored();
  }
}

function isAssignment({ message_type }: Envelope): boolean {
  return message_type === 'task_assignment';
}
