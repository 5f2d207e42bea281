/**
 * Cherry-picking without a worktree. merge-tree finds the common ancestor of two commits by itself; to give it the one of a cherry-pick, the
 * parent of the picked commit, it gets three commits made for the purpose. They never leave the scratch objects.
 */
import { readObjects } from './batch.ts';
import { type Commit, parseCommit, signature } from './commit-object.ts';
import type { MergeSource, SourceOutcome } from './merge-plan.ts';
import { type Merging, type Step, toConflict } from './merging.ts';
import { git, tryGit } from './run.ts';

export async function pickCommits(merging: Merging, tip: string, source: MergeSource): Promise<Step> {
  const { options } = merging;
  const fail = (reason: NonNullable<SourceOutcome['reason']>, message: string): Step => ({
    tip,
    outcome: { name: source.name, state: 'failed', reason, message, commits: 0, conflicts: [] },
  });
  const isBelow = await tryGit(['merge-base', '--is-ancestor', source.base, source.head], options);
  if (isBelow.code !== 0) return fail('BaseNotInHistory', `${source.base} is not in the history of ${source.name}`);
  const list = await git(['rev-list', '--reverse', '--topo-order', source.head, `^${source.base}`, `^${tip}`], options);
  const commits = await readCommits(list.split('\n').filter(Boolean), merging);
  const joined = commits.find(({ parents }) => parents.length > 1);
  if (joined) {
    return fail(
      'MergeCommitInRange',
      `${joined.id} of ${source.name} is a merge, which has no single change to pick; use branch-per-source`,
    );
  }
  return pickAll(merging, tip, { source, commits });
}

async function pickAll(
  merging: Merging,
  start: string,
  picked: { readonly source: MergeSource; readonly commits: readonly Commit[] },
): Promise<Step> {
  const { name } = picked.source;
  const trees = new Map(picked.commits.map(({ id, tree }) => [id, tree]));
  let tip = { id: start, tree: await treeOf(start, merging.options) };
  let count = 0;
  for (const commit of picked.commits) {
    const record = await mergeChange(merging, tip.tree, { tree: commit.tree, before: await treeBefore(commit, trees, merging.options) });
    if (!record.isClean) {
      const conflicts = [await toConflict(record, merging.options, commit.id)];
      return { tip: start, outcome: { name, state: 'conflicted', commits: 0, conflicts } };
    }
    // What is there already is not there twice.
    if (record.tree === tip.tree) continue;
    tip = { id: await keepCommit(merging, tip.id, commit, record.tree), tree: record.tree };
    count += 1;
  }
  return { tip: tip.id, outcome: { name, state: 'merged', commits: count, conflicts: [] } };
}

interface Change {
  readonly before: string;
  readonly tree: string;
}

async function mergeChange({ scratch, merges, plan }: Merging, ontoTree: string, change: Change) {
  const by = signature(plan.by, plan.at);
  const bare = (tree: string, parents: readonly string[]) =>
    scratch.writePassing({ tree, parents, author: by, committer: by, message: 'scratch' });
  const before = await bare(change.before, []);
  const [ours, theirs] = await Promise.all([bare(ontoTree, [before]), bare(change.tree, [before])]);
  return merges.merge(ours, theirs);
}

/** Most commits of a range come after another one of it, whose tree is known. */
async function treeBefore({ parents: [parent] }: Commit, trees: ReadonlyMap<string, string>, options: Merging['options']): Promise<string> {
  if (parent === undefined) return emptyTree(options);
  return trees.get(parent) ?? treeOf(parent, options);
}

/** Author, date and words stay those of who wrote it. */
function keepCommit({ scratch, plan }: Merging, parent: string, commit: Commit, tree: string): Promise<string> {
  return scratch.writeCommit({
    tree,
    parents: [parent],
    author: commit.author,
    committer: signature(plan.by, plan.at),
    ...(commit.encoding !== undefined && { encoding: commit.encoding }),
    message: commit.message,
  });
}

async function treeOf(commit: string, options: Merging['options']): Promise<string> {
  return (await git(['rev-parse', '--verify', `${commit}^{tree}`], options)).trim();
}

async function emptyTree(options: Merging['options']): Promise<string> {
  return (await git(['hash-object', '-t', 'tree', '-w', '--stdin'], options)).trim();
}

/** In one process, whatever their number. */
async function readCommits(ids: readonly string[], { options }: Merging): Promise<Commit[]> {
  return (await readObjects(ids, options)).map(({ id, content }) => parseCommit(id, content));
}
