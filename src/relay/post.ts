/** The contract of sending and reading messages, for every front door: the relay of agents, the API of people, later the tools. */
import type { CopyState } from '#mail/mail.ts';
import type { Envelope, MessageType } from '#protocol/relay.ts';
import type { Principal } from './principal.ts';

export interface Letter {
  /** The team of the speaker; for an operator the team it writes to. */
  readonly namespace: string;
  readonly team: string;
  /** Short or full name, `<team>/<agent>`, `lead`, `orchestrator`, or `*`. */
  readonly to: string;
  readonly content: string;
  readonly type?: MessageType;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly replyTo?: string;
  readonly requestId?: string;
  /** A peer that handed it in to the speaker; taken for mail to the speaker itself only, and the mail says who handed it on. */
  readonly from?: string;
}

/** What became of it: one entry per inbox. */
export interface Receipt {
  readonly messageId: string;
  /** Addresses that have it on disk. */
  readonly accepted: readonly string[];
  readonly failed: readonly { readonly agent: string; readonly code: string; readonly message: string }[];
  /** Every copy is on its guest's disk already. */
  readonly delivered: boolean;
}

/** What became of one of several letters of one sender. */
export type Posted = Pick<Receipt, 'messageId' | 'delivered'> | { readonly error: unknown };

export interface FiledMessage {
  readonly message: Envelope;
  readonly state: CopyState;
  /** `<team>/<short name>`, or `<team>/orchestrator`: whose inbox this copy is in. */
  readonly inbox: string;
}

export interface MessageQuery {
  readonly namespace: string;
  readonly team?: string;
  /** Short name of an agent, `lead` or `orchestrator`: only this inbox. */
  readonly inbox?: string;
  readonly from?: string;
  readonly type?: MessageType;
  readonly requestId?: string;
  /** Only those that nobody has seen. */
  readonly unseen?: boolean;
  readonly limit: number;
}

export interface Post {
  /**
   * On disk when it resolves. Rejects with NotFound, Forbidden or Invalid before anything is written, InboxFull or TooLarge for a single
   * recipient. Of a broadcast some copies may fail; only when all do it rejects.
   */
  send(principal: Principal, letter: Letter): Promise<Receipt>;
  /**
   * The same for several of one sender, as if they were sent one after the other: what one is refused for is told in its place. Resolves
   * when the last of them is on disk or refused; rejects only where the sender may not speak at all.
   */
  sendAll(principal: Principal, letters: readonly Letter[]): Promise<readonly Posted[]>;
  /** Newest last, at most `limit` of the newest; changes nothing. Task assignments are left out. */
  read(principal: Principal, query: MessageQuery): Promise<FiledMessage[]>;
  /** As they are accepted, delivered, seen or given up, after what `read` gives at this moment; ends when the signal aborts. */
  follow(principal: Principal, query: Omit<MessageQuery, 'limit'>, signal: AbortSignal): AsyncIterable<FiledMessage>;
  /** By the owner of the inbox: an operator for a team's `orchestrator`. Unknown ids are given back. */
  acknowledge(
    principal: Principal,
    inbox: { readonly namespace: string; readonly team: string; readonly inbox: string },
    messageIds: readonly string[],
  ): Promise<{ readonly unknown: readonly string[] }>;
}
