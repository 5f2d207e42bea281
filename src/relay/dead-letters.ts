/** A message that was given up: an Event for people, and word to the sender, if that is still there. */
import type { KindObject } from '#api/meta.ts';
import type { Logger } from '#lib/log.ts';
import type { DeathReason, Envelope, Mail } from '#mail/mail.ts';
import type { Notices } from './notices.ts';
import { SYSTEM } from './principal.ts';
import { toAddress } from './roster.ts';

export interface DeadLettersDeps {
  readonly mail: Pick<Mail, 'onChange'>;
  readonly notices: Notices;
  /** The Agent or Team whose mailbox it is. */
  readonly ownerByUid: (uid: string) => KindObject | undefined;
  readonly warn: (object: KindObject, reason: string, message: string) => void;
  readonly log: Logger;
}

const WHY: Readonly<Record<DeathReason, string>> = {
  Unacked: 'nobody acknowledged it for 24 hours',
  MadeRoom: 'the inbox was full and it gave way to newer messages',
  RecipientGone: 'the recipient is gone',
};

/** Gives how to stop. */
export function followDeadLetters({ mail, notices, ownerByUid, warn, log }: DeadLettersDeps): () => void {
  return mail.onChange(({ owner, state, messages, reason = 'Unacked' }) => {
    if (state !== 'DeadLetter') return;
    const object = ownerByUid(owner);
    for (const message of messages) {
      if (object) warn(object, 'DeadLetter', `a ${message.message_type} from ${message.from} was given up: ${WHY[reason]}`);
      tellSender(notices, owner, message, reason).catch((error: unknown) => {
        log.warn({ err: error, messageId: message.message_id }, 'could not tell a sender that its message was given up');
      });
    }
  });
}

/** The controllers look at objects, not at mail. */
async function tellSender(notices: Notices, owner: string, message: Envelope, reason: DeathReason): Promise<void> {
  if (message.from === SYSTEM) return;
  const { place, name } = toAddress({ namespace: message.namespace, team: message.team }, message.from);
  await notices.tell({
    ...place,
    to: name,
    type: 'response',
    content: `your ${message.message_type} to ${message.to} was given up: ${WHY[reason]}`,
    metadata: { state: 'DeadLetter', reason },
    replyTo: message.message_id,
    ...(message.request_id !== undefined && { requestId: message.request_id }),
    key: `dead/${message.message_id}/${owner}`,
  });
}
