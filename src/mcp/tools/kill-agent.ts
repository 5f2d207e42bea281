/** kill_agent: ends an agent without waiting for it. */
import { described, flag, object, text } from '#protocol/shape.ts';
import { label, namespaceField, teamField } from '../objects/fields.ts';
import { findAgent } from '../objects/find-agent.ts';
import { hasStopped, stopAgent } from '../objects/stop-agent.ts';
import { defineTool } from '../tool.ts';

/** SIGTERM, five seconds, SIGKILL, and proof that nothing is left. */
const LIMIT_MS = 15_000;

const input = object({ team: teamField, agent: described(label, 'Short or full name of the agent.') }, { namespace: namespaceField });

const output = object({
  agent: text,
  killed: described(flag, 'No process of it is left. False: it is being ended, and get_agent_status tells when.'),
  phase: text,
});

export const killAgent = defineTool({
  name: 'kill_agent',
  title: 'Kill an agent',
  description:
    'Ends an agent at once, also one that hangs or refuses to stop: what it runs is lost and its tasks are handed back. Its files stay, and it stays stopped until spec.desiredState of the Agent is Running again (apply with force: true). Try shutdown_agent first. Answers when no process of it is left.',
  input,
  output,
  category: 'default',
  isReadOnly: false,
  isDestructive: true,
  isIdempotent: true,
  resource: ({ team, agent }) => `agent/${team}/${agent}`,
  async run(asked, call) {
    const found = await findAgent(call, asked);
    const request = { reason: 'killed', isImmediate: true };
    const { agent } = await stopAgent(call, { agent: found, request, timeoutMs: LIMIT_MS, isDone: hasStopped });
    return { agent: agent.metadata.name, killed: hasStopped(agent), phase: agent.status?.phase ?? 'Pending' };
  },
});
