/** Records on their way to the disk: while one batch is being made durable the next one gathers. Messages get their number here. */

import type { MailJournal } from './journal.ts';
import type { Entry, Ledger } from './ledger.ts';
import type { Envelope } from './mail.ts';
import { encodeRecord, type MailRecord } from './record.ts';

/** A message has no number before it is written, so that one that could not be written leaves no gap. */
export type Unnumbered =
  | Exclude<MailRecord, { is: 'message' }>
  | { readonly is: 'message'; readonly message: Omit<Envelope, 'seq'>; readonly key?: string };

interface Pending {
  readonly record: Unnumbered;
  readonly resolve: (entries: readonly Entry[]) => void;
  readonly reject: (error: unknown) => void;
}

export class GroupWriter {
  readonly #journal: MailJournal;
  readonly #ledger: Ledger;
  readonly #onAdded: (message: Envelope) => void;
  #queue: Pending[] = [];
  #between: (() => Promise<void>)[] = [];
  #pump: Promise<void> | undefined;

  /** `onAdded` is called for each message, in their order, once it is on disk and in the ledger. */
  constructor(journal: MailJournal, ledger: Ledger, onAdded: (message: Envelope) => void) {
    this.#journal = journal;
    this.#ledger = ledger;
    this.#onAdded = onAdded;
  }

  /** Resolves with the entries it made or settled when the record is on disk. */
  add(record: Unnumbered): Promise<readonly Entry[]> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ record, resolve, reject });
      this.#start();
    });
  }

  /** Runs `work` while nothing is being written: ledger and journal agree, and stay as they are until it is done. */
  between<T>(work: () => T | Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#between.push(async () => {
        try {
          resolve(await work());
        } catch (error) {
          reject(error);
        }
      });
      this.#start();
    });
  }

  async settled(): Promise<void> {
    while (this.#pump !== undefined) await this.#pump;
  }

  #start(): void {
    // Not at once, so that all that is sent in this turn of the event loop shares the first write.
    this.#pump ??= Promise.resolve().then(() => this.#run());
  }

  async #run(): Promise<void> {
    while (this.#queue.length > 0 || this.#between.length > 0) {
      for (const work of this.#between.splice(0)) await work();
      await this.#write(this.#queue.splice(0));
    }
    this.#pump = undefined;
  }

  async #write(batch: readonly Pending[]): Promise<void> {
    if (batch.length === 0) return;
    const records = numbered(batch, this.#ledger.nextSeq);
    const lines = records.map(encodeRecord);
    let offset: number;
    try {
      offset = await this.#journal.append(Buffer.concat(lines));
    } catch (error) {
      for (const { reject } of batch) reject(error);
      return;
    }
    batch.forEach(({ resolve }, index) => {
      const record = records[index] as MailRecord;
      const length = lines[index]?.length ?? 0;
      const entries = this.#ledger.apply(record, { offset, length });
      offset += length;
      if (record.is === 'message') this.#onAdded(record.message);
      resolve(entries);
    });
  }
}

function numbered(batch: readonly Pending[], nextSeq: number): MailRecord[] {
  let seq = nextSeq;
  return batch.map(({ record }) => {
    if (record.is !== 'message') return record;
    const { message_id, ...rest } = record.message;
    return { ...record, message: Object.freeze({ message_id, seq: seq++, ...rest }) };
  });
}
