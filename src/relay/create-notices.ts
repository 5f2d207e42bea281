/** What controllers say, as messages from `system`. */
import type { Client } from '#client/client.ts';
import { isCode } from '#lib/errors.ts';
import type { Logger } from '#lib/log.ts';
import { beginDelivery, type DeliveryDeps, type Words } from './delivery.ts';
import type { Notice, Notices } from './notices.ts';
import { EVERYBODY, SYSTEM } from './principal.ts';
import { type Inbox, inboxOf, Roster, type TeamName } from './roster.ts';

export interface NoticesDeps extends DeliveryDeps {
  readonly client: Client;
  readonly log: Logger;
}

export function createNotices(deps: NoticesDeps): Notices {
  const roster = new Roster(deps.client);
  return {
    async tell(notice) {
      const inboxes = await inboxesOf(roster, notice);
      const filed = await Promise.allSettled(inboxes.map(async (inbox) => (await beginDelivery(deps, inbox, toWords(notice))).filed));
      for (const [index, result] of filed.entries()) {
        if (result.status === 'fulfilled') continue;
        if (!isCode(result.reason, 'InboxFull') && !isCode(result.reason, 'TooLarge')) throw result.reason;
        const { team, name } = inboxes[index] as Inbox;
        deps.log.warn({ err: result.reason, inbox: `${team}/${name}`, type: notice.type, key: notice.key }, 'a notice was not taken');
      }
    },
    async withdraw(notice) {
      for (const { owner } of await inboxesOf(roster, notice)) await (await deps.mail.open(owner)).withdraw(keyOf(notice));
    },
  };
}

/** Apart from the keys of others in the same mailbox. */
function keyOf({ key }: Pick<Notice, 'key'>): string {
  return `notice ${key}`;
}

/** None for somebody who is not there. */
async function inboxesOf(roster: Roster, { to, except, ...place }: TeamName & Pick<Notice, 'to' | 'except'>): Promise<Inbox[]> {
  if (to === EVERYBODY) return (await roster.agentsOf(place)).map(inboxOf).filter(({ name }) => name !== except);
  const inbox = await roster.inbox(place, to).catch((error: unknown) => {
    if (isCode(error, 'NotFound')) return undefined;
    throw error;
  });
  return inbox ? [inbox] : [];
}

function toWords(notice: Notice): Words {
  const { to, type, content, metadata, requestId, replyTo } = notice;
  return {
    key: keyOf(notice),
    from: SYSTEM,
    to,
    message_type: type,
    content,
    ...(metadata && { metadata }),
    ...(requestId !== undefined && { request_id: requestId }),
    ...(replyTo !== undefined && { reply_to: replyTo }),
  };
}
