/** golden.gitUrl: fetched by the daemon, as a team's repository is, and carried into the workspace, which needs no network for it. */
import type { Snapshot } from '#api/types.ts';
import type { TeamRepositories } from '#git/team-repository.ts';
import { fillWithCommit } from '../verify/fill-commit.ts';
import { type Guest, run, UnusableWork } from '../verify/verify-fill.ts';

export interface Clone {
  readonly repositories: TeamRepositories;
  /** What it is for. */
  readonly snapshot: Snapshot;
  readonly signal: AbortSignal;
}

/** As `git clone` would: on the branch that its source is on, which is called origin. Nothing is left of it outside. */
export async function cloneInto(guest: Guest, url: string, { repositories, snapshot, signal }: Clone): Promise<void> {
  const { namespace, name, uid } = snapshot.metadata;
  const repository = await repositories.open({ uid: cloneOf(uid), namespace, name, source: { url } });
  try {
    const branch = await repository.sourceBranch(signal);
    const commit = branch === undefined ? undefined : await repository.targetCommit(branch, signal);
    if (branch === undefined || commit === undefined) throw new UnusableWork(`${url} has no commit on the branch that its HEAD names`);
    await fillWithCommit(guest, commit, repository, signal);
    const command = 'git checkout -q -B "$BRANCH" && git remote add origin "$URL"';
    await run(guest, { command, env: { BRANCH: branch, URL: url } }, signal);
  } finally {
    await forgetClone(uid, repositories);
  }
}

/** One that a crash has left is in the way of nobody, but for the room it takes. */
export async function forgetClone(snapshotUid: string, repositories: TeamRepositories): Promise<void> {
  await repositories.remove(cloneOf(snapshotUid));
}

function cloneOf(snapshotUid: string): string {
  return `golden-${snapshotUid}`;
}
