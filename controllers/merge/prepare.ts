/** From the sources to one commit that could land, or to the reasons why there is none. Nothing moves here. */
import type { Merge } from '#api/types.ts';
import type { MergePlan, MergeResult, SourceOutcome, TeamRepository } from '#git/team-repository.ts';
import { toSeconds } from '#lib/clock.ts';
import type { Result, WithStatus } from '#runtime/controller.ts';
import { tellConflict } from './conflict.ts';
import type { Aimed } from './pass.ts';
import { candidateRef } from './refs.ts';
import { conflictStatus, describeConflict, sourceStatus } from './report.ts';
import { type Gathered, gatherSources } from './sources.ts';
import { AT_ONCE, fail, LOOK_AGAIN, setReady, startOver, wait } from './status.ts';

const BY = { name: 'agentiso', email: 'merge@agentiso.invalid' };

interface Preparing extends Aimed {
  /** The commit of the merge before this one, which has not landed yet. Absent: the target itself. */
  readonly onto?: string | undefined;
}

export async function prepare(merge: WithStatus<Merge>, means: Preparing): Promise<Result> {
  const { target, ctx, onto = target.commit } = means;
  if (onto === undefined) {
    return fail(merge, { reason: 'TargetNotFound', message: `there is no branch ${target.name}; create it, or name another` }, ctx);
  }
  const gathered = await gatherSources(merge, means);
  const [problem] = gathered.failed;
  if (problem) {
    merge.status.sources = [...gathered.failed];
    return fail(merge, { reason: problem.reason, message: problem.message }, ctx);
  }
  const plan = planOf(merge, { target: target.name, commit: onto, sources: gathered.sources });
  return means.repository.merge(plan, (result) => settle(merge, { ...means, gathered, plan, result }), means.signal);
}

function planOf(
  { spec: { strategy, commitMessage }, status, metadata }: WithStatus<Merge>,
  { target, commit, sources }: { target: string; commit: string; sources: Gathered['sources'] },
): MergePlan {
  return {
    strategy,
    target: commit,
    targetName: target,
    sources,
    ...(commitMessage != null && { message: commitMessage }),
    by: BY,
    // Written down before: the same commits give the same merge, also when a new daemon does it again.
    at: new Date(status.startedAt ?? metadata.creationTimestamp),
  };
}

interface Settling extends Preparing {
  readonly gathered: Gathered;
  readonly plan: MergePlan;
  readonly result: MergeResult;
}

async function settle(merge: WithStatus<Merge>, means: Settling): Promise<Result> {
  const { plan, gathered, result, repository, ctx, onto } = means;
  const { outcome } = result;
  const isClean = outcome.sources.every(({ state }) => state === 'merged');
  if (!isClean && onto !== undefined) return leaveOthers(merge, means);
  merge.status.targetBefore = plan.target;
  merge.status.sources = plan.sources.map((source, index) => {
    const left = gathered.uncommitted.get(source.name);
    return { ...sourceStatus(source, outcome.sources[index] ?? NOTHING), ...(left && { uncommittedFiles: [...left] }) };
  });
  const failed = merge.status.sources.find(({ phase }) => phase === 'Failed');
  if (failed) return fail(merge, { reason: failed.reason ?? 'MergeFailed', message: failed.message ?? '' }, ctx);
  if (!isClean) return conflicted(merge, means);
  delete merge.status.conflicts;
  await result.keep();
  const kept = plan.sources.map(({ name, head }) => ({ ref: candidateRef(merge.metadata.uid, name), to: head }));
  await repository.update([{ ref: candidateRef(merge.metadata.uid), to: outcome.tip }, ...kept]);
  merge.status.candidate = outcome.tip;
  merge.status.totalCommitsApplied = outcome.sources.reduce((sum, { commits }) => sum + commits, 0);
  // Recorded first: whoever finds the target at this commit knows that it has landed.
  return AT_ONCE;
}

const NOTHING: SourceOutcome = { name: '', state: 'merged', commits: 0, conflicts: [] };

/** What does not fit onto work that has not landed yet may fit when that has, or has been given up. */
function leaveOthers(merge: WithStatus<Merge>, { onto = '', memory, ctx }: Settling): Result {
  memory.unfit.set(merge.metadata.uid, onto);
  startOver(merge);
  merge.status.phase = 'Queued';
  wait(merge, { reason: 'Queued', message: 'the merges before it, with which it does not go together' }, ctx);
  return {};
}

async function conflicted(merge: WithStatus<Merge>, means: Settling): Promise<Result> {
  const { result, plan, repository, deps, ctx } = means;
  const reports = await Promise.all(
    result.outcome.sources
      .filter(({ state }) => state === 'conflicted')
      .map(async (outcome) => conflictStatus(outcome, await tasksAround(outcome, plan, repository))),
  );
  const conflicts = reports.flat();
  Object.assign(merge.status, { phase: 'Conflicted', reason: 'Conflict', finishedAt: toSeconds(ctx.now()), conflicts });
  await tellConflict(merge, deps, ctx);
  const summary = conflicts.map(describeConflict).join('; ');
  setReady(
    merge,
    'False',
    { reason: 'Conflict', message: `${summary}; nothing was merged, and it is tried again when a source or the target moves` },
    ctx,
  );
  return LOOK_AGAIN;
}

/** Tasks whose commits touched these files since the two went apart, on either side. */
async function tasksAround(
  { name, conflicts }: SourceOutcome,
  { sources, target }: MergePlan,
  repository: TeamRepository,
): Promise<string[]> {
  const source = sources.find((each) => each.name === name);
  const paths = conflicts.flatMap(({ files }) => files.map(({ path }) => path)).slice(0, MAX_PATHS);
  if (!source || paths.length === 0) return [];
  const others = sources.slice(0, sources.indexOf(source)).map(({ head }) => head);
  const sides = await Promise.all(
    [source.head, target, ...others].map((to) => repository.trailers('Agentiso-Task', { from: source.base, to, paths })),
  );
  return [...new Set(sides.flat())].sort();
}

/** They are arguments of a command. */
const MAX_PATHS = 500;
