/** What a mailbox knows: the sum of its records, in memory. Bodies of settled messages stay on disk, where each entry knows its line. */
import { isAssignment, KEPT_MS } from './limits.ts';
import type { CopyState, Envelope, MailboxState } from './mail.ts';
import type { Line, MailRecord } from './record.ts';

export interface Entry {
  readonly seq: number;
  readonly id: string;
  readonly key: string | undefined;
  readonly isAssignment: boolean;
  readonly timestamp: string;
  /** Until the message is settled; of very many only the first. */
  envelope: Envelope | undefined;
  /** Moves when the journal is rewritten. */
  line: Line;
  settled: { readonly as: 'acked' | 'withdrawn' | 'dead'; readonly at: string } | undefined;
}

/** More than an agent's inbox holds; what people have not seen may be thousands of messages, and those stay on disk. */
const IN_MEMORY = 250;

/** Undefined for one that was taken back: as if it had never been sent. */
export function copyStateOf({ seq, settled }: Entry, deliveredSeq: number): CopyState | undefined {
  switch (settled?.as) {
    case 'acked':
      return 'Seen';
    case 'dead':
      return 'DeadLetter';
    case 'withdrawn':
      return undefined;
    case undefined:
      return seq <= deliveredSeq ? 'Delivered' : 'Accepted';
  }
}

export class Ledger {
  nextSeq = 1;
  deliveredSeq = 0;
  /** All that there ever were. */
  deadLetters = 0;
  /** By seq, ascending. */
  #entries: Entry[] = [];
  readonly #byId = new Map<string, Entry>();
  readonly #byKey = new Map<string, Entry>();
  /** By seq, ascending: messages are added in that order. */
  readonly #unacked = new Set<Entry>();
  readonly #counts = { messages: 0, assignments: 0 };

  get unacked(): { readonly messages: number; readonly assignments: number } {
    return this.#counts;
  }

  get entries(): readonly Entry[] {
    return this.#entries;
  }

  get state(): MailboxState {
    const [first] = this.#unacked;
    const oldest = this.#oldestMessage();
    return {
      nextSeq: this.nextSeq,
      deliveredSeq: this.deliveredSeq,
      ackedSeq: (first?.seq ?? this.nextSeq) - 1,
      unacked: this.#counts.messages,
      deadLetters: this.deadLetters,
      ...(oldest && { oldestUnackedAt: oldest.timestamp }),
    };
  }

  /** Not a search through thousands: a mailbox of people may have them, and this is asked with every message. */
  #oldestMessage(): Entry | undefined {
    for (const entry of this.#unacked) if (!entry.isAssignment) return entry;
    return undefined;
  }

  byId(id: string): Entry | undefined {
    return this.#byId.get(id);
  }

  byKey(key: string): Entry | undefined {
    return this.#byKey.get(key);
  }

  /** Takes in one durable record; gives back the entries that it made or settled. */
  apply(record: MailRecord, line: Line): readonly Entry[] {
    switch (record.is) {
      case 'message':
        return this.#add(record, line);
      case 'acked':
      case 'withdrawn':
      case 'dead':
        return this.#settleAll(record.ids, { as: record.is, at: record.at });
      case 'delivered':
        this.deliveredSeq = Math.max(this.deliveredSeq, record.seq);
        // Also where the message itself was lost with a damaged line: no number is given twice.
        this.nextSeq = Math.max(this.nextSeq, record.seq + 1);
        return [];
      case 'mailbox':
        this.nextSeq = Math.max(this.nextSeq, record.nextSeq);
        this.deadLetters += record.deadLetters;
        return [];
    }
  }

  #add({ message, key }: MailRecord & { readonly is: 'message' }, line: Line): Entry[] {
    if (message.seq <= (this.#entries.at(-1)?.seq ?? 0)) return [];
    const { seq, message_id: id, timestamp } = message;
    const entry: Entry = {
      seq,
      id,
      key,
      timestamp,
      isAssignment: isAssignment(message.message_type),
      envelope: this.#unacked.size < IN_MEMORY ? message : undefined,
      line,
      settled: undefined,
    };
    this.#entries.push(entry);
    this.#byId.set(id, entry);
    if (key !== undefined) this.#byKey.set(key, entry);
    this.#unacked.add(entry);
    this.#counts[entry.isAssignment ? 'assignments' : 'messages']++;
    this.nextSeq = Math.max(this.nextSeq, seq + 1);
    return [entry];
  }

  #settleAll(ids: readonly string[], settled: NonNullable<Entry['settled']>): Entry[] {
    return ids.flatMap((id) => this.#settle(this.#byId.get(id), settled));
  }

  #settle(entry: Entry | undefined, settled: NonNullable<Entry['settled']>): readonly Entry[] {
    if (!entry || entry.settled) return [];
    entry.settled = settled;
    entry.envelope = undefined;
    this.#unacked.delete(entry);
    this.#counts[entry.isAssignment ? 'assignments' : 'messages']--;
    if (settled.as === 'dead') this.deadLetters++;
    return [entry];
  }

  /** Entries after `seq`, in order. */
  after(seq: number): readonly Entry[] {
    let low = 0;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#entries[middle]?.seq ?? 0) <= seq) low = middle + 1;
      else high = middle;
    }
    return this.#entries.slice(low);
  }

  allUnacked(): Entry[] {
    return [...this.#unacked];
  }

  /** Unacked for too long. */
  overdue(nowMs: number): Entry[] {
    return this.allUnacked().filter(({ timestamp }) => Date.parse(timestamp) <= nowMs - KEPT_MS);
  }

  /** Settled so long ago that nobody reads it back. */
  expired(nowMs: number): Entry[] {
    return this.#entries.filter(({ settled }) => settled !== undefined && Date.parse(settled.at) <= nowMs - KEPT_MS);
  }

  forget(gone: ReadonlySet<Entry>): void {
    this.#entries = this.#entries.filter((entry) => !gone.has(entry));
    for (const { id, key } of gone) {
      this.#byId.delete(id);
      if (key !== undefined) this.#byKey.delete(key);
    }
  }
}
