/** The end of a Merge: its refs and branches go, from a repository that has outlived its team too. */
import type { Merge } from '#api/types.ts';
import type { TeamRepository } from '#git/team-repository.ts';
import type { MergeDeps } from './deps.ts';
import { branchesOf, refsOf } from './refs.ts';
import { teamNamed } from './teams.ts';

export async function finalizeMerge(merge: Merge, deps: MergeDeps): Promise<void> {
  const { uid, name } = merge.metadata;
  await deps.mergeVerifier.forget(uid);
  for (const repository of await repositoriesOf(merge, deps)) {
    const own = await repository.refs(refsOf(uid));
    const branches = merge.spec.strategy === 'branch-per-source' ? await repository.refs(branchesOf(name)) : new Map();
    await repository.update([...own.keys(), ...branches.keys()].map((ref) => ({ ref, to: undefined })));
  }
}

/** That of its team; without the team, all that were a team's of that name. */
async function repositoriesOf({ metadata: { namespace }, spec }: Merge, { client, repositories }: MergeDeps): Promise<TeamRepository[]> {
  const team = await teamNamed(client, namespace, spec.team);
  const uids = team
    ? [team.metadata.uid]
    : (await repositories.list()).filter((each) => each.namespace === namespace && each.name === spec.team).map(({ teamUid }) => teamUid);
  const found = await Promise.all(uids.map((each) => repositories.find(each)));
  return found.filter((repository) => repository !== undefined);
}
