/**
 * The guest's copy of its mail, in `inbox.log`: messages as they came, how far the mailbox is stored here, and which ids were there lately.
 * What has come and is still to be stored can be read already.
 * Task assignments move the cursor and are otherwise the task daemon's. Nothing is dropped for want of room: the host refuses to have more
 * than a hundred unseen messages for an agent, and what it knows to be seen is gone from here.
 */
import { join } from 'node:path';
import { type Envelope, relayToHost } from '#protocol/relay.ts';
import { count, fieldOf, list, oneOf, text, toFields } from '#protocol/shape.ts';
import { monotonicMs } from '../monotonic.ts';
import { InHand } from './in-hand.ts';
import { Journal, type JournalOptions } from './journal.ts';
import { RecentIds } from './recent-ids.ts';

const MAX_REMEMBERED_IDS = 1000;
/** Mail comes in bursts: what is seen so soon after it came waits for the next message and shares its sync, which would wait otherwise. */
const BURST_MS = 2;

export type InboxRecord =
  /** First in a rewritten file. */
  | { readonly type: 'base'; readonly seq: number; readonly ids: readonly string[] }
  | { readonly type: 'message'; readonly message: Envelope }
  /** Not for the agent's eyes: an assignment, or an id that was there before. */
  | { readonly type: 'passed'; readonly seq: number; readonly id: string }
  | { readonly type: 'seen'; readonly ids: readonly string[] }
  /** Seen before they were stored, up to this seq: nobody asks for their text again, so it is not written. */
  | { readonly type: 'read'; readonly seq: number; readonly ids: readonly string[] }
  /** The host knows that they were seen: nobody needs them here any more. */
  | { readonly type: 'reported'; readonly ids: readonly string[] };

export class Inbox {
  readonly #journal: Journal<InboxRecord>;
  readonly #ids = new RecentIds(MAX_REMEMBERED_IDS);
  readonly #messages = new Map<string, Envelope>();
  readonly #seen = new Set<string>();
  readonly #inHand = new InHand();
  readonly #listeners = new Set<() => void>();
  #cursor = 0;
  #takenSeq = 0;
  #storedMs = Number.NEGATIVE_INFINITY;

  constructor(stateDir: string, warn: (text: string) => void, room: Pick<JournalOptions<never>, 'minCompactBytes' | 'onFull'> = {}) {
    this.#journal = new Journal<InboxRecord>({
      path: join(stateDir, 'inbox.log'),
      parse: parseRecord,
      apply: (record) => this.#apply(record),
      snapshot: () => this.#snapshot(),
      // The host has what was not seen.
      isReplaceable: true,
      warn,
      ...room,
    });
  }

  /** The last seq that is stored here. */
  get cursor(): number {
    return this.#cursor;
  }

  /** Of the last thousand. */
  knows(messageId: string): boolean {
    return this.#ids.has(messageId);
  }

  /** The last seq that can be read here, stored or not. */
  get lastSeq(): number {
    return Math.max(this.#cursor, this.#takenSeq);
  }

  /** Shows messages that are to be stored: those that follow on what is here, without a gap. Nothing is promised for them yet. */
  take(messages: readonly Envelope[]): void {
    let isForAgent = false;
    for (const message of behind(this.lastSeq, messages)) {
      if (message.seq !== this.lastSeq + 1) break;
      this.#takenSeq = message.seq;
      if (!this.#isForAgent(message) || this.#inHand.has(message.message_id)) continue;
      this.#inHand.add(message);
      isForAgent = true;
    }
    if (isForAgent) this.#tell();
  }

  /** Takes messages behind the cursor in the order of their seq; the others are already here. */
  async store(messages: readonly Envelope[]): Promise<void> {
    const records = this.#toRecords(behind(this.#cursor, messages));
    if (records.length === 0) return;
    try {
      await this.#journal.append(...records);
    } catch (error) {
      this.#inHand.failed(error);
      throw error;
    }
    this.#storedMs = monotonicMs();
    const isShown = this.#cursor <= this.#takenSeq;
    this.#inHand.passed(this.#cursor);
    if (!isShown && records.some(({ type }) => type === 'message')) this.#tell();
  }

  /** In order. Those that were seen in the meantime, one behind the other, are one record. */
  #toRecords(messages: readonly Envelope[]): readonly InboxRecord[] {
    const records: InboxRecord[] = [];
    const fresh = new Set<string>();
    let run: { type: 'read'; seq: number; ids: string[] } | undefined;
    for (const message of messages) {
      const { message_id: id, seq } = message;
      const isForAgent = this.#isForAgent(message) && !fresh.has(id);
      fresh.add(id);
      if (isForAgent && this.#inHand.isSeen(id)) {
        if (run === undefined) {
          run = { type: 'read', seq, ids: [] };
          records.push(run);
        }
        run.seq = seq;
        run.ids.push(id);
      } else {
        run = undefined;
        records.push(isForAgent ? { type: 'message', message } : { type: 'passed', seq, id });
      }
    }
    return records;
  }

  read({ after, limit }: { readonly after: number; readonly limit: number }): Envelope[] {
    return this.#all()
      .filter(({ seq }) => seq > after)
      .slice(0, limit);
  }

  /** In the order of their seq. */
  unseen(): Envelope[] {
    return this.#all().filter(({ message_id }) => !this.#seen.has(message_id) && !this.#inHand.isSeen(message_id));
  }

  /** Called after each time that messages for the agent have come. Gives the function that ends it. */
  onMail(listener: () => void): () => void {
    // A new one each time: who listens twice is called twice, and each ends its own.
    const own = () => listener();
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  /** The agent has seen these, which may be told more than once. Gives back the ids that never were here, as far as is remembered. */
  async markSeen(ids: readonly string[]): Promise<readonly string[]> {
    const coming = ids.filter((id) => this.#inHand.has(id));
    if (coming.length > 0) await this.#inHand.seen(coming);
    const fresh = ids.filter((id) => this.#messages.has(id) && !this.#seen.has(id));
    if (fresh.length > 0) await this.#journal.appendWithin(this.#storedMs + BURST_MS - monotonicMs(), { type: 'seen', ids: fresh });
    return ids.filter((id) => !this.#ids.has(id) && !this.#messages.has(id));
  }

  /** Seen, and the host does not know it yet. */
  unreported(): readonly string[] {
    return [...this.#seen];
  }

  get unreportedCount(): number {
    return this.#seen.size;
  }

  /** Not worth waiting for the disk: after a crash they are reported once more, which changes nothing. */
  async markReported(ids: readonly string[]): Promise<void> {
    if (ids.length > 0) this.#journal.note({ type: 'reported', ids });
  }

  close(): Promise<void> {
    return this.#journal.close();
  }

  /** An assignment is not, and what was here before is not again. */
  #isForAgent({ message_id, message_type }: Envelope): boolean {
    return message_type !== 'task_assignment' && !this.#ids.has(message_id);
  }

  /** In the order of their seq. While a write has just been applied a message is in both places. */
  #all(): Envelope[] {
    const coming = [...this.#inHand.messages].filter(({ seq }) => seq > this.#cursor);
    return [...this.#messages.values(), ...coming];
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  #apply(record: InboxRecord): void {
    switch (record.type) {
      case 'base':
        // The first in its file: the cursor was 0.
        this.#pass(record.ids, record.seq);
        break;
      case 'message':
        this.#hold(record.message);
        break;
      case 'passed':
        this.#pass([record.id], record.seq);
        break;
      case 'seen':
        for (const id of record.ids) if (this.#messages.has(id)) this.#seen.add(id);
        break;
      case 'read':
        this.#pass(record.ids, record.seq);
        for (const id of record.ids) this.#seen.add(id);
        break;
      case 'reported':
        for (const id of record.ids) this.#drop(id);
    }
  }

  #hold(message: Envelope): void {
    this.#pass([message.message_id], message.seq);
    this.#messages.set(message.message_id, message);
  }

  #pass(ids: readonly string[], seq: number): void {
    for (const id of ids) this.#ids.add(id);
    this.#cursor = Math.max(this.#cursor, seq);
  }

  #drop(id: string): void {
    this.#messages.delete(id);
    this.#seen.delete(id);
  }

  #snapshot(): readonly InboxRecord[] {
    const messages = [...this.#messages.values()].map((message): InboxRecord => ({ type: 'message', message }));
    const read = [...this.#seen].filter((id) => !this.#messages.has(id));
    const base: InboxRecord = { type: 'base', seq: this.#cursor, ids: this.#ids.toArray() };
    return [base, ...messages, { type: 'seen', ids: [...this.#seen] }, { type: 'read', seq: this.#cursor, ids: read }];
  }
}

/** In the order of their seq. */
export function behind(cursor: number, messages: readonly Envelope[]): readonly Envelope[] {
  return messages.filter(({ seq }) => seq > cursor).sort((a, b) => a.seq - b.seq);
}

const recordType = oneOf('base', 'message', 'passed', 'seen', 'read', 'reported');
const ids = list(text);

function parseRecord(value: unknown): InboxRecord {
  const fields = toFields(value, 'record');
  const field = <T>(name: string, parse: (value: unknown, what: string) => T) => parse(fieldOf(fields, name), name);
  const type = field('type', recordType);
  switch (type) {
    case 'base':
      return { type, seq: field('seq', count), ids: field('ids', ids) };
    case 'message':
      return { type, message: field('message', parseEnvelope) };
    case 'passed':
      return { type, seq: field('seq', count), id: field('id', text) };
    case 'read':
      return { type, seq: field('seq', count), ids: field('ids', ids) };
    default:
      return { type, ids: field('ids', ids) };
  }
}

function parseEnvelope(value: unknown, what: string): Envelope {
  const [message] = relayToHost.teamReceive.result({ messages: [value], nextSeq: 0 }, what).messages;
  if (message === undefined) throw new Error(`${what} is missing`);
  return message;
}
