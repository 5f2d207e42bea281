/** `agentiso://teams/{team}`: the Team itself. */
import { named } from './changes.ts';
import { yamlOf } from './quoted.ts';
import { teamPart } from './team-part.ts';

export const teamResource = teamPart({
  below: '',
  name: 'team',
  title: 'Team',
  description:
    'The Team as YAML: what it should be (spec: roles, tasks, budget, network, isolation) and what it is (status). Change it with the tool apply.',
  mimeType: 'application/yaml',
  read: async (team) => yamlOf(team),
  sources: ({ metadata: { namespace, name } }) => [named('Team', namespace, name)],
});
