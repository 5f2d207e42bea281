/** team_list: all teams in short. */
import type { Team } from '#api/types.ts';
import { count, described, flag, list, object, text } from '#protocol/shape.ts';
import { namespaceField } from '../objects/fields.ts';
import { fitting } from '../objects/shorten.ts';
import { phaseOf } from '../objects/team-answer.ts';
import { defineTool } from '../tool.ts';

const input = object({}, { namespace: described(namespaceField, 'Only of this namespace; of all when absent.') });

const output = object({
  teams: list(
    object({ name: text, namespace: text, phase: text, agent_count: count, created_at: text, max_agents: count }, { parent: text }),
  ),
  count: described(count, 'How many there are.'),
  is_cut: described(flag, 'Not all are shown: ask for one namespace, or use list.'),
});

export const teamList = defineTool({
  name: 'team_list',
  title: 'List teams',
  description: 'Lists all teams with phase, number of agents, budget and parent. team_status tells more about one, team_create makes one.',
  input,
  output,
  category: 'default',
  isReadOnly: true,
  async run({ namespace }, { client }) {
    const { items } = await client.list<Team>('Team', namespace === undefined ? {} : { namespace });
    const teams = fitting(items.map(toRow));
    return { teams, count: items.length, is_cut: teams.length < items.length };
  },
});

function toRow(team: Team) {
  const { metadata, spec, status } = team;
  return {
    name: metadata.name,
    namespace: metadata.namespace,
    phase: phaseOf(team),
    agent_count: status?.members?.length ?? 0,
    created_at: metadata.creationTimestamp,
    max_agents: spec.budget.maxAgents,
    ...(spec.parent ? { parent: spec.parent } : {}),
  };
}
