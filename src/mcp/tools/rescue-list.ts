/** `rescue_list`: work that was kept when its agent was deleted. */
import { listRescued } from '#client/rescue.ts';
import { count, described, list, object, text } from '#protocol/shape.ts';
import { defineTool } from '../tool.ts';

const input = object(
  {},
  {
    team: described(text, 'Only of this team; of all when absent.'),
    namespace: described(text, 'Only of this namespace; of all when absent.'),
  },
);
const rescued = object({
  id: text,
  namespace: text,
  team: text,
  agent: text,
  kept_at: text,
  commit: text,
  commits: count,
  files: count,
});
const output = object({ rescued: list(rescued) });

export const rescueList = defineTool({
  name: 'rescue_list',
  title: 'Rescued work',
  description:
    'Lists work that was not merged when its agent or team was deleted: commits, uncommitted files and stashes, kept as one commit, newest first. rescue_restore brings it into the workspace of another agent.',
  category: 'default',
  isReadOnly: true,
  needsAdmin: true,
  quotesOthers: true,
  input,
  output,
  resource: () => 'rescue',
  async run({ team, namespace }, call) {
    const all = (await listRescued(call)).flatMap((repository) => repository.rescued);
    const wanted = all.filter((work) => (team ?? work.team) === work.team && (namespace ?? work.namespace) === work.namespace);
    const sorted = wanted.sort((a, b) => (a.at < b.at ? 1 : -1));
    return {
      rescued: sorted.map(({ id, agent, at, commit, commits, files, ...place }) => ({
        id,
        namespace: place.namespace,
        team: place.team,
        agent,
        kept_at: at,
        commit,
        commits,
        files,
      })),
    };
  },
});
