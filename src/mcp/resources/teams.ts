/** `agentiso://teams`: all teams, as a table. */
import { DEFAULT_NAMESPACE } from '#api/meta.ts';
import type { Team } from '#api/types.ts';
import { toCell } from '#lib/escape.ts';
import type { Resource } from '../resource.ts';
import { together, watched } from './changes.ts';
import { completeName } from './complete.ts';
import { teamTemplate, uriIn } from './place.ts';

const HEADERS = ['Team', 'Namespace', 'Phase', 'Agents', 'Tasks', 'Done', 'Failed', 'Parent', 'Address'];

export const teamsResource: Resource = {
  uriTemplate: 'agentiso://teams{?namespace}',
  name: 'teams',
  title: 'Teams',
  description:
    'All teams of all namespaces, or of the one that is given: phase, agents, tasks, and the address of each. Begin here to find out what there is.',
  mimeType: 'text/markdown',
  list: async () => [{ uri: 'agentiso://teams', name: 'teams', title: 'All teams', mimeType: 'text/markdown' }],
  async read({ namespace }, { client }) {
    const { items } = await client.list<Team>('Team', namespace === undefined ? {} : { namespace });
    return teamsTable(items);
  },
  changes: ({ namespace }, asking) => together([watched('Team', namespace === undefined ? {} : { namespace })], asking),
  complete: completeName,
};

export function teamsTable(teams: readonly Team[]): string {
  if (teams.length === 0) return 'There are no teams. The tool team_create makes one, and so does apply with a manifest.\n';
  const line = (cells: readonly unknown[]) => `| ${cells.map((cell) => toCell(cell).replaceAll('|', '\\|')).join(' | ')} |\n`;
  return [line(HEADERS), `|${HEADERS.map(() => '---|').join('')}\n`, ...teams.map((team) => line(cellsOf(team)))].join('');
}

function cellsOf({ metadata, spec, status }: Team): readonly unknown[] {
  const { name, namespace = DEFAULT_NAMESPACE, deletionTimestamp } = metadata;
  const { total = 0, succeeded = 0, failed = 0 } = status?.taskSummary ?? {};
  const phase = deletionTimestamp === undefined ? (status?.phase ?? 'Creating') : 'Terminating';
  const agents = status?.members?.length ?? 0;
  return [
    name,
    namespace,
    phase,
    agents,
    total,
    succeeded,
    failed,
    spec.parent ?? '',
    uriIn(teamTemplate('/status'), namespace, { team: name }),
  ].map(String);
}
