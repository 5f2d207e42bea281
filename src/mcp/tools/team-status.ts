/** team_status: a team as it is now. */
import { object } from '#protocol/shape.ts';
import { namespaceField, teamField } from '../objects/fields.ts';
import { teamAnswer } from '../objects/team-answer.ts';
import { teamView } from '../objects/team-view.ts';
import { defineTool } from '../tool.ts';

const input = object({ team: teamField }, { namespace: namespaceField });

export const teamStatus = defineTool({
  name: 'team_status',
  title: 'Look at a team',
  description:
    'Tells how a team is: phase, its agents with workspace, address and what they use, how many tasks are in which state, what of its budget is left, and conditions with their reasons. Use why when it does not become Ready, list with kind Task for its tasks, get_agent_status for more about agents.',
  input,
  output: teamAnswer,
  category: 'default',
  isReadOnly: true,
  quotesOthers: true,
  resource: ({ team }) => `team/${team}`,
  run: ({ team, namespace }, call) => teamView(call, team, namespace),
});
