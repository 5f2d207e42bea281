/**
 * Repositories inside the repository. git would note only which commit they have, not what is in them: so their files are put in as if they
 * were no repositories and, the last time, their own commits as a bundle beside the files.
 */
import { join, resolve } from 'node:path';
import { lazy } from '../lazy-modules.ts';
import { removeIndex, temporaryIndex, withEnv } from './beside.ts';
import { git, type Repository, tryGit } from './git.ts';

const BUNDLE = '.agentiso-commits.bundle';
const GITLINK = '160000';
/** Which repository a git works on: inside it is another one. */
const OF_THE_OUTER = ['GIT_DIR', 'GIT_WORK_TREE', 'GIT_INDEX_FILE'];

/** Tracked as a submodule, or not at all; one in an ignored folder is ignored as well. */
export async function nestedRepositories(beside: Repository): Promise<string[]> {
  const untracked = (await git(beside, ['ls-files', '--others', '--exclude-standard', '-z'])).split('\0');
  const repositories = untracked.filter((path) => path.endsWith('/')).map((path) => path.slice(0, -1));
  const entries = await stagedEntries(beside);
  const links = entries.filter(({ mode }) => mode === GITLINK).map(({ path }) => path);
  const isCheckedOut = await Promise.all(links.map((path) => exists(join(beside.directory, path, '.git'))));
  // A submodule that was never checked out holds nothing.
  return [...new Set([...repositories, ...links.filter((_, index) => isCheckedOut[index])])];
}

export interface Adding {
  readonly isFinal: boolean;
  /** The tree of all files of a repository, those of its own nested ones too. */
  readonly write: (repository: Repository, isFinal: boolean) => Promise<string>;
}

export async function addNested(beside: Repository, path: string, adding: Adding): Promise<void> {
  const inside: Repository = { ...beside, directory: join(beside.directory, path), env: without(beside.env, OF_THE_OUTER) };
  await git(beside, ['update-index', '--force-remove', '--', path]);
  await git(beside, ['read-tree', `--prefix=${path}/`, await treeOf(beside, inside, adding)]);
  // A clone is as large as what it is a clone of: too much for every minute.
  if (adding.isFinal) await addCommits(beside, inside, path);
}

/** Its objects go where those of the outer one are. */
async function treeOf(beside: Repository, inside: Repository, { isFinal, write }: Adding): Promise<string> {
  const objects = resolve(beside.directory, (await git(beside, ['rev-parse', '--git-path', 'objects'])).trim());
  const index = temporaryIndex(beside);
  const elsewhere = withEnv(inside, { GIT_INDEX_FILE: index, GIT_OBJECT_DIRECTORY: objects });
  try {
    await addTracked(inside, elsewhere);
    return await write(elsewhere, isFinal);
  } finally {
    await removeIndex(index);
  }
}

/** What is tracked although a pattern ignores it. */
async function addTracked(inside: Repository, elsewhere: Repository): Promise<void> {
  const paths = (await stagedEntries({ ...inside, env: without(inside.env, ['GIT_OBJECT_DIRECTORY']) }))
    .filter(({ mode }) => mode !== GITLINK)
    .map(({ path }) => path);
  if (paths.length > 0) await tryGit(elsewhere, ['update-index', '--add', '--remove', '-z', '--stdin'], `${paths.join('\0')}\0`);
}

async function addCommits(beside: Repository, inside: Repository, path: string): Promise<void> {
  const file = join(beside.guest.stateDir, `nested-${lazy.crypto.randomUUID()}.bundle`);
  try {
    const own = { ...inside, env: without(inside.env, ['GIT_OBJECT_DIRECTORY']) };
    // One without a commit has nothing to bundle.
    const { code } = await tryGit(own, ['bundle', 'create', '--quiet', file, '--all']);
    if (code !== 0) return;
    const id = (await git(beside, ['hash-object', '-w', '--no-filters', '--', file])).trim();
    await git(beside, ['update-index', '--add', '--cacheinfo', `100644,${id},${join(path, BUNDLE)}`]);
  } finally {
    await lazy.files.rm(file, { force: true });
  }
}

async function stagedEntries(repository: Repository): Promise<{ mode: string; path: string }[]> {
  const listed = (await git(repository, ['ls-files', '--stage', '-z'])).split('\0').filter(Boolean);
  return listed.map((line) => ({ mode: line.slice(0, line.indexOf(' ')), path: line.slice(line.indexOf('\t') + 1) }));
}

function without(env: Readonly<Record<string, string>>, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !names.includes(name)));
}

async function exists(path: string): Promise<boolean> {
  return lazy.files.lstat(path).then(
    () => true,
    () => false,
  );
}
