/** Of a copy that goes from state to state a person wants to hear when it comes, and when it is given up. */
import type { FiledMessage } from '#client/messages.ts';

const MOST_REMEMBERED = 10_000;

/** True for what is news. It remembers as many as there may be on the way at once. */
export function firstSight(): (filed: FiledMessage) => boolean {
  const seen = new Set<string>();
  return ({ message, inbox, state }) => {
    const id = `${message.message_id} ${inbox} ${state === 'DeadLetter'}`;
    if (seen.has(id)) return false;
    seen.add(id);
    if (seen.size > MOST_REMEMBERED) seen.delete(seen.values().next().value as string);
    return true;
  };
}
