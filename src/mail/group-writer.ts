/** Records on their way to the disk: while one batch is being made durable the next one gathers. Messages get their number here. */

import { messageOfDraft } from './draft.ts';
import type { MailJournal } from './journal.ts';
import type { Entry, Ledger } from './ledger.ts';
import type { Draft, Envelope } from './mail.ts';
import { type EncodedRecords, encodeRecords, type MailRecord } from './record.ts';
import type { Writer, WriteTurn } from './write-turn.ts';

/** A message has no number before it is written, so that one that could not be written leaves no gap. */
export type Unnumbered = Exclude<MailRecord, { is: 'message' }> | { readonly is: 'message'; readonly draft: Draft; readonly now: Date };

export interface Outcome {
  /** On disk, with the entries that it made or settled. */
  done(entries: readonly Entry[]): void;
  failed(error: unknown): void;
}

/** A lone write of so many bytes may wait for the disk in place: more takes longer than a quick disk's answer. */
const MAX_IN_PLACE = 16 * 1024;
/** What nobody waits for with impatience gives way for so long to something else that is to be written, and shares its sync. */
const PATIENCE_MS = 2;

interface Pending {
  readonly record: Unnumbered;
  readonly outcome: Outcome;
}

interface GroupWriterParts {
  readonly journal: MailJournal;
  readonly ledger: Ledger;
  readonly turn: WriteTurn;
  /** Called for the messages of each batch and their JSON, in their order, once they are on disk and in the ledger. */
  readonly onAdded: (messages: readonly Envelope[], jsons: readonly string[]) => void;
}

export class GroupWriter implements Writer {
  readonly #parts: GroupWriterParts;
  #queue: Pending[] = [];
  #between: (() => Promise<void>)[] = [];
  #isBusy = false;
  #patience: NodeJS.Timeout | undefined;
  #settling: (() => void)[] = [];

  constructor(parts: GroupWriterParts) {
    this.#parts = parts;
  }

  put(record: Unnumbered, outcome: Outcome): void {
    this.#queue.push({ record, outcome });
    this.#start();
  }

  /** Resolves with the entries it made or settled when the record is on disk. */
  add(record: Unnumbered): Promise<readonly Entry[]> {
    return new Promise((done, failed) => this.put(record, { done, failed }));
  }

  /** The same for news that change nothing for anybody who is waiting. */
  addPatiently(record: Unnumbered): Promise<readonly Entry[]> {
    return new Promise((done, failed) => {
      this.#queue.push({ record, outcome: { done, failed } });
      this.#patience ??= setTimeout(() => this.#start(), PATIENCE_MS);
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

  settled(): Promise<void> {
    this.#start();
    return this.#isBusy ? new Promise((resolve) => this.#settling.push(resolve)) : Promise.resolve();
  }

  #start(): void {
    clearTimeout(this.#patience);
    this.#patience = undefined;
    if (this.#isBusy) return;
    this.#isBusy = true;
    this.#next();
  }

  #next(): void {
    if (this.#between.length > 0) void this.#runBetween();
    else if (this.#queue.length > 0) this.#parts.turn.add(this);
    else this.#rest();
  }

  async #runBetween(): Promise<void> {
    for (const work of this.#between.splice(0)) await work();
    this.#next();
  }

  #rest(): void {
    this.#isBusy = false;
    for (const resolve of this.#settling.splice(0)) resolve();
  }

  /** What little there is, where the disk is quick. */
  writeInPlace(): boolean {
    const batch = this.#queue;
    const records = this.#numbered(batch);
    const encoded = encodeRecords(records);
    try {
      const offset = encoded.data.length > MAX_IN_PLACE ? undefined : this.#parts.journal.appendInPlace(encoded.data);
      if (offset === undefined) return false;
      this.#queue = [];
      this.#settle(batch, records, encoded, offset);
    } catch (error) {
      this.#queue = [];
      refuse(batch, error);
    }
    this.#next();
    return true;
  }

  async write(): Promise<() => void> {
    const batch = this.#queue;
    this.#queue = [];
    const records = this.#numbered(batch);
    const encoded = encodeRecords(records);
    try {
      const offset = await this.#parts.journal.append(encoded.data);
      return () => {
        this.#settle(batch, records, encoded, offset);
        this.#next();
      };
    } catch (error) {
      return () => {
        refuse(batch, error);
        this.#next();
      };
    }
  }

  #numbered(batch: readonly Pending[]): readonly MailRecord[] {
    let seq = this.#parts.ledger.nextSeq;
    return batch.map(({ record }) => (record.is === 'message' ? numbered(record.draft, record.now, seq++) : record));
  }

  #settle(batch: readonly Pending[], records: readonly MailRecord[], { lengths, jsons }: EncodedRecords, start: number): void {
    const { ledger, onAdded } = this.#parts;
    let offset = start;
    const messages: Envelope[] = [];
    const made = records.map((record, index) => {
      const length = lengths[index] ?? 0;
      const entries = ledger.apply(record, { offset, length });
      offset += length;
      if (record.is === 'message') messages.push(record.message);
      return entries;
    });
    if (messages.length > 0) onAdded(messages, jsons);
    batch.forEach(({ outcome }, index) => {
      outcome.done(made[index] ?? []);
    });
  }
}

function numbered(draft: Draft, now: Date, seq: number): MailRecord {
  const message = Object.freeze(messageOfDraft(draft, now, seq));
  return draft.key === undefined ? { is: 'message', message } : { is: 'message', message, key: draft.key };
}

function refuse(batch: readonly Pending[], error: unknown): void {
  for (const { outcome } of batch) outcome.failed(error);
}
