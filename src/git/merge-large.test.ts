/** One large repository, merged by all strategies and by hand: the same trees. AGENTISO_SOAK=full takes the sizes of a real project. */
import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Strategy } from './merge-plan.ts';
import { mergeSources } from './merge-sources.ts';
import { TestRepository } from './repository.fixture.ts';
import { Scratch } from './scratch.ts';

const isFull = process.env['AGENTISO_SOAK'] === 'full';
const [FILES, BRANCHES, COMMITS, LONG] = isFull ? [5_000, 10, 20, 1_000] : [300, 5, 6, 120];

let repository: TestRepository;
let base: string;

beforeAll(() => {
  repository = new TestRepository();
  execFileSync('git', ['fast-import', '--quiet'], { cwd: repository.directory, input: history(), env: { PATH: '/usr/bin:/bin' } });
  repository.git('reset', '-q', '--hard', 'main');
  base = repository.head('main~1');
}, 120_000);
afterAll(() => repository.remove(), 120_000);

/** For `git fast-import`: a process per commit would take minutes. */
function history(): string {
  const text = (file: number, change = '') => `file ${file}\n${'same\n'.repeat(10)}${change}${'same\n'.repeat(10)}end\n`;
  const write = (file: number, content: string) =>
    `M 100644 inline src/${file % 50}/${file}.txt\ndata ${Buffer.byteLength(content)}\n${content}\n`;
  let time = 1_700_000_000;
  const commit = (branch: string, message: string, from: string | undefined, changes: string) => {
    time += 1;
    const who = `Ann <ann@example.com> ${time} +0000`;
    return `commit refs/heads/${branch}\nauthor ${who}\ncommitter ${who}\ndata ${Buffer.byteLength(message)}\n${message}\n${from ? `from ${from}\n` : ''}${changes}\n`;
  };
  const parts = [commit('main', 'base', undefined, Array.from({ length: FILES }, (_, file) => write(file, text(file))).join(''))];
  for (let branch = 0; branch < BRANCHES; branch += 1) {
    for (let step = 0; step < COMMITS; step += 1) {
      const file = (branch * COMMITS + step) % FILES;
      parts.push(
        commit(
          `b${branch}`,
          `step ${step} of ${branch}`,
          step === 0 ? 'refs/heads/main' : undefined,
          write(file, text(file, `${branch} ${step}\n`)),
        ),
      );
    }
  }
  for (let step = 0; step < LONG; step += 1) {
    parts.push(commit('long', `long ${step}`, step === 0 ? 'refs/heads/main' : undefined, write(FILES + 1, `${'x\n'.repeat(step)}`)));
  }
  parts.push(commit('main', 'meanwhile', undefined, write(FILES + 2, 'main\n')));
  return parts.join('');
}

async function merge(strategy: Strategy, names: readonly string[]) {
  const scratch = await Scratch.open(repository.gitDirectory, strategy);
  const outcome = await mergeSources(repository.gitDirectory, scratch, {
    strategy,
    target: repository.head('main'),
    targetName: 'main',
    sources: names.map((name) => ({ name, head: repository.head(name), base })),
    by: { name: 'agentiso', email: 'agentiso@localhost' },
    at: new Date('2026-01-02T03:04:05Z'),
  });
  await scratch.keep();
  await scratch.remove();
  return outcome;
}

describe(`${FILES} files, ${BRANCHES} branches of ${COMMITS} commits`, () => {
  const names = Array.from({ length: BRANCHES }, (_, index) => `b${index}`);

  it.each(['sequential', 'branch-per-source', 'cherry-pick'] as const)(
    'by %s',
    async (strategy) => {
      const outcome = await merge(strategy, names);
      expect(outcome.sources.map(({ state, commits }) => `${state} ${commits}`)).toEqual(names.map(() => `merged ${COMMITS}`));
      repository.branch('by-hand', 'main');
      for (const name of names) {
        if (strategy === 'cherry-pick') repository.git('cherry-pick', `${base}..${name}`);
        else repository.git('merge', '-q', '--no-edit', ...(strategy === 'branch-per-source' ? ['--no-ff'] : []), name);
      }
      expect(repository.tree(outcome.tip)).toBe(repository.tree('by-hand'));
      expect(repository.git('rev-list', '--count', outcome.tip)).toBe(repository.git('rev-list', '--count', 'by-hand'));
      const words = (tip: string) => repository.git('log', '--no-merges', '--format=%an %at %s', tip).split('\n').sort();
      expect(words(outcome.tip)).toEqual(words('by-hand'));
    },
    300_000,
  );

  it.each(['sequential', 'cherry-pick'] as const)(
    `takes a source of ${LONG} commits by %s`,
    async (strategy) => {
      const outcome = await merge(strategy, ['long']);
      expect(outcome.sources).toMatchObject([{ state: 'merged', commits: LONG }]);
      expect(repository.git('diff', '--stat', outcome.tip, 'long', '--', 'src')).toContain(`${FILES + 2}.txt`);
      expect(repository.git('show', `${outcome.tip}:src/${(FILES + 1) % 50}/${FILES + 1}.txt`)).toBe('x\n'.repeat(LONG - 1).trim());
    },
    300_000,
  );
});
