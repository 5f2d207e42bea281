/** `create_team_for_repository`: a team whose workspaces are copies of one repository. */
import type { Team } from '#api/types.ts';
import { emitYaml } from '#lib/emit-yaml.ts';
import { InvalidError } from '#lib/errors.ts';
import type { Prompt } from '../prompt.ts';
import { teamsTable } from '../resources/teams.ts';
import { asData, given, needed, SAFETY_RULES, steps, TASK_RULES } from './words.ts';

const USUAL_AGENTS = 3;
const MOST_AGENTS = 20;

export const createTeamForRepository: Prompt = {
  name: 'create_team_for_repository',
  title: 'Create a team for a repository',
  description:
    'Sets up a team of agents that each work in a copy of a git repository, with a plan first and as few rights as the work needs.',
  arguments: [
    {
      name: 'repository',
      description: 'Absolute path of a git repository on this machine, or its address (https or ssh).',
      required: true,
    },
    { name: 'goal', description: 'What the team is for.', required: false },
    { name: 'agents', description: `How many agents, 1 to ${MOST_AGENTS}. Default ${USUAL_AGENTS}.`, required: false },
  ],
  async render(values, { client }) {
    const repo = repositoryOf(needed(values, 'repository'));
    const count = countOf(given(values, 'agents'));
    const goal = given(values, 'goal');
    const { items } = await client.list<Team>('Team');
    const name = freeName(repo.path ?? repo.url ?? '', items);
    return [
      `Create an agentiso team for the git repository ${repo.path ?? repo.url}, with ${count === 1 ? 'one agent' : `${count} agents`}.`,
      ...(goal === undefined
        ? ['Nobody has said yet what the team is for: ask the person first.']
        : ['What it is for, in the words of the person you work for:', goal.replace(/^/gm, '> ')]),
      asData('The teams that are there', teamsTable(items)),
      `A manifest to begin with; change roles, names and sizes to fit the work:\n\n\`\`\`yaml\n${manifest(name, { repo, count, goal })}\`\`\``,
      'Do this:',
      steps(
        'Plan first: which roles (a lead only if somebody has to decide), how many agents of each, what they may reach. Fewer agents that are busy are better than many that wait. Show the manifest to the person and wait for a yes.',
        'Check it with apply and dry_run true, then apply it. team_create does the same for a team without a repository.',
        `Wait until the team is ready: wait_for with kind "team" and condition Ready. If it does not get ready, why says what is in the way.`,
        'Look at the code in one workspace with workspace_exec (ls, git log, how it is built and tested) before you write the first task. Check there that the tests run at all.',
        'Put the first tasks on the board with apply or assign_task, small ones, each with verify. Let agents claim them, read results with get_task_result, and answer their questions (team_receive).',
        'Bring the work back with workspace_merge. When the team is not needed any more, team_destroy ends it; what was not merged is rescued first (rescue_list).',
      ),
      TASK_RULES,
      SAFETY_RULES,
    ].join('\n\n');
  },
};

interface Repository {
  readonly path?: string;
  readonly url?: string;
}

export function repositoryOf(text: string): Repository {
  if (/\p{Cc}/u.test(text)) throw new InvalidError('repository: control characters are not part of a path or an address');
  if (text.startsWith('/')) return { path: text };
  if (!/^(?:https?|ssh|git):\/\/\S+$|^[\w.-]+@[\w.-]+:\S+$/.test(text)) {
    throw new InvalidError(`repository: ${JSON.stringify(text)} is neither an absolute path nor the address of a repository`, [], {
      hint: 'give /srv/git/shop.git, https://example.com/shop.git or git@example.com:shop.git',
    });
  }
  if (/^https?:\/\/[^/]*@/.test(text)) {
    throw new InvalidError('repository: an address with a name or password in it would be stored for everybody to read', [], {
      hint: 'leave out what stands before the @; the daemon uses its own credential helper',
    });
  }
  return { url: text };
}

function countOf(text: string | undefined): number {
  const count = text === undefined ? USUAL_AGENTS : Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= MOST_AGENTS) return count;
  throw new InvalidError(`agents: give a whole number from 1 to ${MOST_AGENTS}`);
}

/** After the repository, and not one that is taken. */
export function freeName(repository: string, teams: readonly Team[]): string {
  const last =
    repository
      .replace(/[/\\]+$/, '')
      .split(/[/:\\]/)
      .at(-1) ?? '';
  const plain =
    last
      .replace(/\.git$/, '')
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .slice(0, 40)
      .replace(/^-+|-+$/g, '') || 'team';
  const taken = new Set(teams.map(({ metadata }) => metadata.name));
  let name = plain;
  for (let number = 2; taken.has(name); number++) name = `${plain}-${number}`;
  return name;
}

function manifest(name: string, { repo, count, goal }: { repo: Repository; count: number; goal: string | undefined }): string {
  return emitYaml({
    apiVersion: 'agentiso.dev/v1alpha1',
    kind: 'Team',
    metadata: { name },
    spec: {
      ...(goal === undefined ? {} : { description: goal }),
      repo: { ...repo, ref: 'main' },
      roles: [{ name: 'coder', count }],
      budget: { maxAgents: count },
      network: { allowInternet: false },
    },
  });
}
