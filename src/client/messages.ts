/** `/messages` of our own daemon, typed: what people send, read, acknowledge, and decide about plans. */
import type { Connection } from './connection.ts';
import { askDesk, deskLines } from './desk.ts';

/** A message as it lies in one inbox. */
export interface FiledMessage {
  readonly message: {
    readonly message_id: string;
    readonly namespace: string;
    readonly team: string;
    readonly from: string;
    readonly to: string;
    readonly message_type: string;
    readonly content: string;
    readonly timestamp: string;
    readonly metadata?: Readonly<Record<string, string>>;
    readonly reply_to?: string;
    readonly request_id?: string;
  };
  readonly state: 'Accepted' | 'Delivered' | 'Seen' | 'DeadLetter';
  /** `<team>/<short name>`, or `<team>/orchestrator` for people. */
  readonly inbox: string;
}

export interface MessageFilter {
  readonly namespace: string;
  readonly team?: string | undefined;
  /** Short name of an agent, `lead`, or `orchestrator` for people. */
  readonly inbox?: string | undefined;
  readonly from?: string | undefined;
  readonly type?: string | undefined;
  readonly requestId?: string | undefined;
  readonly unseen?: boolean | undefined;
  readonly limit?: number | undefined;
}

export interface NewMessage {
  readonly namespace: string;
  readonly team: string;
  readonly to: string;
  readonly content: string;
  readonly type?: string | undefined;
  readonly replyTo?: string | undefined;
  readonly requestId?: string | undefined;
}

export interface MessageReceipt {
  readonly messageId: string;
  /** Every copy is on its agent's disk already. */
  readonly delivered: boolean;
  readonly accepted: readonly string[];
  readonly failed: readonly { readonly agent: string; readonly code: string; readonly message: string }[];
}

export interface PlanDecision {
  readonly namespace: string;
  readonly team: string;
  readonly task: string;
  readonly approved: boolean;
  readonly feedback?: string | undefined;
}

/** The inbox of the people who run a team. */
export const PEOPLE = 'orchestrator';

export interface Asking {
  readonly connection: Connection;
  readonly signal: AbortSignal;
}

/** Newest last. */
export async function readMessages({ connection, signal }: Asking, filter: MessageFilter): Promise<readonly FiledMessage[]> {
  const call = { method: 'GET', path: '/messages', query: { ...filter }, signal } as const;
  return (await askDesk<{ items: readonly FiledMessage[] }>(connection, call)).items;
}

/** Oldest first: for whoever puts away what it has read, and then reads on. */
export async function readOldest(asking: Asking, filter: MessageFilter): Promise<readonly FiledMessage[]> {
  const { connection, signal } = asking;
  const call = { method: 'GET', path: '/messages', query: { ...filter, order: 'oldest' }, signal } as const;
  return (await askDesk<{ items: readonly FiledMessage[] }>(connection, call)).items;
}

/** What is there, then every change, until the signal. */
export function followMessages({ connection, signal }: Asking, filter: MessageFilter): AsyncIterable<FiledMessage> {
  return deskLines<FiledMessage>(connection, { method: 'GET', path: '/messages/follow', query: { ...filter }, signal });
}

export function sendMessage({ connection, signal }: Asking, body: NewMessage): Promise<MessageReceipt> {
  return askDesk(connection, { method: 'POST', path: '/messages', body, signal });
}

export function acknowledgeMessages(
  { connection, signal }: Asking,
  body: { readonly namespace: string; readonly team: string; readonly messageIds: readonly string[]; readonly inbox?: string },
): Promise<{ readonly unknown: readonly string[] }> {
  return askDesk(connection, { method: 'POST', path: '/messages/ack', body, signal });
}

export function decidePlan({ connection, signal }: Asking, body: PlanDecision): Promise<{ readonly status: string }> {
  return askDesk(connection, { method: 'POST', path: '/messages/plan', body, signal });
}
