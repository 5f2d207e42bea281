/** `agentiso://teams/{team}/messages`: the newest messages, whoever they are for. Reading them acknowledges nothing. */
import type { Team } from '#api/types.ts';
import { type FiledMessage, followMessages, readMessages } from '#client/messages.ts';
import { escapeControl } from '#lib/escape.ts';
import { headAndTail } from '#lib/text.ts';
import type { Asking } from '../resource.ts';
import type { Source } from './changes.ts';
import { plainText } from './quoted.ts';
import { teamPart } from './team-part.ts';

const NEWEST = 50;
/** A message may be as long as a book. */
const MOST_BYTES = 8 * 1_024;

export const messagesResource = teamPart({
  below: '/messages',
  name: 'messages',
  title: 'Messages of team',
  description: `The newest ${NEWEST} messages in the inboxes of a team, oldest first, with their state. Reading acknowledges nothing; the tool team_receive does, for those that are for you.`,
  mimeType: 'text/plain',
  // The API tells a viewer nothing of what agents say to each other.
  isFor: ({ caller }) => caller.role === 'admin',
  async read(team, asking) {
    const items = await newest(team, asking);
    return plainText(items.length === 0 ? 'No messages.\n' : items.map(messageText).join('\n'));
  },
  sources: (team) => [followed(team)],
});

function newest({ metadata: { namespace, name } }: Team, asking: Asking): Promise<readonly FiledMessage[]> {
  return readMessages(asking, { namespace, team: name, limit: NEWEST });
}

/** What is there when it begins is told once more by the server; that is no change. */
function followed(team: Team): Source {
  return async function* (asking) {
    const { namespace, name } = team.metadata;
    const known = new Set((await newest(team, asking)).map(keyOf));
    yield;
    for await (const filed of followMessages(asking, { namespace, team: name, limit: NEWEST })) if (!known.delete(keyOf(filed))) yield;
  };
}

function keyOf({ message, inbox, state }: FiledMessage): string {
  return `${message.message_id} ${inbox} ${state}`;
}

export function messageText({ message, inbox, state }: FiledMessage): string {
  const { from, to, message_type: type, timestamp, message_id: id, reply_to: replyTo, content } = message;
  const recipient = inbox.slice(inbox.indexOf('/') + 1);
  const about = [
    `${timestamp} ${escapeControl(from)} to ${to === '*' ? `${recipient} (to all)` : recipient}`,
    type,
    state,
    id,
    ...(replyTo === undefined ? [] : [`answers ${replyTo}`]),
  ];
  const lines = headAndTail(content.trimEnd(), MOST_BYTES).text.split('\n');
  return [about.join(', '), ...lines.map((line) => `  ${escapeControl(line)}`), ''].join('\n');
}
