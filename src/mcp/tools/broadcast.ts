/** `broadcast`: one message to every agent of a team. */
import { sendMessage } from '#client/messages.ts';
import { described, list, object, oneOf, text } from '#protocol/shape.ts';
import { defineTool } from '../tool.ts';
import { namespace, namespaceOf, team } from '../work/fields.ts';
import { withHint } from '../work/with-hint.ts';

const input = object(
  { team, content: described(text, 'What to say; at most 256 KiB.') },
  {
    namespace,
    message_type: described(oneOf('broadcast', 'request', 'nudge'), 'What kind of message. Default broadcast.'),
  },
);
const output = object({
  message_id: text,
  accepted: list(text),
  failed: list(object({ agent: text, code: text, message: text })),
});

export const broadcast = defineTool({
  name: 'broadcast',
  title: 'Message to a whole team',
  description:
    'Sends one message to every agent of a team, as its orchestrator. It is on disk for everybody in accepted when this answers; failed says who has not got it and why (InboxFull: it does not read; try again later). Agents read it with their own tools; team_receive shows what they answer. For one agent use team_message, for work to be done assign_task.',
  category: 'team_message',
  isReadOnly: false,
  input,
  output,
  resource: ({ team: name }) => `team/${name}`,
  async run(asked, call) {
    const letter = { namespace: namespaceOf(asked), team: asked.team, to: '*', content: asked.content, type: asked.message_type };
    const { messageId, accepted, failed } = await withHint(sendMessage(call, letter), {
      NotFound: 'team_list shows the teams',
      InboxFull: 'nobody reads: team_status shows how the agents are; try again later',
      TooLarge: 'write the text with vault_write and say where it is',
    });
    return { message_id: messageId, accepted, failed };
  },
});
