/** From an inbox to its mailbox: what is accepted is on disk. Whoever reads there is told by the mail itself. */
import { type ErrorCode, isCode } from '#lib/errors.ts';
import { MAX_UNSEEN_BY_PEOPLE } from '#mail/limits.ts';
import type { Draft, Envelope, Mail, Mailbox } from '#mail/mail.ts';
import type { Inbox } from './roster.ts';

export interface DeliveryDeps {
  readonly mail: Mail;
}

/** One copy in one inbox. */
export interface Filed {
  readonly message: Envelope;
  /** The guest has it on its disk already. */
  readonly isDelivered: boolean;
}

/** What a message says, without the inbox it goes to. */
export type Words = Omit<Draft, 'namespace' | 'team'>;

/**
 * Resolves when the message has its place among those on their way to this inbox; `filed` when it is on disk. Two that are begun one after
 * the other are written in that order.
 */
export async function beginDelivery({ mail }: DeliveryDeps, inbox: Inbox, words: Words): Promise<{ readonly filed: Promise<Filed> }> {
  const mailbox = await mail.open(inbox.owner);
  const draft: Draft = { ...words, namespace: inbox.namespace, team: inbox.team };
  const appended = inbox.agent ? mailbox.append(draft) : appendForPeople(mailbox, draft);
  const filed = appended.then((message): Filed => ({ message, isDelivered: mailbox.state.deliveredSeq >= message.seq }));
  // Whoever began it may look at other things first.
  filed.catch(() => {});
  return { filed };
}

/** Nobody is kept from asking for help by people who are asleep: news of the past give way, oldest first. */
function appendForPeople(mailbox: Mailbox, draft: Draft): Promise<Envelope> {
  const append = () => mailbox.append(draft, { maxUnacked: MAX_UNSEEN_BY_PEOPLE });
  return append().catch(async (error: unknown) => {
    if (!isCode(error, 'InboxFull' satisfies ErrorCode)) throw error;
    const isNews = ({ message_type }: Envelope) => message_type === 'status_update';
    const [oldest] = mailbox.read({ after: 0, limit: 1, unackedOnly: true, isWanted: isNews });
    if (!oldest) throw error;
    await mailbox.giveUp([oldest.message_id], 'MadeRoom');
    return append();
  });
}
