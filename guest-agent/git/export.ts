/** What is in a repository of the workspace and not yet at the host, as one bundle. */
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { GitExportParams, GitExportResult } from '#protocol/control.ts';
import { ProtocolError } from '#protocol/protocol-error.ts';
import type { Guest } from '../guest.ts';
import { lazy } from '../lazy-modules.ts';
import { resolveInWorkspace } from '../workspace-path.ts';
import { captureUncommitted, stashes } from './capture.ts';
import { git, type Repository, startGit } from './git.ts';
import { rememberedCommits } from './remembered.ts';
import { readStatus, type Status } from './status.ts';

const PREFIX = 'refs/agentiso/export';
const MAX_FILES = 1_000;

export async function exportGit(guest: Guest, params: GitExportParams, bundle: Writable, signal: AbortSignal): Promise<GitExportResult> {
  // To end them is the host's: then nobody takes their end for a failure of their own.
  if (params.isFinal && guest.groups.size > 0) throw new ProtocolError('Unavailable', 'commands still run in the workspace');
  const directory = await resolveInWorkspace(guest.root, params.path);
  const inPlace: Repository = { guest, directory, env: {}, signal };
  const status = (await isThere(join(directory, '.git'))) ? await statusOf(inPlace, params.isFinal) : undefined;
  const isRepository = status !== undefined;
  const isEmpty = !isRepository && (await lazy.files.readdir(directory)).length === 0;
  if (isEmpty || (!isRepository && !params.withUncommitted))
    return { isRepository, hasBundle: false, refs: {}, uncommittedFiles: [], branches: {} };
  const repository = isRepository ? inPlace : { ...inPlace, env: await ensureCaptureRepository(guest, directory, signal) };
  const branches = await localBranches(repository);
  const refs = await collectRefs(repository, { ...params, status, branches });
  const hasBundle = Object.keys(refs).length > 0 && (await writeBundle(repository, refs, params.have, bundle));
  const { head, branch, uncommittedFiles = [] } = status ?? {};
  return {
    isRepository,
    hasBundle,
    refs,
    uncommittedFiles: uncommittedFiles.slice(0, MAX_FILES),
    branches,
    ...(head !== undefined && { head }),
    ...(branch !== undefined && { branch }),
  };
}

/** A repository that is damaged has files all the same, and the last time they are worth more than their history. */
async function statusOf(repository: Repository, isFinal: boolean): Promise<Status | undefined> {
  try {
    return await readStatus(repository);
  } catch (error) {
    if (!isFinal || repository.signal.aborted) throw error;
    return undefined;
  }
}

/** A folder without a repository has its files captured by one of ours, which lies outside of it. */
async function ensureCaptureRepository(guest: Guest, directory: string, signal: AbortSignal): Promise<Record<string, string>> {
  const gitDir = join(guest.stateDir, 'capture.git');
  const env = { GIT_DIR: gitDir, GIT_WORK_TREE: directory };
  if (!(await isThere(gitDir))) {
    const making = `${gitDir}.new`;
    await lazy.files.rm(making, { recursive: true, force: true });
    await git({ guest, directory, env: {}, signal }, ['init', '--quiet', '--bare', making]);
    await git({ guest, directory, env: { GIT_DIR: making }, signal }, ['config', 'core.bare', 'false']);
    await lazy.files.rename(making, gitDir);
  }
  return env;
}

async function localBranches(repository: Repository): Promise<Record<string, string>> {
  const listed = await git(repository, ['for-each-ref', '--format=%(objectname) %(refname:strip=2)', 'refs/heads']);
  return Object.fromEntries(
    listed
      .split('\n')
      .filter(Boolean)
      .map((line) => [line.slice(line.indexOf(' ') + 1), line.slice(0, line.indexOf(' '))]),
  );
}

interface Wanted {
  /** Undefined: it is no repository. */
  readonly status: Status | undefined;
  readonly branches: Readonly<Record<string, string>>;
  readonly withUncommitted: boolean;
  readonly isFinal: boolean;
  /** What the host has. */
  readonly have: readonly string[];
}

async function collectRefs(repository: Repository, wanted: Wanted): Promise<Record<string, string>> {
  const { status, branches, withUncommitted, isFinal, have } = wanted;
  const head = status?.head;
  const refs: Record<string, string> = {};
  if (head !== undefined) refs[`${PREFIX}/head`] = head;
  if (!withUncommitted) return refs;
  const isClean = status?.uncommittedFiles.length === 0;
  const wip = isClean ? undefined : await captureUncommitted(repository, head, isFinal);
  if (wip !== undefined) refs[`${PREFIX}/wip`] = wip;
  const kept = status?.hasStashes ? await stashes(repository) : [];
  for (const [index, stash] of kept.entries()) refs[`${PREFIX}/stash/${index}`] = stash;
  for (const [name, commit] of Object.entries(branches)) if (commit !== head) refs[`${PREFIX}/branches/${name}`] = commit;
  // Only the last time: until then the workspace itself remembers them.
  return isFinal && status ? { ...refs, ...(await rememberedRefs(repository, [...kept, ...headOf(status), ...have])) } : refs;
}

function headOf({ head }: Status): readonly string[] {
  return head === undefined ? [] : [head];
}

async function rememberedRefs(repository: Repository, known: readonly string[]): Promise<Record<string, string>> {
  const commits = await rememberedCommits(repository, await existing(repository, known));
  return Object.fromEntries(commits.map((commit, index) => [`${PREFIX}/remembered/${index}`, commit]));
}

/** False: the host has it all, and a bundle of nothing cannot be made. */
async function writeBundle(
  repository: Repository,
  refs: Readonly<Record<string, string>>,
  have: readonly string[],
  bundle: Writable,
): Promise<boolean> {
  const known = await existing(repository, have);
  const isNew = await git(repository, ['rev-list', '--max-count=1', ...Object.values(refs), '--not', ...known]);
  if (isNew.trim() === '') return false;
  await clearExport(repository);
  await git(
    repository,
    ['update-ref', '--stdin'],
    Object.entries(refs)
      .map(([ref, id]) => `update ${ref} ${id}\n`)
      .join(''),
  );
  try {
    const child = startGit(repository, ['bundle', 'create', '--quiet', '-', '--stdin']);
    let complaint = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      complaint = `${complaint}${chunk}`.slice(-2_000);
    });
    const closed = new Promise<number | null>((resolve, reject) => child.once('close', resolve).once('error', reject));
    // A git that ends before it has read everything says why by its exit code.
    child.stdin?.on('error', () => undefined).end([...Object.keys(refs), ...known.map((id) => `^${id}`), ''].join('\n'));
    const carried = child.stdout && pipeline(child.stdout, bundle, { end: false, signal: repository.signal });
    // Both at once: whichever fails first, the other is not left to fail with nobody there to hear it, which would end this guest.
    const [code] = await Promise.all([closed, carried]);
    if (code !== 0) throw new ProtocolError('IoError', `git bundle failed in the workspace: ${complaint.trim()}`);
    return true;
  } finally {
    // Whoever wanted it may be gone: a git that moves refs is let finish all the same.
    await clearExport({ ...repository, signal: new AbortController().signal });
  }
}

async function clearExport(repository: Repository): Promise<void> {
  const left = await git(repository, ['for-each-ref', '--format=delete %(refname)', PREFIX]);
  if (left !== '') await git(repository, ['update-ref', '--stdin'], left);
}

async function existing(repository: Repository, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const checked = await git(repository, ['cat-file', '--batch-check'], `${ids.join('\n')}\n`);
  return checked.split('\n').flatMap((line) => (line.split(' ')[1] === 'commit' ? [line.slice(0, line.indexOf(' '))] : []));
}

async function isThere(path: string): Promise<boolean> {
  return lazy.files.lstat(path).then(
    () => true,
    () => false,
  );
}
