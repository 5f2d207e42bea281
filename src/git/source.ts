/** The repository that a team's work comes from and goes back to: a folder of this machine, a remote one, or none. */
import { stat } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { StalledError, WaitingError } from '#lib/errors.ts';
import { GitError, type GitOptions, git, tryGit } from './run.ts';
import type { Landing, RepositorySource } from './team-repository.ts';

const FETCH_TIMEOUT_MS = 600_000;
const SOURCE_HEADS = 'refs/agentiso/source/heads/';

/** What the source has now; true when there is one. */
export async function fetchSource(source: RepositorySource, options: GitOptions): Promise<boolean> {
  const from = source.path ?? source.url;
  if (from === undefined) return false;
  const refs = [`+refs/heads/*:${SOURCE_HEADS}*`, '+refs/tags/*:refs/tags/*'];
  const args = [
    'fetch',
    '--quiet',
    '--prune',
    '--no-tags',
    '--no-write-fetch-head',
    '--no-auto-gc',
    '--update-shallow',
    '--',
    from,
    ...refs,
  ];
  const outcome = await tryGit(args, { ...options, timeoutMs: FETCH_TIMEOUT_MS });
  if (outcome.code !== 0) {
    const reason = source.path === undefined ? 'RepositoryUnreachable' : 'NotARepository';
    throw new StalledError(reason, `spec.repo cannot be read: ${new GitError(args, outcome).message}`, {
      hint: 'look at spec.repo of the Team',
    });
  }
  return true;
}

/** What HEAD of the source names; undefined when there is none. */
export async function branchOfSource(source: RepositorySource, options: GitOptions): Promise<string | undefined> {
  const from = source.path ?? source.url;
  if (from === undefined) return undefined;
  const args = ['ls-remote', '--symref', '--', from, 'HEAD'];
  const outcome = await tryGit(args, options);
  if (outcome.code !== 0) throw new StalledError('RepositoryUnreachable', `${from} cannot be read: ${new GitError(args, outcome).message}`);
  return /^ref: refs\/heads\/(.+)\tHEAD$/m.exec(outcome.stdout.toString())?.[1];
}

interface Look {
  readonly result: Promise<boolean>;
  endedAtMs?: number;
}

/** Many agents that start at once need one look at their source. */
export class SharedFetch {
  readonly #running = new Map<string, Promise<unknown>>();
  readonly #next = new Map<string, Promise<boolean>>();
  readonly #looks = new Map<string, Look>();

  /** One that begins after it was asked for. */
  run(key: string, fetch: () => Promise<boolean>): Promise<boolean> {
    const waiting = this.#next.get(key);
    if (waiting !== undefined) return waiting;
    const before = this.#running.get(key) ?? Promise.resolve();
    const next: Promise<boolean> = before
      .catch(() => undefined)
      .then(() => {
        this.#next.delete(key);
        this.#running.set(key, next);
        return fetch();
      })
      .finally(() => {
        if (this.#running.get(key) === next) this.#running.delete(key);
      });
    this.#next.set(key, next);
    return next;
  }

  /** What is far away may take long, and nobody is to wait for it: it goes on, and what it gave is good for a while. */
  async recent(key: string, fetch: () => Promise<boolean>): Promise<boolean> {
    const before = this.#looks.get(key);
    const isFresh = before !== undefined && performance.now() - (before.endedAtMs ?? performance.now()) < FRESH_MS;
    const look: Look = isFresh ? before : { result: this.run(key, fetch) };
    if (!isFresh) {
      this.#looks.set(key, look);
      const end = () => {
        look.endedAtMs = performance.now();
      };
      look.result.then(end, end);
    }
    const late = new AbortController();
    const tooLong = delay(PATIENCE_MS, undefined, { signal: late.signal, ref: false }).then(() => {
      throw new WaitingError('FetchingRepository', 'the repository of the team is being fetched', PATIENCE_MS);
    });
    tooLong.catch(() => undefined);
    return Promise.race([look.result, tooLong]).finally(() => late.abort());
  }
}

const FRESH_MS = 10_000;
const PATIENCE_MS = 3_000;

/** A branch, a tag or a commit of the source. */
export async function resolveInSource(ref: string, options: GitOptions): Promise<string | undefined> {
  for (const name of [`${SOURCE_HEADS}${ref}`, `refs/tags/${ref}`, ref]) {
    const id = await resolveCommit(name, options);
    if (id !== undefined) return id;
  }
  return undefined;
}

export async function resolveCommit(name: string, options: GitOptions): Promise<string | undefined> {
  const { code, stdout } = await tryGit(['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`], options);
  return code === 0 ? stdout.toString().trim() : undefined;
}

/** A branch of a folder on this machine: moved with its worktree, if that is clean, and as the user it belongs to. */
export async function pushToFolder(
  path: string,
  branch: string,
  { from, to }: { readonly from: string | undefined; readonly to: string },
  options: GitOptions,
): Promise<Landing> {
  const ref = `refs/heads/${branch}`;
  const lease = `--force-with-lease=${ref}:${from ?? ''}`;
  const args = ['push', '--porcelain', '--atomic', lease, `--receive-pack=${await receiver(path)}`, '--', path, `${to}:${ref}`];
  const outcome = await tryGit(args, options);
  if (outcome.code === 0) return { state: 'landed' };
  const said = `${outcome.stdout}\n${outcome.stderr}`;
  if (/stale info|fetch first|non-fast-forward|failed to update ref|cannot lock ref/.test(said)) {
    const now = (await git(['ls-remote', '--', path, ref], options)).split('\t')[0]?.trim();
    return { state: 'moved', now: now || undefined };
  }
  const refusal = /Working directory has (?:un)?staged changes|Could not update working tree|would be overwritten/i.exec(said);
  if (refusal) return { state: 'dirty', message: `${path} has changes that are not committed; commit or stash them` };
  throw new GitError(args, outcome);
}

/** Hooks of the folder are its owner's and run as the owner would run them; everything else is settled here. */
export async function receiver(path: string): Promise<string> {
  const { uid, gid } = await stat(path);
  const isOther = process.getuid?.() === 0 && uid !== 0;
  const as = isOther ? `setpriv --reuid=${uid} --regid=${gid} --clear-groups --inh-caps=-all ` : '';
  return `${as}git -c receive.denyCurrentBranch=updateInstead -c receive.autoGc=false receive-pack`;
}
