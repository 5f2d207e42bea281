/** One mailbox: what is accepted, and in which order it becomes true. The journal is the only truth; the ledger is its sum. */
import { renameSync } from 'node:fs';
import { type Clock, toTimestamp } from '#lib/clock.ts';
import { AgentisoError, InvalidError, messageOf, UnavailableError } from '#lib/errors.ts';
import { freezeJson } from '#lib/json.ts';
import type { Logger } from '#lib/log.ts';
import type { QuickWrites } from '#lib/quick-writes.ts';
import { compact } from './compact.ts';
import { namesOf } from './draft.ts';
import { GroupWriter, type Unnumbered } from './group-writer.ts';
import { isFolder, MailJournal, unavailable } from './journal.ts';
import { copyStateOf, type Entry, Ledger } from './ledger.ts';
import { isAssignment, MAX_UNACKED, refuseFull, refuseTooLarge } from './limits.ts';
import type {
  Appended,
  Copy,
  DeathReason,
  Draft,
  Envelope,
  Mailbox,
  MailboxState,
  MailChange,
  NamelessDraft,
  PutOutcome,
  ReadOptions,
} from './mail.ts';
import { decodeRecord } from './record.ts';
import { replay, setAside } from './replay.ts';
import type { WriteTurn } from './write-turn.ts';

export interface MailboxOptions {
  readonly owner: string;
  readonly path: string;
  readonly log: Logger;
  readonly clock: Clock;
  /** Of all mailboxes on this disk. */
  readonly turn: WriteTurn;
  readonly quick: QuickWrites;
  /** What others remember of it. */
  readonly known?: KnownMailbox;
  readonly onProblem: (message: string) => void;
  /** Called first of all once messages are on disk. */
  readonly onAppended: (appended: Appended) => void;
  /** Called once it is on disk. */
  readonly onChange: (change: Omit<MailChange, 'owner'>) => void;
}

/** What is remembered of a mailbox outside its journal: it may lag behind, never lead. */
export interface KnownMailbox {
  readonly nextSeq?: number | undefined;
  readonly unacked?: number | undefined;
}

/** No inbox gets that far; whoever says so is wrong. */
const MAX_SEQ = 2 ** 40;

/** A journal with little to drop is not worth rewriting more often. */
const COMPACT_EVERY_MS = 60 * 60 * 1_000;

export class JournalMailbox implements Mailbox {
  readonly owner: string;
  readonly #options: MailboxOptions;
  readonly #journal: MailJournal;
  readonly #ledger: Ledger;
  readonly #writer: GroupWriter;
  /** Messages on their way to the disk, by the names they would be recognised by. */
  readonly #onTheWay = new Map<string, Promise<Envelope>>();
  readonly #pending = { messages: 0, assignments: 0 };
  /** Acked, and that is on its way to the disk: there is room in their place. */
  readonly #leaving = new Set<Entry>();
  #sweep: Promise<void> | undefined;
  #skip: Promise<void> | undefined;
  #compactedMs = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  private constructor(options: MailboxOptions, journal: MailJournal, ledger: Ledger) {
    this.owner = options.owner;
    this.#options = options;
    this.#journal = journal;
    this.#ledger = ledger;
    this.#writer = new GroupWriter({ journal, ledger, turn: options.turn, onAdded: (messages, jsons) => this.#tell(messages, jsons) });
  }

  static async open(options: MailboxOptions): Promise<JournalMailbox> {
    const journal = openJournal(options);
    try {
      const ledger = new Ledger();
      const { damaged, tornBytes } = await replay(journal, ledger);
      const mailbox = new JournalMailbox(options, journal, ledger);
      if (tornBytes > 0) options.log.info({ owner: options.owner, tornBytes }, 'cut the unfinished end of a mail journal');
      if (damaged.length > 0) await mailbox.#dropDamaged(damaged);
      await mailbox.#missWhatIsKnown(options.known ?? {});
      return mailbox;
    } catch (error) {
      await journal.close();
      throw error;
    }
  }

  get state(): MailboxState {
    return this.#ledger.state;
  }

  // No await before the message is in the queue: messages of one sender keep their order.
  append(draft: Draft, { maxUnacked = MAX_UNACKED }: { readonly maxUnacked?: number } = {}): Promise<Envelope> {
    try {
      const names = namesOf(draft);
      return this.#known(names, draft) ?? this.#accept(draft, names, maxUnacked);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** The message that this one would be again, accepted or on its way. */
  #known(names: readonly string[], { key, message_id }: Draft): Promise<Envelope> | undefined {
    this.#refuseClosed();
    const entry = (key === undefined ? undefined : this.#ledger.byKey(key)) ?? this.#ledger.byId(message_id ?? '');
    if (entry) return Promise.resolve(this.#envelopeOf(entry));
    const name = names.find((name) => this.#onTheWay.has(name));
    return name === undefined ? undefined : this.#onTheWay.get(name);
  }

  #accept(draft: Draft, names: readonly string[], maxUnacked: number): Promise<Envelope> {
    this.#refuseUnfit(draft, maxUnacked);
    const accepted = new Promise<Envelope>((resolve, reject) => {
      const end = () => {
        for (const name of names) this.#onTheWay.delete(name);
      };
      this.#begin(draft, {
        accepted: (message) => {
          end();
          resolve(message);
        },
        refused: (error) => {
          end();
          reject(error);
        },
      });
    });
    for (const name of names) this.#onTheWay.set(name, accepted);
    return accepted;
  }

  put(draft: NamelessDraft, outcome: PutOutcome): void {
    try {
      this.#refuseClosed();
      this.#refuseUnfit(draft, MAX_UNACKED);
      this.#begin(draft, outcome);
    } catch (error) {
      outcome.refused(error);
    }
  }

  #refuseUnfit(draft: Draft, maxUnacked: number): void {
    refuseTooLarge(draft);
    refuseFull(draft, this.#waiting(), maxUnacked);
  }

  #begin(draft: Draft, outcome: PutOutcome): void {
    const kind = isAssignment(draft.message_type) ? 'assignments' : 'messages';
    this.#pending[kind]++;
    this.#writer.put(
      { is: 'message', draft, now: this.#options.clock.now() },
      {
        done: ([entry]) => {
          this.#pending[kind]--;
          if (entry) outcome.accepted(this.#envelopeOf(entry));
          else outcome.refused(new AgentisoError('Internal', 'a message was written but not taken in'));
        },
        failed: (error) => {
          this.#pending[kind]--;
          outcome.refused(error);
        },
      },
    );
  }

  /** Not acked once everything is written that is to be written by now: an ack stands in the journal before whatever comes after it. */
  #waiting(): { readonly messages: number; readonly assignments: number } {
    let { messages, assignments } = this.#ledger.unacked;
    for (const { settled, isAssignment } of this.#leaving) {
      if (settled) continue;
      if (isAssignment) assignments--;
      else messages--;
    }
    return { messages: messages + this.#pending.messages, assignments: assignments + this.#pending.assignments };
  }

  read({ after, limit, isWanted = () => true, unackedOnly = false }: ReadOptions): Envelope[] {
    const found: Envelope[] = [];
    for (const entry of this.#ledger.after(after)) {
      if (found.length >= limit) break;
      if (isTakenBack(entry) || (unackedOnly && entry.settled)) continue;
      const message = this.#envelopeOf(entry);
      if (isWanted(message)) found.push(message);
    }
    return found;
  }

  copies({ limit, isWanted = () => true }: { readonly limit: number; readonly isWanted?: (copy: Copy) => boolean }): Copy[] {
    const found: Copy[] = [];
    const { entries, deliveredSeq } = this.#ledger;
    for (let index = entries.length - 1; index >= 0 && found.length < limit; index--) {
      const entry = entries[index] as Entry;
      const state = copyStateOf(entry, deliveredSeq);
      if (state === undefined) continue;
      const copy = { message: this.#envelopeOf(entry), state };
      if (isWanted(copy)) found.push(copy);
    }
    return found.reverse();
  }

  has(messageId: string): boolean {
    return this.#ledger.byId(messageId) !== undefined;
  }

  async markDelivered(seq: number): Promise<void> {
    this.#refuseClosed();
    if (seq <= this.#ledger.deliveredSeq) return;
    const last = this.#ledger.nextSeq - 1;
    if (!Number.isInteger(seq) || seq > last) {
      throw new InvalidError(`delivered up to ${seq}: the mailbox ${this.owner} has messages up to ${last}`);
    }
    const waiting = this.#ledger.after(this.#ledger.deliveredSeq).filter((entry) => entry.seq <= seq && !entry.settled);
    // The ledger lets go of a message that is seen, which may happen by the same write.
    const arriving = waiting.map((entry) => ({ entry, message: this.#envelopeOf(entry) }));
    await this.#writer.addPatiently({ is: 'delivered', seq });
    const arrived = arriving.filter(({ entry }) => !isTakenBack(entry));
    this.#changed(
      'Delivered',
      arrived.map(({ message }) => message),
    );
  }

  async skipTo(seq: number): Promise<void> {
    this.#refuseClosed();
    await this.#skip;
    if (!Number.isInteger(seq) || seq < this.#ledger.nextSeq || seq > MAX_SEQ) return;
    this.#skip ??= this.#skipTo(seq).finally(() => {
      this.#skip = undefined;
    });
    await this.#skip;
  }

  async #skipTo(seq: number): Promise<void> {
    const { onProblem, clock } = this.#options;
    const last = this.#ledger.nextSeq - 1;
    await this.#writer.add({ is: 'mailbox', nextSeq: seq + 1, deadLetters: 0 });
    const old = this.#ledger.allUnacked().filter((entry) => entry.seq <= last);
    const drafts = old.map((entry) => ({ ...this.#envelopeOf(entry), ...(entry.key !== undefined && { key: entry.key }) }));
    const now = clock.now();
    // Begun together, so that one write holds them: none is there twice, and none is not.
    await Promise.all([
      ...(old.length > 0 ? [this.#writer.add({ is: 'withdrawn', ids: old.map(({ id }) => id), at: toTimestamp(now) })] : []),
      ...drafts.map((draft) => this.#writer.add({ is: 'message', draft, now })),
    ]);
    onProblem(
      `${this.#journal.path} has lost messages: ${seq} were sent before, it knew of ${last}; new ones are numbered from ${seq + 1}`,
    );
  }

  /** A journal that somebody emptied or removed looks like a new one: its numbers would be given again, to messages that nobody takes. */
  async #missWhatIsKnown({ nextSeq = 1, unacked = 0 }: KnownMailbox): Promise<void> {
    if (nextSeq > this.#ledger.nextSeq) return this.skipTo(nextSeq - 1);
    if (unacked > 0 && this.#ledger.nextSeq === 1)
      this.#options.onProblem(`${this.#journal.path} has lost messages: it is empty, and ${unacked} were not seen yet`);
  }

  async ack(messageIds: readonly string[]): Promise<{ readonly unknown: readonly string[] }> {
    await this.#settle('acked', messageIds);
    return { unknown: messageIds.filter((id) => !this.#ledger.byId(id)) };
  }

  async giveUp(messageIds: readonly string[], reason: DeathReason = 'Unacked'): Promise<void> {
    await this.#settle('dead', messageIds, reason);
  }

  async withdraw(key: string): Promise<boolean> {
    this.#refuseClosed();
    // One that is on its way is withdrawn when it has arrived.
    await this.#onTheWay.get(`key ${key}`)?.catch(() => {});
    const entry = this.#ledger.byKey(key);
    if (!entry || entry.settled) return false;
    // An ack that was written before it is what counts.
    return (await this.#settle('withdrawn', [entry.id])) > 0;
  }

  /** Gives the number of those that were not settled otherwise in the meantime. */
  async #settle(as: keyof typeof SETTLED, messageIds: readonly string[], reason?: DeathReason): Promise<number> {
    this.#refuseClosed();
    const entries = [...new Set(messageIds)].flatMap((id) => this.#ledger.byId(id) ?? []).filter(({ settled }) => !settled);
    if (entries.length === 0) return 0;
    // The ledger lets go of a settled message, and somebody else may settle it before us.
    const messages = new Map(entries.map((entry) => [entry.id, this.#envelopeOf(entry)]));
    const at = this.#options.clock.now().toISOString();
    const record = { is: as, ids: entries.map(({ id }) => id), at };
    const settled = await (as === 'acked' ? this.#leave(entries, record) : this.#writer.add(record));
    this.#changed(
      SETTLED[as],
      settled.flatMap(({ id }) => messages.get(id) ?? []),
      reason,
    );
    return settled.length;
  }

  async #leave(entries: readonly Entry[], record: Unnumbered): Promise<readonly Entry[]> {
    for (const entry of entries) this.#leaving.add(entry);
    try {
      return await this.#writer.addPatiently(record);
    } finally {
      for (const entry of entries) this.#leaving.delete(entry);
    }
  }

  /** Gives up what nobody acked in time and drops what nobody reads back. Calls that come while one is under way share it. */
  sweep(): Promise<void> {
    this.#sweep ??= this.#clean().finally(() => {
      this.#sweep = undefined;
    });
    return this.#sweep;
  }

  async #clean(): Promise<void> {
    if (this.#isClosed) return;
    const nowMs = this.#options.clock.now().getTime();
    await this.giveUp(this.#ledger.overdue(nowMs).map(({ id }) => id));
    if (nowMs - this.#compactedMs < COMPACT_EVERY_MS || this.#ledger.expired(nowMs).length === 0) return;
    await this.#compact(nowMs);
    this.#compactedMs = nowMs;
  }

  #compact(nowMs: number): Promise<void> {
    return compact({ journal: this.#journal, ledger: this.#ledger, writer: this.#writer }, nowMs);
  }

  /** Messages that nobody has acked, for whoever removes the mailbox. */
  unacked(): Envelope[] {
    return this.#ledger.allUnacked().map((entry) => this.#envelopeOf(entry));
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#sweep?.catch(() => {
      // Told to whoever asked for it.
    });
    await this.#writer.settled();
    await this.#journal.close();
  }

  #refuseClosed(): void {
    if (this.#isClosed) throw new UnavailableError(`the mailbox ${this.owner} is closed`, { reason: 'MailboxClosed' });
  }

  #envelopeOf(entry: Entry): Envelope {
    if (entry.envelope) return entry.envelope;
    const record = decodeRecord(this.#journal.read(entry.line));
    if (record?.is !== 'message') throw new AgentisoError('IoError', `${this.#journal.path} is damaged at byte ${entry.line.offset}`);
    return freezeJson(record.message);
  }

  #changed(state: MailChange['state'], messages: readonly Envelope[], reason?: DeathReason): void {
    if (messages.length > 0) this.#options.onChange({ state, messages, ...(reason !== undefined && { reason }) });
  }

  #tell(messages: readonly Envelope[], jsons: readonly string[]): void {
    this.#options.onAppended({ owner: this.owner, nextSeq: this.#ledger.nextSeq, messages, jsons });
    this.#changed('Accepted', messages);
  }

  async #dropDamaged(damaged: Parameters<typeof setAside>[1]): Promise<void> {
    const { onProblem, log, clock } = this.#options;
    const what = `${damaged.length} damaged ${damaged.length === 1 ? 'line' : 'lines'} of ${this.#journal.path}`;
    try {
      const path = await setAside(this.#journal, damaged);
      await this.#compact(clock.now().getTime());
      onProblem(`${what} set aside in ${path}; everything else is served`);
    } catch (error) {
      // Read again, and reported again, at the next start.
      log.error({ err: error, owner: this.owner }, 'could not set the damaged lines of a mail journal aside');
      onProblem(`${what} ignored; setting them aside failed: ${messageOf(error)}`);
    }
  }
}

function openJournal(options: MailboxOptions): MailJournal {
  try {
    return MailJournal.open(options.path, options.quick);
  } catch (error) {
    if (!isFolder(error)) throw unavailable(error);
  }
  return openInItsPlace(options);
}

/** One folder in the place of a journal is no reason to refuse all mail of a team. It is nothing of ours, and stays as it is. */
function openInItsPlace({ path, quick, clock, onProblem }: MailboxOptions): MailJournal {
  const aside = `${path}.aside-${clock.now().getTime()}`;
  try {
    renameSync(path, aside);
    const journal = MailJournal.open(path, quick);
    onProblem(`${path} was a folder; it was set aside as ${aside}, and the mailbox begins anew`);
    return journal;
  } catch (error) {
    throw unavailable(error);
  }
}

const SETTLED = { acked: 'Seen', withdrawn: 'Withdrawn', dead: 'DeadLetter' } as const;

/** Such a message is never handed out again. */
function isTakenBack({ settled }: Entry): boolean {
  return settled?.as === 'dead' || settled?.as === 'withdrawn';
}
