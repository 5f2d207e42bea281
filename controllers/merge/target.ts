/** Where a merge lands: a branch of the team's source, or the repository of an agent. One interface for both. */
import type { Merge } from '#api/types.ts';
import type { Landing, TeamRepository } from '#git/team-repository.ts';
import { StalledError } from '#lib/errors.ts';
import type { MergeDeps } from './deps.ts';
import { candidateRef } from './refs.ts';
import { agentNamed, carry } from './teams.ts';

export interface Target {
  /** As people call it. */
  readonly name: string;
  readonly commit: string | undefined;
  land(move: { readonly from: string | undefined; readonly to: string }, signal: AbortSignal): Promise<Landing>;
}

interface Means {
  readonly repository: TeamRepository;
  readonly deps: Pick<MergeDeps, 'client' | 'work' | 'repositories'>;
  readonly signal: AbortSignal;
}

/** Throws StalledError when there is no such place. */
export async function targetOfMerge(merge: Merge, means: Means): Promise<Target> {
  const { target } = merge.spec;
  if (target.agent !== undefined) return agentTarget(merge, target.agent, means);
  const { repository, signal } = means;
  const branch = target.branch ?? '';
  return {
    name: branch,
    commit: await repository.targetCommit(branch, signal),
    land: (move, until) => repository.land(branch, move, until),
  };
}

async function agentTarget(merge: Merge, name: string, { repository, deps, signal }: Means): Promise<Target> {
  const { spec, metadata } = merge;
  const agent = await agentNamed(deps.client, merge, name);
  const wanted = { path: spec.path, ...(spec.target.branch !== undefined && { branch: spec.target.branch }) };
  const found = await deps.work.target(agent, wanted, signal);
  if ('problem' in found) throw new StalledError(found.problem, found.message);
  const { branch, commit } = found;
  if (commit !== undefined) {
    const ref = candidateRef(metadata.uid, `target ${name}`);
    await carry(agent, { commit, base: agent.status?.git?.forkBase, ref }, repository, { ...deps, merge, signal });
  }
  return {
    name: `${branch} of ${name}`,
    commit,
    land: (move, until) => deps.work.land(agent, { path: spec.path, branch, ...move }, repository, until),
  };
}
