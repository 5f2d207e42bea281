/** What a mailbox takes, and how long it keeps it. */
import { AgentisoError } from '#lib/errors.ts';
import type { Draft, MessageType } from './mail.ts';

export const MAX_UNACKED = 100;
/** Of a mailbox that people read: nobody may be kept from asking for help by somebody who is asleep. */
export const MAX_UNSEEN_BY_PEOPLE = 10_000;
/** Work handed out by the system is no inbox content: it neither fills the inbox nor is kept out by a full one. */
export const MAX_UNACKED_ASSIGNMENTS = 100;
export const MAX_MESSAGE_BYTES = 262_144;
/** An acked message can be read back for so long; an unacked one is given up after the same time. */
export const KEPT_MS = 24 * 60 * 60 * 1_000;
export const FULL_RETRY_AFTER_MS = 1_000;

/** Retryable: whoever reads the inbox makes room. */
export class InboxFullError extends AgentisoError {
  constructor(to: string, what: string) {
    super('InboxFull', `the inbox of ${to} is full: ${what} are not acked yet`, {
      hint: `try again in ${FULL_RETRY_AFTER_MS / 1_000} s; there is room as soon as a message is acked`,
      retryAfterMs: FULL_RETRY_AFTER_MS,
    });
  }
}

export function refuseTooLarge({ to, content, metadata }: Draft): void {
  let bytes = Buffer.byteLength(content);
  for (const [name, value] of Object.entries(metadata ?? {})) bytes += Buffer.byteLength(name) + Buffer.byteLength(value);
  if (bytes <= MAX_MESSAGE_BYTES) return;
  throw new AgentisoError(
    'TooLarge',
    `a message to ${to} has ${bytes} bytes of content and metadata; at most ${MAX_MESSAGE_BYTES} are accepted`,
    {
      hint: 'put the text into a file of the workspace and send its path',
    },
  );
}

/** `waiting` counts those that are not acked, on disk or on their way to it. */
export function refuseFull(
  { to, message_type }: Draft,
  waiting: { readonly messages: number; readonly assignments: number },
  maxUnacked: number,
): void {
  if (isAssignment(message_type)) {
    if (waiting.assignments >= MAX_UNACKED_ASSIGNMENTS) throw new InboxFullError(to, `${MAX_UNACKED_ASSIGNMENTS} task assignments`);
  } else if (waiting.messages >= maxUnacked) throw new InboxFullError(to, `${maxUnacked} messages`);
}

export function isAssignment(type: MessageType): boolean {
  return type === 'task_assignment';
}
