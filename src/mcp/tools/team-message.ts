/** `team_message`: a message to one agent. */
import type { Agent, Team } from '#api/types.ts';
import { sendMessage } from '#client/messages.ts';
import { ignoreNotFound, NotFoundError } from '#lib/errors.ts';
import { described, flag, object, oneOf, text } from '#protocol/shape.ts';
import { defineTool, type ToolCall } from '../tool.ts';
import { namespace, namespaceOf, team } from '../work/fields.ts';
import { withHint, wrongField } from '../work/with-hint.ts';

const LEAD = 'lead';

const input = object(
  {
    team,
    to: described(text, 'Name of the agent, such as coder-1, or lead.'),
    content: described(text, 'What to say; at most 256 KiB.'),
  },
  {
    namespace,
    message_type: described(oneOf('text', 'task_update', 'request', 'response', 'nudge'), 'What kind of message. Default text.'),
    reply_to: described(text, 'message_id of the message that this one answers.'),
    request_id: described(text, 'The request it belongs to; the answer carries it too.'),
  },
);
const output = object({ message_id: text, state: oneOf('Accepted'), delivered: flag });

export const teamMessage = defineTool({
  name: 'team_message',
  title: 'Message to an agent',
  description:
    'Sends a message to one agent of a team, as its orchestrator. It is on disk when this answers; delivered says whether the agent has it already. Its answer comes to the inbox of the team: team_receive with wait_seconds waits for it. To give work use assign_task, to decide about a plan approve_plan, to end an agent shutdown_agent, to tell everybody broadcast.',
  category: 'team_message',
  isReadOnly: false,
  input,
  output,
  resource: ({ team: name }) => `team/${name}`,
  async run(asked, call) {
    if (asked.to === '*') throw wrongField('to', 'one agent at a time', 'broadcast tells everybody');
    const place = { namespace: namespaceOf(asked), team: asked.team };
    if (asked.to === LEAD) await checkLead(call, place);
    const { to, content, message_type: type, reply_to: replyTo, request_id: requestId } = asked;
    const { messageId, delivered } = await withHint(sendMessage(call, { ...place, to, content, type, replyTo, requestId }), {
      NotFound: 'team_status shows the agents of a team, team_list the teams, team_receive the messages',
      InboxFull: 'the agent does not read: get_agent_status shows how it is; try again later',
      TooLarge: 'write the text with vault_write and say where it is',
    });
    return { message_id: messageId, state: 'Accepted' as const, delivered };
  },
});

/** Without a lead whoever runs the team leads it: what is written to it would come back. */
async function checkLead({ client }: ToolCall, { namespace, team: name }: { namespace: string; team: string }): Promise<void> {
  const lead = await ignoreNotFound(client.get<Agent>({ kind: 'Agent', namespace, name: `${name}-${LEAD}` }));
  if (lead) return;
  await withHint(client.get<Team>({ kind: 'Team', namespace, name }), { NotFound: 'team_list shows the teams' });
  throw new NotFoundError(`team ${name} has no agent ${LEAD}: you lead it, and the message would come back to you`, {
    hint: 'name an agent (team_status shows them), or use broadcast',
  });
}
