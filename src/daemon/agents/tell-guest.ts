/** From a mailbox to the guest of its agent: what is on disk here is said there at once, if it is connected. */
import type { Sessions } from '#guest/sessions.ts';
import type { Appended } from '#mail/mail.ts';

export function tellGuest(sessions: Pick<Sessions, 'get'>, { owner, nextSeq, messages, jsons }: Appended): void {
  sessions.get(owner)?.hint(nextSeq, messages, jsons);
}
