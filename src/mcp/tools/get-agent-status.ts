/** get_agent_status: agents with all that is known of them. */
import type { Agent, Task } from '#api/types.ts';
import { InvalidError } from '#lib/errors.ts';
import { count, described, flag, list, object, type Parsed } from '#protocol/shape.ts';
import { agentAnswer, toAgentAnswer } from '../objects/agent-answer.ts';
import { label, namespaceField, teamField } from '../objects/fields.ts';
import { findAgent } from '../objects/find-agent.ts';
import { fitting } from '../objects/shorten.ts';
import { agentsOf, getTeam } from '../objects/team-view.ts';
import { defineTool, type ToolCall } from '../tool.ts';

const input = object(
  {},
  {
    team: described(teamField, 'Only agents of this team; of all teams when absent.'),
    agent: described(label, 'Only this agent of the team, by short or full name.'),
    namespace: described(namespaceField, 'The namespace of the team; with no team, only agents of this namespace.'),
  },
);
type Asked = Parsed<typeof input>;

const output = object({
  agents: list(agentAnswer),
  count: described(count, 'How many there are.'),
  is_cut: described(flag, 'Not all are shown: ask for one team.'),
});

export const getAgentStatus = defineTool({
  name: 'get_agent_status',
  title: 'Look at agents',
  description:
    'Tells of each agent what it does (running, idle, waiting, starting, stopping, stopped, dead), its tasks, unread messages, tasks that wait for it alone, isolation in force, last sign of life and conditions with reasons. workspace_logs shows what it wrote, why what it waits for, shutdown_agent and kill_agent end it.',
  input,
  output,
  category: 'default',
  isReadOnly: true,
  quotesOthers: true,
  resource: ({ team, agent }) =>
    team === undefined ? 'agents' : `${agent === undefined ? 'team' : 'agent'}/${team}${agent ? `-${agent}` : ''}`,
  async run(asked, call) {
    const agents = await agentsAsked(call, asked);
    const tasks = await tasksBeside(call, agents);
    const now = new Date();
    const all = agents.map((agent) => toAgentAnswer(agent, { tasks: tasks.filter((task) => isOfTeam(task, agent)), now }));
    const shown = fitting(all);
    return { agents: shown, count: all.length, is_cut: shown.length < all.length };
  },
});

async function agentsAsked(call: ToolCall, { team, agent, namespace }: Asked): Promise<readonly Agent[]> {
  const place = namespace === undefined ? {} : { namespace };
  if (team !== undefined && agent !== undefined) return [await findAgent(call, { team, agent, ...place })];
  if (team !== undefined) return agentsOf(call, await getTeam(call, team, namespace));
  if (agent !== undefined) throw new InvalidError('agent needs team', [], { hint: 'give team and agent; team_list shows teams' });
  return (await call.client.list<Agent>('Agent', place)).items;
}

async function tasksBeside({ client }: ToolCall, agents: readonly Agent[]): Promise<readonly Task[]> {
  const namespaces = [...new Set(agents.map(({ metadata }) => metadata.namespace))];
  const lists = await Promise.all(namespaces.map((namespace) => client.list<Task>('Task', { namespace })));
  return lists.flatMap(({ items }) => items);
}

function isOfTeam(task: Task, agent: Agent): boolean {
  return task.metadata.namespace === agent.metadata.namespace && task.spec.team === agent.spec.team;
}
