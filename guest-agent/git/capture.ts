/**
 * Everything that is not committed, as one commit: the tree is what the folder looks like, untracked files included and ignored ones not;
 * its parents are the head and, where it differs, what was staged. Nothing of the agent's own is touched: not its index, not its files.
 * The same state gives the same commit, so that what has not changed since the last look need not be sent again.
 */
import { join } from 'node:path';
import { ProtocolError } from '#protocol/protocol-error.ts';
import { lazy } from '../lazy-modules.ts';
import { removeIndex, temporaryIndex, withEnv } from './beside.ts';
import { git, type Repository, resolveCommit, tryGit } from './git.ts';
import { addNested, nestedRepositories } from './nested.ts';

/** A moment for commits that have no head. */
const SOME_TIME = '1000000000';

/** Undefined: everything is committed. `isFinal`: there will be no other look, so that what cannot be read is a failure. */
export async function captureUncommitted(repository: Repository, head: string | undefined, isFinal: boolean): Promise<string | undefined> {
  const gitDir = (await git(repository, ['rev-parse', '--absolute-git-dir'])).trim();
  const index = temporaryIndex(repository);
  // A copy of the agent's index knows which files are unchanged: only the others are read.
  await lazy.files.copyFile(join(gitDir, 'index'), index).catch(() => undefined);
  const beside = withEnv(repository, { GIT_INDEX_FILE: index, ...(await withoutFilters(repository)) });
  try {
    const tree = await writeEverything(beside, isFinal);
    const staged = await stagedTree(repository);
    const headTree = head === undefined ? await emptyTree(repository) : (await git(repository, ['rev-parse', `${head}^{tree}`])).trim();
    if (tree === headTree && (staged === undefined || staged === headTree)) return undefined;
    const dated = withEnv(repository, await datesOf(repository, head));
    const isStagedApart = staged !== undefined && staged !== tree && staged !== headTree;
    const stagedCommit = isStagedApart ? await commitTree(dated, staged, [head], 'What was staged') : undefined;
    return await commitTree(dated, tree, [head, stagedCommit], 'What was not committed');
  } finally {
    await removeIndex(index);
  }
}

/** The tree of all files below the repository's folder, by way of the index that its environment names. */
async function writeEverything(beside: Repository, isFinal: boolean): Promise<string> {
  const nested = await nestedRepositories(beside);
  await addEverything(beside, nested, isFinal);
  for (const path of nested) await addNested(beside, path, { isFinal, write: writeEverything });
  return (await git(beside, ['write-tree'])).trim();
}

/** A file that cannot be read must not keep all others from being saved; but the last time it must be. */
async function addEverything(beside: Repository, nested: readonly string[], isFinal: boolean): Promise<void> {
  const pathspecs = ['.', ...nested.map((path) => `:(top,exclude,literal)${path}`)].join('\0');
  const add = () => tryGit(beside, ['add', '--all', '--ignore-errors', '--pathspec-from-file=-', '--pathspec-file-nul'], pathspecs);
  const first = await add();
  if (first.code === 0 || (first.code === 1 && !isFinal)) return;
  if (isFinal) await makeReadable(beside);
  const { code, stderr } = isFinal ? await add() : first;
  if (code !== 0) throw new ProtocolError('IoError', `git add failed in the workspace (${code}): ${stderr.trim()}`);
}

/** Of what belongs to the agent: it could have done so itself. */
async function makeReadable({ directory, signal }: Repository): Promise<void> {
  const missing = ['(', '-type', 'd', '!', '-perm', '-u=rx', '-o', '-type', 'f', '!', '-perm', '-u=r', ')'];
  await new Promise<void>((resolve) => {
    const child = lazy.childProcess.spawn('find', ['.', ...missing, '-exec', 'chmod', 'u+rwX', '{}', ';'], {
      cwd: directory,
      stdio: 'ignore',
      signal,
    });
    // Whether it helped is seen when git tries again.
    child.once('error', () => resolve());
    child.once('close', () => resolve());
  });
}

/** Filters keep files elsewhere and only their names in git: here the files themselves are wanted. */
async function withoutFilters(repository: Repository): Promise<Record<string, string>> {
  const { stdout } = await tryGit(repository, ['config', '--name-only', '-z', '--get-regexp', '^filter\\..*\\.(clean|process|required)$']);
  const names = [...new Set(stdout.toString().split('\0').filter(Boolean))];
  const settings = names.flatMap((name, index) => [
    [`GIT_CONFIG_KEY_${index}`, name],
    [`GIT_CONFIG_VALUE_${index}`, name.endsWith('.required') ? 'false' : ''],
  ]);
  return Object.fromEntries([['GIT_CONFIG_COUNT', String(names.length)], ...settings]);
}

async function datesOf(repository: Repository, head: string | undefined): Promise<Record<string, string>> {
  const seconds = head === undefined ? SOME_TIME : (await git(repository, ['show', '--no-patch', '--format=%ct', head])).trim();
  return { GIT_AUTHOR_DATE: `@${seconds} +0000`, GIT_COMMITTER_DATE: `@${seconds} +0000` };
}

/** Undefined while a merge is unresolved: the files have it, with markers. */
async function stagedTree(repository: Repository): Promise<string | undefined> {
  const { code, stdout } = await tryGit(repository, ['write-tree']);
  return code === 0 ? stdout.toString().trim() : undefined;
}

async function emptyTree(repository: Repository): Promise<string> {
  return (await git(repository, ['hash-object', '-t', 'tree', '-w', '--stdin'])).trim();
}

async function commitTree(
  repository: Repository,
  tree: string,
  parents: readonly (string | undefined)[],
  message: string,
): Promise<string> {
  const given = parents.flatMap((parent) => (parent === undefined ? [] : ['-p', parent]));
  return (await git(repository, ['commit-tree', tree, ...given, '-m', message])).trim();
}

/** The newest first. */
export async function stashes(repository: Repository): Promise<string[]> {
  if ((await resolveCommit(repository, 'refs/stash')) === undefined) return [];
  return (await git(repository, ['rev-list', '--walk-reflogs', 'refs/stash'])).split('\n').filter(Boolean);
}
