/** `agentiso://teams/{team}/status`: one screen of text. */
import { DEFAULT_NAMESPACE } from '#api/meta.ts';
import type { Team } from '#api/types.ts';
import { fetchSurroundings } from '#client/why/surroundings.ts';
import { type View, viewOf } from '#client/why/view.ts';
import type { Asking } from '../resource.ts';
import { named, watched } from './changes.ts';
import { membersOf } from './find.ts';
import { statusText } from './status-text.ts';
import { teamPart } from './team-part.ts';

export const statusResource = teamPart({
  below: '/status',
  name: 'status',
  title: 'Status of team',
  description:
    'A team on one screen: its phase, its agents and what each works on, open tasks with the reason why they wait, merges, and what is in the way with what would help.',
  mimeType: 'text/plain',
  read: async (team, asking) => statusText(team, await viewAround(team, asking), new Date()),
  sources({ metadata: { namespace, name } }) {
    const own = membersOf(namespace, name);
    return [named('Team', namespace, name), watched('Agent', own), watched('Task', own), watched('Merge', own)];
  },
});

/** What may hold a team up need not be its own: everything of its namespace is seen. */
export async function viewAround({ metadata: { namespace } }: Team, asking: Asking): Promise<View> {
  const surroundings = await fetchSurroundings(asking, { namespace, isNeeded: true });
  return viewOf({ ...surroundings, flags: namespace === DEFAULT_NAMESPACE ? [] : ['-n', namespace] });
}
