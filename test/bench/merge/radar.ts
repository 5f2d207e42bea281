/** All pairs of twelve branches: the radar, and one `git merge-tree --stdin` that is asked the same. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Radar } from '#git/radar.ts';
import { BenchError, type Operation } from '../harness/operation.ts';
import { perSecond } from '../harness/timing.ts';
import { atLeast } from '../harness/verdict.ts';
import { ask, git, importBranches } from './branches.ts';

const SIZES = { files: 5_000, branches: 12, commits: 20 };
const QUICK_SIZES = { files: 300, branches: 4, commits: 3 };
const TURNS = 10;

export const radar: Operation = {
  id: 'radar',
  about:
    '12 branches of 20 commits in 5,000 files, all 66 pairs, ten times over, from the heads to the list of clashes and with nothing remembered; the reference is one `git merge-tree --write-tree --stdin` per turn, its answers not looked at',
  rounds: { full: 20, quick: 3 },
  reference: 'merge-tree',
  comparisons: [
    {
      label: 'all pairs of 12 branches',
      unit: 'op/s',
      ours: (of) => of('ours'),
      reference: { name: 'git merge-tree --stdin', value: (of) => of('merge-tree') },
      goal: atLeast(0.5),
    },
  ],
  async open({ dir, quick }) {
    const sizes = quick ? QUICK_SIZES : SIZES;
    const directory = join(dir, 'repository.git');
    mkdirSync(directory);
    await git(directory, 'init', '-q', '--bare', '-b', 'main');
    importBranches(directory, sizes);
    const names = Array.from({ length: sizes.branches }, (_, index) => `b${index}`);
    const heads = new Map(await Promise.all(names.map(async (name) => [name, await git(directory, 'rev-parse', name)] as const)));
    const commits = [...heads.values()];
    const pairs = commits.flatMap((one, index) => commits.slice(index + 1).map((other) => `${one} ${other}\n`));
    const rate = async (turn: () => Promise<void>) => {
      const start = performance.now();
      for (let index = 0; index < TURNS; index += 1) await turn();
      return perSecond(pairs.length * TURNS, performance.now() - start);
    };
    return [
      {
        name: 'ours',
        run: () =>
          rate(async () => {
            const clashes = await new Radar().look(heads, { directory });
            if (clashes.length > 0) throw new BenchError('branches that fit were said not to');
          }),
      },
      {
        name: 'merge-tree',
        run: () =>
          rate(async () => {
            const said = await ask(directory, ['-c', 'core.fsync=none', 'merge-tree', '--write-tree', '--stdin'], pairs.join(''));
            if (said.length < pairs.length * 40) throw new BenchError('git merge-tree said too little');
          }),
      },
    ];
  },
};
