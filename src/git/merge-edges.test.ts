/** What repositories of people have in them: each case as plain git does it, or refused with a word. */
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { MergePlan, Strategy } from './merge-plan.ts';
import { mergeSources } from './merge-sources.ts';
import { lines, TestRepository } from './repository.fixture.ts';
import { Scratch } from './scratch.ts';

let repository: TestRepository;
let base: string;
beforeEach(() => {
  repository = new TestRepository();
  base = repository.commit('base', { 'a.txt': lines(30), 'dir/d.txt': lines(10), 'bin.dat': Buffer.from([0, 1, 2, 255]) });
});
afterEach(() => repository.remove());

const STRATEGIES: readonly Strategy[] = ['sequential', 'branch-per-source', 'cherry-pick'];

async function merge(strategy: Strategy, sources: readonly string[], extra: Partial<MergePlan> = {}) {
  const scratch = await Scratch.open(repository.gitDirectory, 'test');
  try {
    const outcome = await mergeSources(repository.directory, scratch, {
      strategy,
      target: repository.head('main'),
      targetName: 'main',
      sources: sources.map((name) => ({ name, head: repository.head(name), base })),
      by: { name: 'agentiso', email: 'agentiso@localhost' },
      at: new Date('2026-01-02T03:04:05Z'),
      ...extra,
    });
    if (outcome.sources.every(({ state }) => state === 'merged')) await scratch.keep();
    return outcome;
  } finally {
    await scratch.remove();
  }
}

/** The tree that plain git gives. */
function byHand(strategy: Strategy, sources: readonly string[]): string {
  repository.branch('by-hand', 'main');
  for (const source of sources) {
    if (strategy === 'cherry-pick') repository.git('cherry-pick', '--allow-empty', `${base}..${source}`);
    else repository.git('merge', '-q', '--no-edit', ...(strategy === 'branch-per-source' ? ['--no-ff'] : []), source);
  }
  const tree = repository.tree('by-hand');
  repository.git('checkout', '-q', 'main');
  return tree;
}

/** Two branches and a change of main, by what each does to the worktree. */
function diverge(one: () => void, two: () => void, main: () => void = () => repository.write({ 'main.txt': 'm\n' })): void {
  for (const [name, change] of [
    ['one', one],
    ['two', two],
  ] as const) {
    repository.branch(name, base);
    change();
    repository.commit(name);
  }
  repository.git('checkout', '-q', 'main');
  main();
  repository.commit('main');
}

const at = (path: string) => join(repository.directory, path);

describe.each(STRATEGIES)('%s', (strategy) => {
  async function sameAsGit(sources: readonly string[] = ['one', 'two']): Promise<string> {
    const outcome = await merge(strategy, sources);
    expect(outcome.sources.map(({ state }) => state)).toEqual(sources.map(() => 'merged'));
    expect(repository.tree(outcome.tip)).toBe(byHand(strategy, sources));
    expect(repository.tryGit('fsck', '--strict', '--no-dangling')).toBe(true);
    return outcome.tip;
  }

  it('takes modes and links, and joins a mode with a change of lines', async () => {
    diverge(
      () => {
        chmodSync(at('a.txt'), 0o755);
        symlinkSync('a.txt', at('link'));
      },
      () => repository.write({ 'a.txt': lines(30, { 9: 'nine' }) }),
    );
    const tip = await sameAsGit();
    expect(
      repository
        .git('ls-tree', tip, 'a.txt', 'link')
        .split('\n')
        .map((line) => line.slice(0, 6)),
    ).toEqual(['100755', '120000']);
    expect(repository.git('show', `${tip}:a.txt`)).toContain('nine');
  });

  it('takes deletes, renames of folders, and changes in a folder that was renamed', async () => {
    diverge(
      () => repository.git('mv', 'dir', 'moved'),
      () => repository.write({ 'dir/d.txt': lines(10, { 4: 'four' }), 'bin.dat': null }),
    );
    const tip = await sameAsGit();
    expect(repository.git('show', `${tip}:moved/d.txt`)).toContain('four');
  });

  it('asks, as git does, where a new file of a folder belongs that was renamed', async () => {
    diverge(
      () => repository.git('mv', 'dir', 'moved'),
      () => repository.write({ 'dir/new.txt': 'n\n' }),
    );
    const outcome = await merge(strategy, ['one', 'two']);
    expect(outcome.sources[1]?.conflicts[0]?.files).toMatchObject([{ path: 'moved/new.txt', kind: 'rename' }]);
    repository.branch('by-hand', 'main');
    repository.git('merge', '-q', '--no-edit', 'one');
    expect(repository.tryGit('merge', '-q', '--no-edit', 'two')).toBe(false);
  });

  it('takes submodules, pointers of large files, and files that are large', async () => {
    const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'a'.repeat(64)}\nsize 12\n`;
    diverge(
      () => repository.git('update-index', '--add', '--cacheinfo', `160000,${base},sub`),
      () => repository.write({ 'big.psd': pointer, 'huge.bin': Buffer.alloc(8 * 1024 * 1024, 7) }),
    );
    // `add -A` takes the submodule that is not there out again.
    repository.git('checkout', '-q', 'one');
    repository.git('update-index', '--add', '--cacheinfo', `160000,${base},sub`);
    repository.git('commit', '-q', '--amend', '-m', 'one');
    repository.git('checkout', '-q', '-f', 'main');
    const tip = await sameAsGit();
    expect(repository.git('ls-tree', tip, 'sub')).toContain('160000 commit');
  });

  it('takes names that are no UTF-8', async () => {
    const odd = Buffer.concat([Buffer.from(at('caf')), Buffer.from([0xe9]), Buffer.from('.txt')]);
    diverge(
      () => writeFileSync(odd, 'one\n'),
      () => repository.write({ 'b.txt': 'b\n' }),
    );
    await sameAsGit();
  });

  it('is content with sources that have nothing', async () => {
    repository.branch('one', base);
    repository.branch('two', base);
    repository.git('checkout', '-q', 'main');
    const target = repository.commit('main', { 'm.txt': 'm\n' });
    const outcome = await merge(strategy, ['one', 'two']);
    expect(outcome).toMatchObject({
      tip: target,
      sources: [
        { state: 'merged', commits: 0 },
        { state: 'merged', commits: 0 },
      ],
    });
  });

  it('takes a source once, however often it is named', async () => {
    diverge(
      () => repository.write({ 'one.txt': '1\n' }),
      () => repository.write({ 'two.txt': '2\n' }),
    );
    const outcome = await merge(strategy, ['one', 'one']);
    expect(outcome.sources.map(({ commits }) => commits)).toEqual([1, 0]);
  });

  it('names what clashes', async () => {
    const cases: readonly (readonly [string, string, () => void, () => void])[] = [
      [
        'bin.dat',
        'binary',
        () => repository.write({ 'bin.dat': Buffer.from([0, 9]) }),
        () => repository.write({ 'bin.dat': Buffer.from([0, 8]) }),
      ],
      ['a.txt', 'modify/delete', () => repository.write({ 'a.txt': null }), () => repository.write({ 'a.txt': lines(30, { 1: 'x' }) })],
      ['new', 'add/add', () => repository.write({ new: '1\n' }), () => repository.write({ new: '2\n' })],
      ['link', 'add/add', () => symlinkSync('x', at('link')), () => symlinkSync('y', at('link'))],
      ['a.txt', 'rename', () => repository.git('mv', 'a.txt', 'b1'), () => repository.git('mv', 'a.txt', 'b2')],
      [
        'a.txt',
        'content',
        () => repository.write({ 'a.txt': lines(30, { 3: 'x' }) }),
        () => repository.write({ 'a.txt': lines(30, { 3: 'y' }) }),
      ],
    ];
    for (const [path, kind, one, two] of cases) {
      repository.git('checkout', '-q', '-f', '-B', 'main', base);
      diverge(one, two);
      const target = repository.head('main');
      const outcome = await merge(strategy, ['one', 'two']);
      expect(outcome.sources[0]).toMatchObject({ state: 'merged' });
      const [files] = [outcome.sources[1]?.conflicts[0]?.files ?? []];
      expect(files.find((file) => file.path === path || file.path.startsWith(`${path}~`))?.kind, `${path} ${kind}`).toBe(kind);
      expect(repository.head('main')).toBe(target);
    }
  });

  it('reports a file where the other has a folder', async () => {
    diverge(
      () => repository.write({ place: 'a file\n' }),
      () => {
        mkdirSync(at('place'));
        repository.write({ 'place/inside.txt': 'in a folder\n' });
      },
    );
    const outcome = await merge(strategy, ['one', 'two']);
    expect(outcome.sources[1]).toMatchObject({ state: 'conflicted' });
    expect(outcome.sources[1]?.conflicts[0]?.files.some(({ path, kind }) => path.startsWith('place') && kind === 'rename')).toBe(true);
  });

  it('shows clashing names that are no UTF-8 so that they can be told apart', async () => {
    const odd = (byte: number) => Buffer.concat([Buffer.from(at('caf')), Buffer.from([byte]), Buffer.from('.txt')]);
    const write = (text: string) => {
      for (const byte of [0xe9, 0xe8]) writeFileSync(odd(byte), text);
    };
    diverge(
      () => write('one\n'),
      () => write('two\n'),
    );
    const outcome = await merge(strategy, ['one', 'two']);
    expect(outcome.sources[1]?.conflicts[0]?.files.map(({ path }) => path)).toEqual(['caf\\350.txt', 'caf\\351.txt']);
  });

  it('works in a clone that has only a part of its history', async () => {
    diverge(
      () => repository.write({ 'one.txt': '1\n' }),
      () => repository.write({ 'two.txt': '2\n' }),
    );
    const whole = repository;
    repository = new TestRepository();
    rmSync(repository.gitDirectory, { recursive: true });
    repository.git('init', '-q', '-b', 'unused');
    repository.git('fetch', '-q', '--depth', '2', `file://${whole.directory}`, '+refs/heads/*:refs/heads/*');
    repository.git('checkout', '-q', '-f', 'main');
    try {
      await sameAsGit();
    } finally {
      whole.remove();
    }
  });
});

describe('by cherry-pick', () => {
  it('keeps words in an encoding of their own, authors and their dates, and leaves signatures behind', async () => {
    repository.branch('one', base);
    repository.write({ 'one.txt': '1\n' });
    repository.git('add', '-A');
    const tree = repository.git('write-tree');
    const raw = Buffer.concat([
      Buffer.from(`tree ${tree}\nparent ${base}\nauthor J`),
      Buffer.from([0xf6]),
      Buffer.from('rg <j@example.com> 1600000000 +0230\ncommitter C <c@example.com> 1600000001 -0100\n'),
      Buffer.from('encoding ISO-8859-1\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n abc\n -----END PGP SIGNATURE-----\n\n'),
      Buffer.from([0xfc, 0x62, 0x65, 0x72]),
      Buffer.from('\n\nline\n'),
    ]);
    writeFileSync(at('raw'), raw);
    const id = repository.git('hash-object', '-t', 'commit', '-w', 'raw');
    rmSync(at('raw'));
    repository.git('update-ref', 'refs/heads/one', id);
    repository.git('checkout', '-q', '-f', 'main');
    repository.commit('main', { 'm.txt': 'm\n' });
    const { tip } = await merge('cherry-pick', ['one']);
    expect(repository.git('log', '-1', '--format=%an|%ad|%B', tip)).toBe('Jörg|Sun Sep 13 14:56:40 2020 +0230|über\n\nline');
    expect(repository.git('cat-file', 'commit', tip)).not.toContain('gpgsig');
    expect(repository.tryGit('fsck', '--strict', '--no-dangling')).toBe(true);
  });

  it('begins at a commit without a parent, if that is where the work begins', async () => {
    repository.branch('one', base);
    repository.commit('one', { 'one.txt': '1\n' });
    repository.git('checkout', '-q', 'main');
    repository.commit('main', { 'm.txt': 'm\n' });
    repository.git('checkout', '-q', '--orphan', 'stranger');
    repository.git('rm', '-rfq', '.');
    repository.commit('root', { 'z.txt': 'z\n' });
    repository.commit('next', { 'z.txt': 'zz\n' });
    const sources = [{ name: 'stranger', head: repository.head('stranger'), base: repository.head('stranger~1') }];
    const outcome = await merge('cherry-pick', [], { sources });
    expect(outcome.sources[0]).toMatchObject({ state: 'conflicted', conflicts: [{ files: [{ path: 'z.txt', kind: 'modify/delete' }] }] });
  });

  it('leaves nothing of what it needed on the way', async () => {
    repository.branch('one', base);
    for (let step = 1; step <= 3; step += 1) repository.commit(`step ${step}`, { [`${step}.txt`]: `${step}\n` });
    repository.git('checkout', '-q', 'main');
    repository.commit('main', { 'm.txt': 'm\n' });
    const { tip } = await merge('cherry-pick', ['one']);
    repository.git('update-ref', 'refs/heads/main', tip);
    expect(repository.git('fsck', '--unreachable', '--no-reflogs')).not.toContain('commit');
  });
});

it('refuses histories without a common commit, also when one of them has only a part', async () => {
  for (const strategy of ['sequential', 'branch-per-source'] as const) {
    repository.git('checkout', '-q', '--orphan', `stranger-${strategy}`);
    repository.commit('from nowhere', { 'z.txt': strategy });
    const outcome = await merge(strategy, [`stranger-${strategy}`]);
    expect(outcome.sources[0]).toMatchObject({ state: 'failed', reason: 'UnrelatedHistories' });
  }
});
