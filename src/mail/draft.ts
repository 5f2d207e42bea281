/** From what a sender gives to what is written. Pure. */
import { toTimestamp } from '#lib/clock.ts';
import type { Draft, Envelope } from './mail.ts';
import { uuidV7 } from './uuid.ts';

/** By what a second one would be recognised. */
export function namesOf({ key, message_id }: Draft): string[] {
  return [...(key === undefined ? [] : [`key ${key}`]), ...(message_id === undefined ? [] : [`id ${message_id}`])];
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Field by field: whatever else a draft carries does not belong into a message. */
export function messageOfDraft(draft: Draft, now: Date, seq: number): Envelope {
  const { message_id = uuidV7(now.getTime()), from_incarnation, metadata, request_id, reply_to } = draft;
  const { namespace, team, from, to, message_type, content } = draft;
  const message: Writable<Envelope> = { message_id, seq, namespace, team, from, to, message_type, content, timestamp: toTimestamp(now) };
  // One by one and not spread: this is done for every message.
  if (from_incarnation !== undefined) message.from_incarnation = from_incarnation;
  if (metadata !== undefined) message.metadata = Object.freeze({ ...metadata });
  if (request_id !== undefined) message.request_id = request_id;
  if (reply_to !== undefined) message.reply_to = reply_to;
  return message;
}
