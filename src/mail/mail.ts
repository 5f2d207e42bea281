/** The contract of the mail room: one durable mailbox per agent, and one per team for its people. */

import type { Envelope } from '#protocol/relay.ts';

export type { Envelope, MessageType } from '#protocol/relay.ts';

/** What a sender gives; id, seq and timestamp are the mailbox's to set. */
export type Draft = Omit<Envelope, 'message_id' | 'seq' | 'timestamp'> & {
  /** Broadcast copies share one. */
  readonly message_id?: string;
  /** A second message with the same key is the first one again: for senders that may crash between sending and remembering. */
  readonly key?: string;
};

/** By nothing of it a second one would be known to be the first again. */
export type NamelessDraft = Omit<Draft, 'message_id' | 'key'>;

export interface PutOutcome {
  /** It is on disk. */
  accepted(message: Envelope): void;
  refused(error: unknown): void;
}

/** How far one copy is: on the host's disk, on the guest's, acknowledged, or given up. */
export type CopyState = 'Accepted' | 'Delivered' | 'Seen' | 'DeadLetter';

export interface Copy {
  readonly message: Envelope;
  readonly state: CopyState;
}

/** Why a message was given up: nobody acked it in time, it gave way to others in a full mailbox, or the mailbox was removed. */
export type DeathReason = 'Unacked' | 'MadeRoom' | 'RecipientGone';

/** Something of a mailbox is different from now on, and that is on disk. */
export interface MailChange {
  readonly owner: string;
  /** Withdrawn: on purpose, as if it had never been sent. */
  readonly state: CopyState | 'Withdrawn';
  readonly messages: readonly Envelope[];
  /** Of dead letters. */
  readonly reason?: DeathReason;
}

/** Messages that one write has put into a mailbox. */
export interface Appended {
  readonly owner: string;
  /** Of the mailbox, behind them. */
  readonly nextSeq: number;
  readonly messages: readonly Envelope[];
  /** Of each of them, as it was written: for whoever passes them on. */
  readonly jsons: readonly string[];
}

export interface ReadOptions {
  readonly after: number;
  readonly limit: number;
  readonly isWanted?: (message: Envelope) => boolean;
  /** Leaves out what was acked and is only kept for reading back. */
  readonly unackedOnly?: boolean;
}

export interface MailboxState {
  readonly nextSeq: number;
  readonly deliveredSeq: number;
  readonly ackedSeq: number;
  readonly unacked: number;
  readonly oldestUnackedAt?: string;
  readonly deadLetters: number;
}

export interface Mailbox {
  readonly owner: string;
  readonly state: MailboxState;
  /**
   * Accepted when it resolves: on disk. Rejects with InboxFull (100 unacked, or as many as `maxUnacked`), TooLarge (content and metadata
   * over 256 KiB) or Unavailable (the disk). Concurrent calls are written together, in the order they came.
   */
  append(draft: Draft, options?: { readonly maxUnacked?: number }): Promise<Envelope>;
  /** The same for one of many, without a promise for each: `outcome` is told once. For drafts that nobody would recognise. */
  put(draft: NamelessDraft, outcome: PutOutcome): void;
  /** Messages after `seq`, in order, at most `limit`. Consumes nothing. */
  read(options: ReadOptions): Envelope[];
  /** The newest ones, at most `limit`, with their states, oldest of them first. Withdrawn ones are left out. Changes nothing. */
  copies(options: { readonly limit: number; readonly isWanted?: (copy: Copy) => boolean }): Copy[];
  /** Whether there is, or was in the last 24 hours, a message with this id. */
  has(messageId: string): boolean;
  /** The guest has stored everything up to `seq`: durable when it resolves. */
  markDelivered(seq: number): Promise<void>;
  /** Its agent has messages up to `seq`: where the journal knows of fewer it was lost, and goes on behind them, with all that is unsettled. */
  skipTo(seq: number): Promise<void>;
  /** Durable when it resolves. Unknown ids are given back. */
  ack(messageIds: readonly string[]): Promise<{ readonly unknown: readonly string[] }>;
  /** Never handed out by read again, and no longer counted; durable when it resolves. False: there is none, or it was settled before. */
  withdraw(key: string): Promise<boolean>;
  /** Gives messages up before their time, as dead letters; durable when it resolves. */
  giveUp(messageIds: readonly string[], reason?: DeathReason): Promise<void>;
}

export interface Mail {
  /** Opening is idempotent: the same mailbox for the same owner (the uid of an Agent; of a Team for its people). */
  open(owner: string): Promise<Mailbox>;
  /** The same without a wait, for whoever has something better to do: undefined while it is not open yet. */
  opened(owner: string): Mailbox | undefined;
  /** Removes the journal. */
  remove(owner: string): Promise<void>;
  /** Those that anything was ever written for. */
  owners(): Promise<string[]>;
  /** Changes of all mailboxes, in the order they became durable per mailbox. Returns the unsubscribe function. */
  onChange(listener: (change: MailChange) => void): () => void;
  close(): Promise<void>;
}
