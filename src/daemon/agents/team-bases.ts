/**
 * What workspaces start from: one check-out per team and commit, `HOME/state/bases/<team uid>/<commit>`, shared by all of its agents and never
 * written to. Which one an agent has is decided once and written down before its workspace is made: the layer above fits no other.
 */
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { baseRef } from '#git/refs.ts';
import { git } from '#git/run.ts';
import type { TeamRepository } from '#git/team-repository.ts';
import { messageOf, StalledError } from '#lib/errors.ts';
import { execute } from '#lib/execute.ts';
import { KeyedLock } from '#lib/keyed-lock.ts';
import { errnoOf } from '#lib/process-identity.ts';

export interface Base {
  readonly directory: string;
  readonly commit: string;
}

/** What was written down for an agent. */
export interface BaseNote {
  /** The uid of the team whose repository has the commit. */
  readonly team: string;
  readonly commit: string;
}

export interface TeamBases {
  /** Undefined: its workspace started empty, or has not started yet. */
  noteOf(agentUid: string): Promise<BaseNote | undefined>;
  /**
   * The one it has, or else the one of the team's newest commit. Undefined: the repository has no such commit. `owner`: whom its files belong to
   * inside; absent: who we are.
   */
  ensure(agentUid: string, repository: TeamRepository, owner?: number): Promise<Base | undefined>;
  /** Another one has the same: a snapshot of the agent's files, or an agent that begins with them. Nothing where there is none. */
  copyNote(fromUid: string, toUid: string): Promise<void>;
  /** The agent's workspace is gone for good. Of check-outs that no agent has any more the newest is kept for the next agent. */
  forget(agentUid: string): Promise<void>;
  /** The team is gone. */
  forgetTeam(teamUid: string): Promise<void>;
  /** At the start, of what an earlier daemon left: all check-outs that no agent has. */
  sweep(): Promise<void>;
}

/** Adds to each commit which task and agent made it; the variables are those of a task's command. */
const HOOK = `#!/bin/sh
set -- "$1"
[ -n "\${AGENTISO_TASK:-}" ] || exit 0
exec git interpret-trailers --in-place --if-exists doNothing \\
  --trailer "Agentiso-Agent: \${AGENTISO_AGENT:-}" --trailer "Agentiso-Task: $AGENTISO_TASK" --trailer "Agentiso-Attempt: \${AGENTISO_ATTEMPT:-}" "$1"
`;

export function createTeamBases(home: string): TeamBases {
  const root = join(home, 'state', 'bases');
  const notes = join(root, NOTES);
  const queue = new KeyedLock();
  const teams = async () => (await list(root)).filter((name) => name !== NOTES);
  /** Unused ones of a team, but for so many of the newest of all. */
  const removeUnused = async (team: string, keep: number): Promise<void> => {
    const used = await usedCommits(notes, team);
    const paths = (await list(join(root, team))).map((name) => join(root, team, name));
    const times = new Map(await Promise.all(paths.map(async (path) => [path, (await stat(path)).mtimeMs] as const)));
    const newest = paths.sort((a, b) => (times.get(b) ?? 0) - (times.get(a) ?? 0));
    const unused = newest.slice(keep).filter((path) => !used.has(commitOf(basename(path))));
    for (const path of unused) await rm(path, { recursive: true, force: true });
  };
  return {
    noteOf: (agentUid) => readNote(join(notes, agentUid)),
    ensure: (agentUid, repository, owner) =>
      queue.run(repository.teamUid, async () => {
        const note = await readNote(join(notes, agentUid));
        const commit = note?.commit ?? (await repository.baseCommit());
        if (commit === undefined) return undefined;
        const directory = join(root, repository.teamUid, owner === undefined ? commit : `${commit}-${owner}`);
        await ensureCheckOut(directory, commit, repository, owner);
        if (!note) await writeNote(join(notes, agentUid), { team: repository.teamUid, commit });
        return { directory, commit };
      }),
    async copyNote(fromUid, toUid) {
      const note = await readNote(join(notes, fromUid));
      if (note) await queue.run(note.team, () => writeNote(join(notes, toUid), note));
    },
    async forget(agentUid) {
      const note = await readNote(join(notes, agentUid));
      if (!note) return;
      await queue.run(note.team, async () => {
        await rm(join(notes, agentUid), { force: true });
        await removeUnused(note.team, 1);
      });
    },
    forgetTeam: (teamUid) => queue.run(teamUid, () => removeUnused(teamUid, 0)),
    async sweep() {
      for (const team of await teams()) {
        await queue.run(team, () => removeUnused(team, 0));
        if ((await list(join(root, team))).length === 0) await rm(join(root, team), { recursive: true, force: true });
      }
    },
  };
}

const NOTES = 'agents';

/** Names are commits, followed by an owner or by what says that it is not whole. */
function commitOf(name: string): string {
  return /^[0-9a-f]+(?!.*\.new$)/.exec(name)?.[0] ?? '';
}

async function usedCommits(notes: string, team: string): Promise<Set<string>> {
  const all = await Promise.all((await list(notes)).map((name) => readNote(join(notes, name))));
  return new Set(all.flatMap((note) => (note?.team === team ? [note.commit] : [])));
}

async function readNote(path: string): Promise<BaseNote | undefined> {
  try {
    const [team = '', commit = ''] = (await readFile(path, 'utf8')).trim().split(' ');
    return { team, commit };
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

async function writeNote(path: string, { team, commit }: BaseNote): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeFile(`${path}.new`, `${team} ${commit}\n`, { mode: 0o600, flush: true });
  await rename(`${path}.new`, path);
}

/** Made beside its place: a check-out that is there is whole. */
async function ensureCheckOut(directory: string, commit: string, repository: TeamRepository, owner: number | undefined): Promise<void> {
  if ((await list(directory)).length > 0) return;
  const making = `${directory}.new`;
  await rm(making, { recursive: true, force: true });
  await mkdir(dirname(making), { recursive: true, mode: 0o711 });
  try {
    await checkOut(making, commit, repository);
    if (owner !== undefined) await giveTo(owner, making);
    await rename(making, directory);
  } catch (error) {
    await rm(making, { recursive: true, force: true });
    throw error;
  }
}

async function checkOut(making: string, commit: string, repository: TeamRepository): Promise<void> {
  // From now on the commit is nobody's work, wherever the branches of the source go.
  await repository.update([{ ref: baseRef(commit), to: commit }]).catch((error: unknown) => {
    throw new StalledError('BaseMissing', `commit ${commit} is not in the team's repository: ${messageOf(error)}`);
  });
  await git(['init', '--quiet', '--initial-branch=main', making], { directory: repository.directory });
  const inside = { directory: making, timeoutMs: CHECK_OUT_MS };
  const refs = ['+refs/agentiso/source/heads/*:refs/remotes/origin/*', '+refs/tags/*:refs/tags/*', `+${baseRef(commit)}:${BASE}`];
  await git(['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--update-shallow', repository.directory, ...refs], inside);
  await git(['checkout', '--quiet', '--detach', commit], inside);
  await git(['update-ref', '-d', BASE], inside);
  const hooks = join(making, '.git', 'hooks');
  await mkdir(hooks, { recursive: true });
  await writeFile(join(hooks, 'prepare-commit-msg'), HOOK, { mode: 0o755 });
}

async function giveTo(owner: number, directory: string): Promise<void> {
  await execute('chown', ['-R', '-h', `${owner}:${owner}`, '--', directory]);
  const as = ['setpriv', `--reuid=${owner}`, `--regid=${owner}`, '--clear-groups', '--inh-caps=-all', '--', ...AS_INSIDE];
  const script = 'mount --bind "$1" /mnt && cd /mnt && shift && exec "$@"';
  await execute('unshare', ['--mount', '--', '/bin/sh', '-c', script, 'sh', directory, ...as, ...REFRESH]).catch(() => undefined);
}

/**
 * The index knows owners and times of files, as whoever wrote it saw them: it is written as those inside see them. Where that cannot be done, git
 * reads all files once in every workspace; nothing else is different.
 */
const AS_INSIDE = ['unshare', '--user', '--map-user=1000', '--map-group=1000', '--'];
const REFRESH = ['git', '-c', 'safe.directory=*', '-c', 'core.fsmonitor=false', 'update-index', '-q', '--refresh'];
const BASE = 'refs/agentiso/base';
const CHECK_OUT_MS = 600_000;

async function list(path: string): Promise<string[]> {
  return readdir(path).catch((error: unknown) => {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  });
}
