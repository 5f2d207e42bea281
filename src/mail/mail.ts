/** The contract of the mail room: one durable mailbox per agent. */

import type { Envelope } from '#protocol/relay.ts';

export type { Envelope, MessageType } from '#protocol/relay.ts';

/** What a sender gives; id, seq and timestamp are the mailbox's to set. */
export type Draft = Omit<Envelope, 'message_id' | 'seq' | 'timestamp'> & {
  /** Broadcast copies share one. */
  readonly message_id?: string;
  /** A second message with the same key is the first one again: for senders that may crash between sending and remembering. */
  readonly key?: string;
};

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
   * Accepted when it resolves: on disk. Rejects with InboxFull (100 unacked), TooLarge (content and metadata over 256 KiB) or Unavailable
   * (the disk). Concurrent calls are written together, in the order they came.
   */
  append(draft: Draft): Promise<Envelope>;
  /** Messages after `seq`, in order, at most `limit`. Consumes nothing. */
  read(options: { readonly after: number; readonly limit: number; readonly isWanted?: (message: Envelope) => boolean }): Envelope[];
  /** The guest has stored everything up to `seq`: durable when it resolves. */
  markDelivered(seq: number): Promise<void>;
  /** Durable when it resolves. Unknown ids are given back. */
  ack(messageIds: readonly string[]): Promise<{ readonly unknown: readonly string[] }>;
  /** Never handed out by read again, and no longer counted; durable when it resolves. False: there is none, or it was settled before. */
  withdraw(key: string): Promise<boolean>;
  /** Called after each append is durable. Returns the unsubscribe function. */
  onAppend(listener: (message: Envelope) => void): () => void;
}

export interface Mail {
  /** Opening is idempotent: the same mailbox for the same owner (an Agent's uid). */
  open(owner: string): Promise<Mailbox>;
  /** Removes the journal. */
  remove(owner: string): Promise<void>;
  owners(): Promise<string[]>;
  close(): Promise<void>;
}
