/** The repositories of all teams of a home: `HOME/repos/<uid of the Team>.git`. */
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isCode } from '#lib/errors.ts';
import { equalJson, isObject } from '#lib/json.ts';
import { KeyedLock } from '#lib/keyed-lock.ts';
import { errnoOf } from '#lib/process-identity.ts';
import { bundleOf } from './bundle.ts';
import { despiteStaleLocks } from './locks.ts';
import { mergeSources } from './merge-sources.ts';
import { packIfLarge } from './pack.ts';
import { adoptRefs, receiveBundle, removeIncoming, storeBundle } from './receive.ts';
import { RefMovers } from './ref-mover.ts';
import { BASE_REFS, RESCUE_REFS, SOURCE_REFS } from './refs.ts';
import { describeRescued, listRescued, measure } from './rescued.ts';
import { type GitOptions, git, tryGit } from './run.ts';
import { removeScratch } from './scratch.ts';
import { branchOfSource, fetchSource, pushToFolder, receiver, resolveCommit, resolveInSource, SharedFetch } from './source.ts';
import type { RepositorySource, TeamRepositories, TeamRepository } from './team-repository.ts';
import { updateRefs } from './update-refs.ts';
import { Workbenches } from './workbench.ts';

interface About {
  readonly namespace: string;
  readonly name: string;
  readonly source: RepositorySource;
}

const BY = {
  GIT_AUTHOR_NAME: 'agentiso',
  GIT_AUTHOR_EMAIL: 'rescue@agentiso.invalid',
  GIT_COMMITTER_NAME: 'agentiso',
  GIT_COMMITTER_EMAIL: 'rescue@agentiso.invalid',
};
const DEFAULT_REF = 'main';
const SUFFIX = '.git';

export async function openTeamRepositories(home: string): Promise<TeamRepositories> {
  const root = join(home, 'repos');
  await mkdir(root, { recursive: true, mode: 0o700 });
  // For the git at the other end of a local fetch or push, which gets no settings of ours in any other way.
  const configuration = join(root, 'gitconfig');
  await writeFile(configuration, '[safe]\n\tdirectory = *\n[uploadpack]\n\tallowAnySHA1InWant = true\n', { mode: 0o644 });
  const queue = new KeyedLock();
  const directoryOf = (uid: string) => join(root, `${uid}${SUFFIX}`);
  const uids = async () =>
    (await readdir(root)).filter((name) => name.endsWith(SUFFIX) && !name.startsWith('.')).map((name) => name.slice(0, -SUFFIX.length));
  for (const uid of await uids()) await Promise.all([removeScratch(directoryOf(uid)), removeIncoming(directoryOf(uid))]);
  const fetches = new SharedFetch();
  const benches = await Workbenches.open(join(root, '.merging'));
  const movers = new RefMovers();
  const use = (uid: string, about: About) =>
    teamRepository({
      uid,
      about,
      queue,
      fetches,
      benches,
      movers,
      options: { directory: directoryOf(uid), env: { GIT_CONFIG_GLOBAL: configuration } },
    });
  return {
    open: ({ uid, namespace, name, source = {} }) =>
      queue.run(uid, async () => {
        const about = { namespace, name, source };
        await ensureRepository(directoryOf(uid), about);
        return use(uid, about);
      }),
    async find(uid) {
      const about = await readAbout(directoryOf(uid));
      return about && use(uid, about);
    },
    async list() {
      const found = await Promise.all((await uids()).map(async (teamUid) => ({ teamUid, about: await readAbout(directoryOf(teamUid)) })));
      return Promise.all(found.flatMap(({ teamUid, about }) => (about ? [sized(teamUid, about, directoryOf(teamUid))] : [])));
    },
    async tidy(signal) {
      let packed = 0;
      for (const uid of await uids()) {
        signal?.throwIfAborted();
        const options = { directory: directoryOf(uid), ...(signal && { signal }) };
        // In turn with what moves refs there; merges go on beside it.
        packed += Number(await queue.run(uid, async () => ((await readAbout(options.directory)) ? packIfLarge(options) : false)));
      }
      return packed;
    },
    remove: (uid) =>
      queue.run(uid, async () => {
        const about = await readAbout(directoryOf(uid));
        if (!about) return 'absent';
        if (await holdsWork({ directory: directoryOf(uid) })) return 'kept';
        movers.drop(directoryOf(uid));
        await benches.drop(directoryOf(uid));
        await rm(directoryOf(uid), { recursive: true, force: true });
        return 'removed';
      }),
    async close() {
      movers.close();
      await benches.close();
    },
  };
}

async function sized(teamUid: string, { namespace, name }: About, directory: string) {
  const counted = await git(['count-objects', '-v'], { directory });
  const kib = [...counted.matchAll(/^size(?:-pack)?: (\d+)$/gm)].reduce((sum, [, size]) => sum + Number(size), 0);
  return { teamUid, namespace, name, bytes: kib * 1024 };
}

/** Rescued, or merged into a branch that only this repository has. Branches of agents go with them, those of Merges with these. */
async function holdsWork(options: GitOptions): Promise<boolean> {
  if ((await git(['for-each-ref', '--count=1', RESCUE_REFS], options)) !== '') return true;
  const own = ['--exclude=refs/heads/agents/*', '--exclude=refs/heads/agentiso/*', '--glob=refs/heads/*'];
  const known = [`--glob=${SOURCE_REFS}/*`, `--glob=${BASE_REFS}/*`, '--tags'];
  return (await git(['rev-list', '--max-count=1', ...own, '--not', ...known], options)).trim() !== '';
}

/** Whole or not there: it is made beside its place. */
async function ensureRepository(directory: string, about: About): Promise<void> {
  const known = await readAbout(directory);
  if (known) {
    if (!equalJson(known, about)) await writeAbout(directory, about);
    return;
  }
  const making = `${directory}.new`;
  await rm(making, { recursive: true, force: true });
  await mkdir(making, { recursive: true, mode: 0o700 });
  await git(['init', '--quiet', '--bare', `--initial-branch=${DEFAULT_REF}`], { directory: making });
  await git(['config', 'core.logAllRefUpdates', 'always'], { directory: making });
  await git(['config', 'uploadpack.allowAnySHA1InWant', 'true'], { directory: making });
  await writeAbout(making, about);
  await rename(making, directory);
}

async function readAbout(directory: string): Promise<About | undefined> {
  try {
    const { namespace, name, source } = JSON.parse(await readFile(join(directory, 'agentiso.json'), 'utf8')) as Record<string, unknown>;
    return { namespace: String(namespace), name: String(name), source: isObject(source) ? (source as RepositorySource) : {} };
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

async function writeAbout(directory: string, about: About): Promise<void> {
  const path = join(directory, 'agentiso.json');
  await writeFile(`${path}.new`, `${JSON.stringify(about, undefined, 2)}\n`, { mode: 0o600, flush: true });
  await rename(`${path}.new`, path);
}

interface Using {
  readonly uid: string;
  readonly about: About;
  readonly queue: KeyedLock;
  readonly fetches: SharedFetch;
  readonly benches: Workbenches;
  readonly movers: RefMovers;
  readonly options: GitOptions;
}

function teamRepository({ uid, about: { source }, queue, fetches, benches, movers, options }: Using): TeamRepository {
  const { directory } = options;
  const exclusively = <T>(work: () => Promise<T>) => queue.run(uid, () => despiteStaleLocks(directory, work));
  const within = (signal?: AbortSignal): GitOptions => ({ ...options, ...(signal && { signal }) });
  const sourceKey = JSON.stringify([uid, source]);
  const fetchNow = () => fetchSource(source, options);
  const refresh = () =>
    source.url === undefined ? fetches.run(sourceKey, () => exclusively(fetchNow)) : fetches.recent(sourceKey, fetchNow);
  return {
    directory,
    teamUid: uid,
    async baseCommit(signal) {
      const hasSource = await refresh();
      const ref = source.ref ?? DEFAULT_REF;
      return hasSource ? resolveInSource(ref, within(signal)) : resolveCommit(`refs/heads/${ref}`, within(signal));
    },
    refreshFolder: async () => source.path !== undefined && refresh().catch(() => false),
    targetCommit: (branch, signal) =>
      exclusively(async () => {
        const mirrored = `refs/agentiso/source/heads/${branch}`;
        await fetchSource(source, within(signal));
        if (source.path !== undefined) return resolveCommit(mirrored, options);
        return (await resolveCommit(`refs/heads/${branch}`, options)) ?? resolveCommit(mirrored, options);
      }),
    sourceBranch: (signal) => branchOfSource(source, within(signal)),
    resolve: (name) => resolveCommit(name, options),
    async refs(...prefixes) {
      const listed = await git(['for-each-ref', '--format=%(refname) %(objectname)', ...prefixes], options);
      return new Map(
        listed
          .split('\n')
          .filter(Boolean)
          .map((line) => line.split(' ') as [string, string]),
      );
    },
    update: (updates) => exclusively(() => updateRefs(updates, options)),
    async receive(bundle, delivery, signal) {
      const file = await storeBundle(bundle, delivery.maxBytes, options);
      try {
        return await exclusively(() => receiveBundle(file, delivery, within(signal)));
      } finally {
        await rm(file, { force: true });
      }
    },
    adopt: (refs, delivery) => exclusively(() => adoptRefs(refs, delivery, options)),
    bundle: (commit, have, signal) => bundleOf(commit, have, within(signal)),
    async join(parents, { treeOf, message }) {
      const given = parents.flatMap((parent) => ['-p', parent]);
      return (
        await git(['commit-tree', `${treeOf}^{tree}`, ...given, '-F', '-'], { ...options, env: { ...options.env, ...BY }, input: message })
      ).trim();
    },
    publish: (ref) =>
      exclusively(async () => {
        if (source.path === undefined) return false;
        const { code } = await tryGit(
          ['push', '--quiet', `--receive-pack=${await receiver(source.path)}`, '--', source.path, `${ref}:${ref}`],
          options,
        );
        return code === 0;
      }),
    unpublish: (ref) =>
      exclusively(async () => {
        if (source.path === undefined) return;
        const args = ['push', '--quiet', `--receive-pack=${await receiver(source.path)}`, '--', source.path, `:${ref}`];
        // Gone already, or a folder that is no longer there.
        await tryGit(args, options);
      }),
    async isContained(commit, refs) {
      const input = [commit, ...refs.map((ref) => `^${ref}`), ''].join('\n');
      return (await git(['rev-list', '--count', '--max-count=1', '--stdin'], { ...options, input })).trim() === '0';
    },
    async changedFiles(from, to) {
      const listed = await git(['diff', '--name-only', '--no-renames', '-z', from, to, '--'], options);
      return listed.split('\0').filter(Boolean);
    },
    rescued: () => listRescued(options),
    describeRescued: (work) => describeRescued(work, options),
    measure: (commits, than) => measure(commits, than, options),
    async trailers(key, { from, to, paths }) {
      const format = `--format=%(trailers:key=${key},valueonly,unfold)`;
      const found = await git(
        ['log', '--full-history', format, to, `^${from}`, '--', ...paths.map((path) => `:(literal)${path}`)],
        options,
      );
      return [...new Set(found.split('\n').map((line) => line.trim()))].filter(Boolean).sort();
    },
    async merge(plan, use, signal) {
      const bench = await benches.take(options);
      const { scratch, merges } = bench;
      try {
        const merged = mergeSources(directory, scratch, plan, { merges, ...(signal && { signal }) });
        // While git merges: what will move the ref is ready when it is needed.
        if (source.path === undefined) movers.prepare(options);
        return await use({ outcome: await merged, keep: () => scratch.keep() });
      } finally {
        await benches.giveBack(bench, options);
      }
    },
    land: (branch, move, signal) =>
      exclusively(async () => {
        if (source.path !== undefined) return pushToFolder(source.path, branch, move, within(signal));
        return moveOwnBranch(branch, move, { options, movers });
      }),
  };
}

async function moveOwnBranch(
  branch: string,
  { from, to }: { readonly from: string | undefined; readonly to: string },
  { options, movers }: { readonly options: GitOptions; readonly movers: RefMovers },
) {
  const ref = `refs/heads/${branch}`;
  try {
    await updateRefs([{ ref, to, from }], options, movers);
    return { state: 'landed' as const };
  } catch (error) {
    if (!isCode(error, 'Conflict')) throw error;
  }
  const now = await resolveCommit(ref, options);
  // The branch of a remote source is here only once something was merged into it.
  const source = now === undefined && from !== undefined ? await resolveCommit(`refs/agentiso/source/heads/${branch}`, options) : undefined;
  if (source === undefined || source !== from) return { state: 'moved' as const, now };
  await updateRefs([{ ref, to, from: undefined }], options);
  return { state: 'landed' as const };
}
