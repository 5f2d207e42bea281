/** Work that was kept when its agent went: each under a ref of its own, whose commit says in its trailers whose it was. */
import { RESCUE_REFS } from './refs.ts';
import { type GitOptions, git } from './run.ts';

export interface RescuedWork {
  /** The uid of the agent. */
  readonly id: string;
  readonly ref: string;
  readonly commit: string;
  readonly agent: string;
  readonly team: string;
  readonly namespace: string;
  /** When it was kept. */
  readonly at: string;
  /** Commits that were nowhere else. */
  readonly commits: number;
  /** Files that differ from what the workspace started from. */
  readonly files: number;
  /** Absent where the workspace started empty. */
  readonly base?: string;
}

export interface RescuedDetails {
  /** The newest first. */
  readonly commits: readonly { readonly id: string; readonly subject: string; readonly author: string; readonly at: string }[];
  /** As `git diff --stat` has it. */
  readonly stat: string;
}

const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';
const SHOWN_COMMITS = 200;
const END = '\x1e';

/** The message of the commit under a rescue ref. Pure. */
export function rescueMessage(work: Omit<RescuedWork, 'id' | 'ref' | 'commit' | 'at'>): string {
  const trailers = {
    'Agentiso-Agent': work.agent,
    'Agentiso-Team': work.team,
    'Agentiso-Namespace': work.namespace,
    'Agentiso-Commits': String(work.commits),
    'Agentiso-Files': String(work.files),
    ...(work.base !== undefined && { 'Agentiso-Base': work.base }),
  };
  const lines = Object.entries(trailers).map(([key, value]) => `${key}: ${value}\n`);
  return `Work of ${work.agent} that was not merged when it was deleted\n\n${lines.join('')}`;
}

export async function listRescued(options: GitOptions): Promise<RescuedWork[]> {
  const format = `%(refname)%00%(objectname)%00%(committerdate:iso-strict)%00%(contents)${END}`;
  const listed = await git(['for-each-ref', `--format=${format}`, RESCUE_REFS], options);
  return listed.split(`${END}\n`).filter(Boolean).map(toWork);
}

function toWork(text: string): RescuedWork {
  const [ref = '', commit = '', at = '', message = ''] = text.split('\0');
  const trailer = (name: string) => new RegExp(`^Agentiso-${name}: (.*)$`, 'm').exec(message)?.[1] ?? '';
  const base = trailer('Base');
  return {
    id: ref.slice(RESCUE_REFS.length + 1),
    ref,
    commit,
    at,
    agent: trailer('Agent'),
    team: trailer('Team'),
    namespace: trailer('Namespace'),
    commits: Number(trailer('Commits')),
    files: Number(trailer('Files')),
    ...(base !== '' && { base }),
  };
}

export async function describeRescued({ commit, base, ref }: RescuedWork, options: GitOptions): Promise<RescuedDetails> {
  const known = ['--exclude=refs/agentiso/rescue/*', '--all'];
  const args = ['log', '--topo-order', `--max-count=${SHOWN_COMMITS}`, '--format=%H%x00%an%x00%cI%x00%s', `${ref}^@`, '--not', ...known];
  const [log, stat] = await Promise.all([
    git(args, options),
    git(['diff', '--stat=100', '--no-color', '--no-ext-diff', base ?? EMPTY_TREE, commit], options),
  ]);
  const commits = log
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const [id = '', author = '', at = '', subject = ''] = line.split('\0');
      return { id, author, at, subject };
    });
  return { commits, stat };
}

export async function measure(
  commits: readonly string[],
  { refs, tree, base }: { readonly refs: readonly string[]; readonly tree: string; readonly base: string | undefined },
  options: GitOptions,
): Promise<{ commits: number; files: number }> {
  const asked = [...commits, ...refs.map((ref) => `^${ref}`)].join('\n');
  const counted = commits.length === 0 ? '0' : await git(['rev-list', '--count', '--stdin'], { ...options, input: `${asked}\n` });
  const changed = await git(['diff-tree', '-r', '-z', '--name-only', '--no-renames', base ?? EMPTY_TREE, tree], options);
  return { commits: Number(counted), files: changed.split('\0').filter(Boolean).length };
}
