/** What of an agent's work is in no branch of its team, kept under one ref when the agent goes. */
import { type Agent, shortName, type Team } from '#api/types.ts';
import type { Rescue } from '#controllers/agent/deps.ts';
import { agentBranch, BASE_REFS, branchRef, incomingRef, keptRef, rescueRef, SOURCE_REFS, wipRef } from '#git/refs.ts';
import { type RescuedWork, rescueMessage } from '#git/rescued.ts';
import type { TeamRepository } from '#git/team-repository.ts';
import type { SaveOutcome } from '../agents/agent-work.ts';

interface Keeping {
  readonly repository: TeamRepository;
  readonly team: Team | undefined;
}

/** The refs of the agent itself go in the same step that makes the one for its work. */
export async function keepUnmerged(agent: Agent, saved: readonly SaveOutcome[], { repository, team }: Keeping): Promise<Rescue> {
  await repository.refreshFolder();
  const own = await ownRefs(agent, repository);
  const merged = await mergedRefs(repository);
  const unmerged = await unmergedOf(candidatesOf(saved, own), merged, repository);
  const ref = rescueRef(agent.metadata.uid);
  const before = await rescuedBefore(agent, repository);
  const removals = [...own.keys()].map((each) => ({ ref: each, to: undefined }));
  const [first] = unmerged;
  if (first === undefined || (before && (await unmergedOf(unmerged, [ref], repository)).length === 0)) {
    await repository.update(removals);
    return before ?? { message: 'everything in its workspace is merged or was never written' };
  }
  const { name, namespace } = agent.metadata;
  const base = agent.status?.git?.forkBase;
  const size = await repository.measure(realCommits(saved), { refs: merged, tree: first, base });
  const about = { agent: name, team: agent.spec.team, namespace, ...size, ...(base !== undefined && { base }) };
  const commit = await repository.join(unmerged, { treeOf: first, message: rescueMessage(about) });
  await repository.update([{ ref, to: commit }, ...removals]);
  const place = team?.spec.repo?.path != null && (await repository.publish(ref)) ? team.spec.repo.path : repository.directory;
  return { ref, message: messageOf(ref, about, place) };
}

/** By a pass that nobody could note down. */
export async function rescuedBefore({ metadata: { uid } }: Agent, repository: TeamRepository | undefined): Promise<Rescue | undefined> {
  const found = (await repository?.rescued())?.find(({ id }) => id === uid);
  return found && repository && { ref: found.ref, message: messageOf(found.ref, found, repository.directory) };
}

function messageOf(ref: string, { commits, files }: Pick<RescuedWork, 'commits' | 'files'>, place: string): string {
  return `work that is not merged, ${counted(commits, 'commit')} and ${counted(files, 'file')}, is kept as ${ref} in ${place}; agentiso rescue list`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

/** The fullest first: it is what the kept commit looks like. Where the last look found no repository, what was saved before is all there is of it. */
function candidatesOf(saved: readonly SaveOutcome[], own: ReadonlyMap<string, string>): string[] {
  const isWhole = saved.every(({ exported }) => exported.isRepository);
  const looked = saved.flatMap(({ wip, exported, refs }) => [wip, exported.head, ...Object.values(refs)]);
  const commits = [...looked, ...(isWhole ? [] : own.values())].filter((commit) => commit !== undefined);
  return [...new Set(commits)];
}

/** Without those that only hold what was not committed. */
function realCommits(saved: readonly SaveOutcome[]): string[] {
  return saved.flatMap(({ exported: { head, branches, refs } }) => {
    const remembered = Object.entries(refs).flatMap(([name, commit]) => (name.includes('/remembered/') ? [commit] : []));
    return [...(head === undefined ? [] : [head]), ...Object.values(branches), ...remembered];
  });
}

async function unmergedOf(commits: readonly string[], merged: readonly string[], repository: TeamRepository): Promise<string[]> {
  const unmerged: string[] = [];
  for (const commit of commits) if (!(await repository.isContained(commit, [...merged, ...unmerged]))) unmerged.push(commit);
  return unmerged;
}

/** Branches of people and of the source, and what workspaces started from; what belongs to agents may go as this one goes. */
async function mergedRefs(repository: TeamRepository): Promise<string[]> {
  const found = await repository.refs('refs/heads', 'refs/tags', SOURCE_REFS, BASE_REFS);
  return [...found.keys()].filter((ref) => !ref.startsWith('refs/heads/agents/') && !ref.startsWith('refs/heads/agentiso/'));
}

function ownRefs({ metadata: { uid, name }, spec }: Agent, repository: TeamRepository): Promise<ReadonlyMap<string, string>> {
  return repository.refs(branchRef(agentBranch(spec.team, shortName(spec.team, name))), wipRef(uid), keptRef(uid), incomingRef(uid));
}
