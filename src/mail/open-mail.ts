/** All mailboxes of one folder, one journal each. One process at a time: the home's lock is held by whoever calls this. */
import { chmodSync, mkdirSync } from 'node:fs';
import { access, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Clock, systemClock } from '#lib/clock.ts';
import { InvalidError, UnavailableError } from '#lib/errors.ts';
import type { Logger } from '#lib/log.ts';
import { QuickWrites } from '#lib/quick-writes.ts';
import { removeUnfinished } from './compact.ts';
import { missingIsUndefined, syncDirectory } from './journal.ts';
import type { Appended, DeathReason, Envelope, Mail, MailChange } from './mail.ts';
import { JournalMailbox, type KnownMailbox } from './mailbox.ts';
import { WriteTurn } from './write-turn.ts';

export interface MailProblem {
  readonly owner: string;
  readonly reason: 'JournalCorrupt';
  readonly message: string;
}

export interface DeadLetter {
  readonly owner: string;
  readonly reason: DeathReason;
  readonly message: Envelope;
}

export interface MailOptions {
  readonly directory: string;
  readonly log: Logger;
  readonly clock?: Clock;
  /** What is remembered of a mailbox elsewhere; undefined: nothing is, or it no longer counts. */
  readonly known?: (owner: string) => KnownMailbox | undefined;
  /**
   * Called in the moment in which messages are on disk, before anybody else hears of them, the sender included: whoever is to read them may
   * be waiting.
   */
  readonly onAppended?: (appended: Appended) => void;
  readonly onProblem?: (problem: MailProblem) => void;
  readonly onDeadLetter?: (letter: DeadLetter) => void;
}

export interface OpenMail extends Mail {
  open(owner: string): Promise<JournalMailbox>;
  /** What happens every minute by itself: old messages are given up or dropped. */
  sweep(): Promise<void>;
}

const SWEEP_EVERY_MS = 60_000;
const SWEPT_IN_A_ROW = 32;
const OWNER = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const SUFFIX = '.jsonl';

export function openMail(options: MailOptions): OpenMail {
  mkdirSync(options.directory, { recursive: true, mode: 0o700 });
  chmodSync(options.directory, 0o700);
  removeUnfinished(options.directory);
  return new Mailboxes(options);
}

class Mailboxes implements OpenMail {
  readonly #options: MailOptions;
  readonly #open = new Map<string, Promise<JournalMailbox>>();
  /** Those of them that are open by now. */
  readonly #opened = new Map<string, JournalMailbox>();
  readonly #removals = new Map<string, Promise<void>>();
  readonly #listeners = new Set<(change: MailChange) => void>();
  readonly #turn = new WriteTurn();
  readonly #quick = new QuickWrites();
  readonly #timer: NodeJS.Timeout;
  #isClosed = false;

  constructor(options: MailOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.sweep(), SWEEP_EVERY_MS).unref();
  }

  // The same promise each time: this is asked with every message.
  open(owner: string): Promise<JournalMailbox> {
    const known = this.#isClosed ? undefined : this.#open.get(owner);
    return known ?? this.#openFirst(owner);
  }

  opened(owner: string): JournalMailbox | undefined {
    return this.#isClosed ? undefined : this.#opened.get(owner);
  }

  async #openFirst(owner: string): Promise<JournalMailbox> {
    if (this.#isClosed) throw new UnavailableError('mail is closed', { reason: 'MailClosed' });
    refuseBadOwner(owner);
    const opening = (this.#removals.get(owner) ?? Promise.resolve()).then(() => this.#openJournal(owner));
    this.#open.set(owner, opening);
    opening.then(
      (mailbox) => this.#open.get(owner) === opening && this.#opened.set(owner, mailbox),
      // The next one to ask tries again.
      () => this.#open.get(owner) === opening && this.#open.delete(owner),
    );
    return opening;
  }

  #openJournal(owner: string): Promise<JournalMailbox> {
    const { log, clock = systemClock, known, onProblem } = this.#options;
    const remembered = known?.(owner);
    return JournalMailbox.open({
      owner,
      path: this.#path(owner),
      log,
      clock,
      turn: this.#turn,
      quick: this.#quick,
      ...(remembered && { known: remembered }),
      onProblem: (message) => onProblem?.({ owner, reason: 'JournalCorrupt', message }),
      onAppended: (appended) => this.#passOn(appended),
      onChange: (change) => this.#tell({ owner, ...change }),
    });
  }

  onChange(listener: (change: MailChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #passOn(appended: Appended): void {
    try {
      this.#options.onAppended?.(appended);
    } catch (error) {
      // It is accepted, whatever somebody who wanted to hear of it makes of it.
      this.#options.log.error({ err: error, owner: appended.owner }, 'messages were not passed on');
    }
  }

  #tell(change: MailChange): void {
    const { log, onDeadLetter } = this.#options;
    const { owner, state, messages, reason = 'Unacked' } = change;
    if (state === 'DeadLetter') {
      // Whoever is deleted takes its mail along: that is as it should be.
      const level = reason === 'RecipientGone' ? 'debug' : 'warn';
      for (const message of messages) {
        log[level]({ owner, messageId: message.message_id, from: message.from, reason }, 'gave up a message');
        onDeadLetter?.({ owner, reason, message });
      }
    }
    for (const listener of this.#listeners) {
      try {
        listener(change);
      } catch (error) {
        // It is on disk, whatever somebody who wanted to hear of it makes of it.
        log.error({ err: error, owner }, 'a listener of the mail failed');
      }
    }
  }

  async remove(owner: string): Promise<void> {
    refuseBadOwner(owner);
    const before = this.#removals.get(owner) ?? Promise.resolve();
    const opened = this.#open.get(owner);
    this.#open.delete(owner);
    this.#opened.delete(owner);
    const removal = before
      .then(() => this.#remove(owner, opened))
      .finally(() => this.#removals.get(owner) === removal && this.#removals.delete(owner));
    this.#removals.set(owner, removal);
    return removal;
  }

  async #remove(owner: string, opened: Promise<JournalMailbox> | undefined): Promise<void> {
    const path = this.#path(owner);
    const lost = await this.#unackedOf(owner, opened);
    for (const file of [path, `${path}.corrupt`, `${path}.new`]) await rm(file, { force: true, recursive: true });
    await syncDirectory(this.#options.directory);
    if (lost.length > 0) this.#tell({ owner, state: 'DeadLetter', messages: lost, reason: 'RecipientGone' });
  }

  /** What is lost with the mailbox. One that cannot be read is removed all the same. */
  async #unackedOf(owner: string, opened: Promise<JournalMailbox> | undefined): Promise<readonly Envelope[]> {
    try {
      const exists = await access(this.#path(owner)).then(() => true, missingIsUndefined);
      if (!exists && !opened) return [];
      const mailbox = await (opened ?? this.#openJournal(owner));
      const lost = mailbox.unacked();
      await mailbox.close();
      return lost;
    } catch (error) {
      this.#options.log.warn({ err: error, owner }, 'removing a mailbox that cannot be read');
      return [];
    }
  }

  async owners(): Promise<string[]> {
    const names = await readdir(this.#options.directory);
    return names
      .filter((name) => name.endsWith(SUFFIX))
      .map((name) => name.slice(0, -SUFFIX.length))
      .filter((owner) => OWNER.test(owner))
      .sort();
  }

  async sweep(): Promise<void> {
    let count = 0;
    for (const [owner, opening] of this.#open) {
      try {
        await (await opening).sweep();
      } catch (error) {
        this.#options.log.warn({ err: error, owner }, 'could not sweep a mailbox; trying again in a minute');
      }
      // Most have nothing to do, which takes no time off; a thousand of them would hold up everything else.
      if (++count % SWEPT_IN_A_ROW === 0) await nextTurn();
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await Promise.allSettled(this.#removals.values());
    for (const [owner, opening] of this.#open) {
      try {
        await (await opening).close();
      } catch (error) {
        this.#options.log.warn({ err: error, owner }, 'could not close a mailbox cleanly');
      }
    }
    this.#open.clear();
    this.#opened.clear();
  }

  #path(owner: string): string {
    return join(this.#options.directory, `${owner}${SUFFIX}`);
  }
}

function refuseBadOwner(owner: string): void {
  if (OWNER.test(owner)) return;
  throw new InvalidError(
    `mailbox ${JSON.stringify(owner)}: an owner has up to 128 letters, digits, dots, dashes and underscores, and begins with a letter or digit`,
  );
}
