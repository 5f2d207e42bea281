/** How many messages wait for the people of each team, for its status. Looked at when a mailbox changes, at most once a second per team. */
import { keyOf } from '#api/meta.ts';
import type { Agent, Team } from '#api/types.ts';
import type { PeopleInboxes } from '#controllers/team/controller.ts';
import type { Mail } from '#mail/mail.ts';

const SPACING_MS = 1_000;

export interface Owners {
  readonly agentByUid: (uid: string) => Agent | undefined;
  readonly teamByUid: (uid: string) => Team | undefined;
}

export function peopleInboxes(mail: Mail, { agentByUid, teamByUid }: Owners): PeopleInboxes {
  return {
    pending: async ({ metadata }) => (await mail.open(metadata.uid)).state.unacked,
    changes(enqueue) {
      const timers = new Map<string, NodeJS.Timeout>();
      const tell = (uid: string) => {
        timers.delete(uid);
        const team = teamByUid(uid);
        if (team) enqueue(keyOf(team));
      };
      const unsubscribe = mail.onChange(({ owner }) => {
        // Most mailboxes are agents', who are found at once; those that are nobody's take a look at all.
        if (!timers.has(owner) && !agentByUid(owner) && teamByUid(owner)) timers.set(owner, setTimeout(tell, SPACING_MS, owner).unref());
      });
      return () => {
        unsubscribe();
        for (const timer of timers.values()) clearTimeout(timer);
      };
    },
  };
}
