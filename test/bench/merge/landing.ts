/** Landing one clean branch after the other: ours, the same three git commands, and `git merge` in a worktree. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openTeamRepositories } from '#git/open-team-repositories.ts';
import type { MergeSource, TeamRepository } from '#git/team-repository.ts';
import { BenchError, type Operation } from '../harness/operation.ts';
import { medianOfEach } from '../harness/timing.ts';
import { atMost } from '../harness/verdict.ts';
import { git, importBranches } from './branches.ts';

const SIZES = { files: 5_000, branches: 10, commits: 20 };
const QUICK_SIZES = { files: 300, branches: 3, commits: 5 };

export const landing: Operation = {
  id: 'landing',
  about:
    '5,000 files, 10 branches of 20 commits, one after the other onto one branch, the median of the ten; ours from the plan to the moved ref, synced to disk; the references are `git merge --no-ff` in a worktree, and `git merge-tree`, `commit-tree` and `update-ref` as three processes, both with core.fsync=committed',
  rounds: { full: 20, quick: 3 },
  reference: 'commands',
  comparisons: [
    {
      label: 'landing a clean branch',
      unit: 'ms',
      ours: (of) => of('ours'),
      reference: { name: 'git merge in a worktree', value: (of) => of('worktree') },
      goal: atMost(0.4),
    },
    {
      label: '- against merge-tree + commit-tree + update-ref',
      unit: 'ms',
      ours: (of) => of('ours'),
      reference: { name: 'three commands', value: (of) => of('commands') },
      goal: atMost(1.2),
    },
  ],
  async open({ dir, quick }) {
    const sizes = quick ? QUICK_SIZES : SIZES;
    const branches = Array.from({ length: sizes.branches }, (_, index) => `b${index}`);
    const repositories = await openTeamRepositories(join(dir, 'home'));
    const repository = await repositories.open({ uid: 'bench', namespace: 'default', name: 'bench' });
    importBranches(repository.directory, sizes);
    const start = await git(repository.directory, 'rev-parse', 'main');
    const heads = await Promise.all(branches.map((branch) => git(repository.directory, 'rev-parse', branch)));
    const worktree = join(dir, 'worktree');
    mkdirSync(worktree);
    await git(repository.directory, 'worktree', 'add', '-q', '-b', 'by-hand', worktree, start);
    const trees = new Set<string>();
    const check = async (ref: string) => {
      trees.add(await git(repository.directory, 'rev-parse', `${ref}^{tree}`));
      if (trees.size > 1) throw new BenchError('the merges gave different trees');
    };
    return [
      {
        name: 'ours',
        async run() {
          await git(repository.directory, 'update-ref', 'refs/heads/main', start);
          let tip = start;
          const took = await medianOfEach(heads, async (head, index) => {
            tip = await landOne(repository, { name: branches[index] ?? '', head, base: start }, tip);
          });
          await check('main');
          return took;
        },
      },
      {
        name: 'commands',
        async run() {
          let tip = start;
          const took = await medianOfEach(heads, async (head) => {
            const tree = await git(repository.directory, 'merge-tree', '--write-tree', tip, head);
            tip = await git(repository.directory, 'commit-tree', tree, '-p', tip, '-p', head, '-m', 'merged');
            await git(repository.directory, 'update-ref', 'refs/heads/by-commands', tip);
          });
          await check('by-commands');
          return took;
        },
      },
      {
        name: 'worktree',
        async run() {
          await git(worktree, 'reset', '-q', '--hard', start);
          const took = await medianOfEach(branches, (branch) => git(worktree, 'merge', '-q', '--no-ff', '--no-edit', branch));
          await check('by-hand');
          return took;
        },
      },
    ];
  },
};

async function landOne(repository: TeamRepository, source: MergeSource, target: string): Promise<string> {
  const plan = {
    strategy: 'branch-per-source' as const,
    target,
    targetName: 'main',
    sources: [source],
    by: { name: 'agentiso', email: 'agentiso@localhost' },
    at: new Date(),
  };
  return repository.merge(plan, async ({ outcome, keep }) => {
    if (outcome.sources[0]?.state !== 'merged') throw new BenchError(`${source.name} was not merged`);
    await keep();
    const landed = await repository.land('main', { from: target, to: outcome.tip });
    if (landed.state !== 'landed') throw new BenchError(`${source.name} did not land: ${landed.state}`);
    return outcome.tip;
  });
}
