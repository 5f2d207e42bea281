/** Mailboxes and their owners: one whose Agent or Team is gone goes too, one that nobody has opened yet is opened, so that it grows old. */
import type { Agent, Team } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import type { Mail } from '#mail/mail.ts';

export interface MailSweep {
  readonly name: string;
  readonly everyMs: number;
  sweep(): Promise<void>;
}

const EVERY_MS = 10 * 60 * 1_000;

export function createMailSweep({ mail, client }: { readonly mail: Mail; readonly client: Client }): MailSweep {
  return {
    name: 'mail',
    everyMs: EVERY_MS,
    async sweep() {
      // Mailboxes first: an owner is always older than its mailbox, so the second list cannot miss one.
      const owners = await mail.owners();
      const agents = (await client.list<Agent>('Agent')).items;
      const teams = (await client.list<Team>('Team')).items;
      const uids = new Set([...agents, ...teams].map(({ metadata }) => metadata.uid));
      for (const owner of owners) {
        if (uids.has(owner)) await mail.open(owner);
        else await mail.remove(owner);
      }
    },
  };
}

/** For the finalizer of a Team: what its people were told goes with it. Its agents' mailboxes go with the agents. */
export async function removeTeamMail(mail: Mail, { metadata }: Team): Promise<void> {
  await mail.remove(metadata.uid);
}
