/** shutdown_agent: lets an agent end in good order. */
import type { Agent, Team } from '#api/types.ts';
import { described, flag, object, text } from '#protocol/shape.ts';
import { label, namespaceField, plainText, teamField } from '../objects/fields.ts';
import { findAgent } from '../objects/find-agent.ts';
import { hasStopped, stopAgent } from '../objects/stop-agent.ts';
import { getTeam } from '../objects/team-view.ts';
import { defineTool } from '../tool.ts';

const TAKEN_UP_MS = 10_000;

const input = object(
  { team: teamField, agent: described(label, 'Short or full name of the agent.') },
  { namespace: namespaceField, reason: described(plainText(4_096), 'Why: the agent is told.') },
);

const output = object(
  {
    agent: text,
    acknowledged: described(flag, 'The stop has begun. False: it is written down, and nobody has acted on it yet.'),
    deadline: described(text, 'When it has ended at the latest.'),
    phase: text,
  },
  { answer: described(text, 'What the agent said to it: Accepted, Deferred or Refused. It ends all the same.') },
);

export const shutdownAgent = defineTool({
  name: 'shutdown_agent',
  title: 'Stop an agent',
  description:
    'Asks an agent to stop. An idle one ends at once; a busy one is told with a shutdown_request and has the grace period of its team to finish, then it is ended. It stays stopped and keeps its files until spec.desiredState of the Agent is Running again (apply with force: true). Answers when the stop has begun; wait_for kind Agent, phase Stopped waits for the end. kill_agent does not wait.',
  input,
  output,
  category: 'default',
  isReadOnly: false,
  isDestructive: true,
  isIdempotent: true,
  quotesOthers: true,
  resource: ({ team, agent }) => `agent/${team}/${agent}`,
  async run(asked, call) {
    const { reason = '' } = asked;
    const found = await findAgent(call, asked);
    const team = await getTeam(call, asked.team, asked.namespace);
    const isTakenUp = (now: Agent) => hasStopped(now) || now.status?.phase === 'Stopping';
    const { agent, isTimedOut } = await stopAgent(call, { agent: found, request: { reason }, timeoutMs: TAKEN_UP_MS, isDone: isTakenUp });
    const { phase = 'Pending', shutdown } = agent.status ?? {};
    return {
      agent: agent.metadata.name,
      acknowledged: !isTimedOut,
      deadline: deadlineOf(agent, team),
      phase,
      ...(shutdown?.answer === undefined ? {} : { answer: shutdown.answer }),
    };
  },
});

/** Of one that has stopped: now. */
function deadlineOf(agent: Agent, { spec }: Team): string {
  const now = new Date();
  if (hasStopped(agent)) return now.toISOString();
  return agent.status?.shutdown?.deadline ?? new Date(now.getTime() + spec.terminationGracePeriodSeconds * 1_000).toISOString();
}
