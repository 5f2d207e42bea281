/** From what a sender gives to what is written. Pure. */
import type { Draft, Envelope } from './mail.ts';
import { uuidV7 } from './uuid.ts';

/** By what a second one would be recognised. */
export function namesOf({ key, message_id }: Draft): string[] {
  return [...(key === undefined ? [] : [`key ${key}`]), ...(message_id === undefined ? [] : [`id ${message_id}`])];
}

/** Field by field: whatever else a draft carries does not belong into a message. */
export function messageOfDraft(draft: Draft, now: Date): Omit<Envelope, 'seq'> {
  const { message_id = uuidV7(now.getTime()), namespace, team, from, from_incarnation, to, message_type, content } = draft;
  const { metadata, request_id, reply_to } = draft;
  return {
    message_id,
    namespace,
    team,
    from,
    ...(from_incarnation !== undefined && { from_incarnation }),
    to,
    message_type,
    content,
    ...(metadata !== undefined && { metadata: Object.freeze({ ...metadata }) }),
    ...(request_id !== undefined && { request_id }),
    ...(reply_to !== undefined && { reply_to }),
    timestamp: now.toISOString(),
  };
}
