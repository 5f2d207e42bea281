/**
 * Merging without a worktree: trees are joined by merge-tree in the scratch objects, commits are made here, no ref moves. A source that does
 * not fit is left out and the others are still tried, so that a report is complete.
 */

import { AgentisoError } from '#lib/errors.ts';
import { signature } from './commit-object.ts';
import type { MergeOutcome, MergePlan, MergeSource, SourceOutcome } from './merge-plan.ts';
import { MergeProcess } from './merge-process.ts';
import { type Merging, type Step, toConflict } from './merging.ts';
import { pickCommits } from './pick-commits.ts';
import { type GitOptions, git } from './run.ts';
import type { Scratch } from './scratch.ts';

export interface MergeHelp {
  readonly signal?: AbortSignal;
  /** A process that works in the same scratch; without one it is started here. */
  readonly merges?: MergeProcess;
}

export async function mergeSources(directory: string, scratch: Scratch, plan: MergePlan, help: MergeHelp = {}): Promise<MergeOutcome> {
  const { signal } = help;
  signal?.throwIfAborted();
  const options: GitOptions = { directory, env: scratch.env, ...(signal && { signal }) };
  const merges = help.merges ?? new MergeProcess({ directory, env: scratch.env });
  const merging: Merging = { options, scratch, merges, plan };
  const abort = () => merges.abort(new AgentisoError('Timeout', 'the merge was given up', { cause: signal?.reason }));
  signal?.addEventListener('abort', abort, { once: true });
  const sources: SourceOutcome[] = [];
  let tip = plan.target;
  try {
    for (const source of plan.sources) {
      const step = plan.strategy === 'cherry-pick' ? await pickCommits(merging, tip, source) : await mergeOne(merging, tip, source);
      sources.push(step.outcome);
      tip = step.tip;
    }
  } finally {
    signal?.removeEventListener('abort', abort);
    // It ends while others go on.
    if (!help.merges) scratch.waitFor(merges.close());
  }
  return { tip, sources };
}

async function mergeOne(merging: Merging, tip: string, source: MergeSource): Promise<Step> {
  const { options, merges, plan } = merging;
  const outcome = (part: Omit<SourceOutcome, 'name' | 'conflicts'> & Partial<SourceOutcome>): SourceOutcome => ({
    name: source.name,
    conflicts: [],
    ...part,
  });
  if (source.head === tip) return { tip, outcome: outcome({ state: 'merged', commits: 0 }) };
  // Asked at the same time: most merges are clean and need both. Starting a process holds up this one, so the longer work is begun first.
  const [record, apart] = await Promise.all([merges.merge(tip, source.head), howFarApart(tip, source.head, options)]);
  const { commits } = apart;
  if (!apart.isRelated) {
    const message = `${source.name} and ${plan.targetName} have no commit in common`;
    return { tip, outcome: outcome({ state: 'failed', reason: 'UnrelatedHistories', message, commits: 0 }) };
  }
  if (commits === 0) return { tip, outcome: outcome({ state: 'merged', commits }) };
  if (apart.isAhead && plan.strategy === 'sequential') return { tip: source.head, outcome: outcome({ state: 'merged', commits }) };
  if (!record.isClean)
    return { tip, outcome: outcome({ state: 'conflicted', commits: 0, conflicts: [await toConflict(record, options)] }) };
  return {
    tip: await joinedCommit(merging, [tip, source.head], { tree: record.tree, name: source.name }),
    outcome: outcome({ state: 'merged', commits }),
  };
}

function joinedCommit({ plan, scratch }: Merging, parents: readonly string[], { tree, name }: { tree: string; name: string }) {
  const by = signature(plan.by, plan.at);
  const message = plan.message ?? `Merge the work of ${name} into ${plan.targetName}`;
  return scratch.writeCommit({ tree, parents, author: by, committer: by, message });
}

interface Apart {
  /** Commits of the source that the target has not. */
  readonly commits: number;
  /** The target has none that the source has not. */
  readonly isAhead: boolean;
  readonly isRelated: boolean;
}

/** One line per commit that only one of them has, and one for each where they went apart. */
async function howFarApart(tip: string, head: string, options: GitOptions): Promise<Apart> {
  const listed = (await git(['rev-list', '--left-right', '--boundary', `${tip}...${head}`], options)).split('\n');
  const count = (mark: string) => listed.reduce((sum, line) => sum + (line.startsWith(mark) ? 1 : 0), 0);
  return { commits: count('>'), isAhead: count('<') === 0, isRelated: count('-') > 0 };
}
