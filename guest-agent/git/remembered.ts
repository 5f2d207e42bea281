/**
 * Commits that no branch leads to, and that a tag or a reflog still knows: amended ones, reset ones, those of a detached head. They are work like
 * any other when a workspace goes.
 */
import { git, type Repository, tryGit } from './git.ts';

/** More of them are joined: whoever rebases often has thousands. */
export const MAX_APART = 20;
/** Of one commit. */
const MAX_PARENTS = 500;

/** The newest first; those that lead to others among them stand for these. `known`: what need not be looked for, and its history. */
export async function rememberedCommits(repository: Repository, known: readonly string[]): Promise<string[]> {
  const args = ['rev-list', '--ignore-missing', '--parents', '--stdin', '--reflog', '--tags', '--not', '--branches'];
  const { code, stdout, stderr } = await tryGit(repository, args, known.map((id) => `^${id}\n`).join(''));
  if (code !== 0) {
    // Its branches and files are worth more than the memory of what they were.
    repository.guest.log.write('guest', `commits that only reflogs know cannot be read: ${stderr.trim()}`);
    return [];
  }
  const tips = tipsOf(stdout.toString());
  return tips.length <= MAX_APART ? tips : [await joined(repository, tips)];
}

/** Of lines `commit parent...`, those that are nobody's parent. Pure. */
export function tipsOf(listed: string): string[] {
  const lines = listed
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split(' '));
  const parents = new Set(lines.flatMap(([, ...rest]) => rest));
  return lines.flatMap(([commit = '']) => (parents.has(commit) ? [] : [commit]));
}

/** One commit that leads to all of them, and looks like the newest. The same ones give the same commit. */
async function joined(repository: Repository, commits: readonly string[]): Promise<string> {
  const [newest = ''] = commits;
  const seconds = (await git(repository, ['show', '--no-patch', '--format=%ct', newest])).trim();
  const dated = { GIT_AUTHOR_DATE: `@${seconds} +0000`, GIT_COMMITTER_DATE: `@${seconds} +0000` };
  let last: string | undefined;
  for (let at = 0; at < commits.length; at += MAX_PARENTS) {
    const parents = [...(last === undefined ? [] : [last]), ...commits.slice(at, at + MAX_PARENTS)];
    const args = [
      'commit-tree',
      `${newest}^{tree}`,
      ...parents.flatMap((parent) => ['-p', parent]),
      '-m',
      'What only reflogs and tags knew',
    ];
    last = (await git({ ...repository, env: { ...repository.env, ...dated } }, args)).trim();
  }
  return last ?? newest;
}
