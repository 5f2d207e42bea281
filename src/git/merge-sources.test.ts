import { readdirSync } from 'node:fs';
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
  base = repository.commit('base', {
    'a.txt': lines(30),
    'b.txt': lines(30),
    'c.bin': Buffer.from([0, 1, 2, 255]),
    'dir/d.txt': lines(10),
  });
});
afterEach(() => repository.remove());

const planFor = (strategy: Strategy, sources: readonly string[], extra: Partial<MergePlan> = {}): MergePlan => ({
  strategy,
  target: repository.head('main'),
  targetName: 'main',
  sources: sources.map((name) => ({ name, head: repository.head(name), base })),
  by: { name: 'agentiso', email: 'agentiso@localhost' },
  at: new Date('2026-01-02T03:04:05Z'),
  ...extra,
});

async function merge(plan: MergePlan) {
  const scratch = await Scratch.open(repository.gitDirectory, 'test');
  const outcome = await mergeSources(repository.directory, scratch, plan);
  return { outcome, scratch };
}

async function mergeAndKeep(plan: MergePlan) {
  const { outcome, scratch } = await merge(plan);
  await scratch.keep();
  await scratch.remove();
  expect(repository.tryGit('fsck', '--strict')).toBe(true);
  return outcome;
}

describe('sequential', () => {
  it('gives the tree and the parents that git merge gives', async () => {
    repository.branch('one');
    repository.commit('one a', { 'a.txt': lines(30, { 3: 'three' }) });
    repository.branch('two');
    repository.commit('two a', { 'a.txt': lines(30, { 20: 'twenty' }), 'new.txt': 'n\n' });
    repository.commit('two b', { 'dir/d.txt': null, 'dir/e.txt': lines(10) });
    const outcome = await mergeAndKeep(planFor('sequential', ['one', 'two']));
    repository.branch('by-hand', base);
    repository.git('merge', '-q', 'one');
    repository.git('merge', '-q', '--no-edit', 'two');
    expect(repository.tree(outcome.tip)).toBe(repository.tree('by-hand'));
    expect(repository.git('rev-list', '--count', outcome.tip)).toBe(repository.git('rev-list', '--count', 'by-hand'));
    expect(repository.git('rev-parse', `${outcome.tip}^1`, `${outcome.tip}^2`).split('\n')).toEqual([
      repository.head('one'),
      repository.head('two'),
    ]);
    expect(outcome.sources).toEqual([
      { name: 'one', state: 'merged', commits: 1, conflicts: [] },
      { name: 'two', state: 'merged', commits: 2, conflicts: [] },
    ]);
  });

  it('is content with a source that has nothing new', async () => {
    repository.branch('idle');
    const outcome = await mergeAndKeep(planFor('sequential', ['idle']));
    expect(outcome).toEqual({ tip: base, sources: [{ name: 'idle', state: 'merged', commits: 0, conflicts: [] }] });
  });

  it('names files, kinds and hunks of a conflict, tries the others, and moves nothing', async () => {
    const binary = (byte: number) => Buffer.from([0, byte, 2, 255]);
    repository.branch('one');
    repository.commit('one', { 'a.txt': lines(30, { 3: 'three', 20: 'x' }), 'b.txt': null, 'c.bin': binary(7), 'same.txt': 'one\n' });
    repository.branch('two');
    repository.commit('two', {
      'a.txt': lines(30, { 3: 'drei', 20: 'y' }),
      'b.txt': lines(30, { 1: 'kept' }),
      'c.bin': binary(9),
      'same.txt': 'two\n',
    });
    repository.branch('three');
    repository.commit('three', { 'dir/d.txt': lines(10, { 5: 'five' }) });
    const refs = repository.git('for-each-ref');
    const { outcome } = await merge(planFor('sequential', ['one', 'two', 'three']));
    expect(outcome.sources.map(({ state }) => state)).toEqual(['merged', 'conflicted', 'merged']);
    const [, two] = outcome.sources;
    expect(two?.conflicts[0]?.files).toEqual([
      {
        path: 'a.txt',
        kind: 'content',
        hunks: [
          { startLine: 3, oursLines: 1, theirsLines: 1 },
          { startLine: 20, oursLines: 1, theirsLines: 1 },
        ],
      },
      { path: 'b.txt', kind: 'modify/delete', hunks: [] },
      { path: 'c.bin', kind: 'binary', hunks: [] },
      { path: 'same.txt', kind: 'add/add', hunks: [{ startLine: 1, oursLines: 1, theirsLines: 1 }] },
    ]);
    expect(repository.git('for-each-ref')).toBe(refs);
    expect(repository.git('status', '--porcelain')).toBe('');
  });

  it('follows renames as git merge does, and reports two names for one file', async () => {
    repository.branch('one');
    repository.git('mv', 'a.txt', 'moved.txt');
    repository.commit('move');
    repository.branch('two');
    repository.commit('change', { 'a.txt': lines(30, { 9: 'nine' }) });
    const outcome = await mergeAndKeep(planFor('sequential', ['one', 'two']));
    expect(repository.git('show', `${outcome.tip}:moved.txt`)).toContain('nine');
    repository.branch('three');
    repository.git('mv', 'a.txt', 'elsewhere.txt');
    repository.commit('move elsewhere');
    const { outcome: clash } = await merge(planFor('sequential', ['one', 'three']));
    expect(clash.sources[1]?.conflicts[0]?.files.map(({ kind }) => kind)).toContain('rename');
  });

  it('refuses histories that have nothing in common', async () => {
    repository.git('checkout', '-q', '--orphan', 'stranger');
    repository.commit('from nowhere', { 'z.txt': 'z\n' });
    const { outcome } = await merge(planFor('sequential', ['stranger']));
    expect(outcome.sources[0]).toMatchObject({ state: 'failed', reason: 'UnrelatedHistories' });
    expect(outcome.tip).toBe(base);
  });
});

describe('branch-per-source', () => {
  it('makes a merge commit also where the target could simply move on', async () => {
    repository.branch('one');
    const head = repository.commit('one', { 'a.txt': lines(30, { 3: 'three' }) });
    const outcome = await mergeAndKeep(planFor('branch-per-source', ['one'], { message: 'Bring it in' }));
    expect(repository.git('log', '-1', '--format=%P %s', outcome.tip)).toBe(`${base} ${head} Bring it in`);
    expect(repository.tree(outcome.tip)).toBe(repository.tree('one'));
  });
});

describe('cherry-pick', () => {
  it('gives the trees, words and authors that git cherry-pick gives', async () => {
    repository.branch('one');
    for (let step = 1; step <= 5; step += 1)
      repository.commit(`step ${step}\n\nwhy ${step}`, { 'a.txt': lines(30, { [step]: `s${step}` }) });
    repository.branch('two');
    repository.commit('other', { 'b.txt': lines(30, { 9: 'nine' }) });
    repository.git('checkout', '-q', 'main');
    repository.commit('meanwhile', { 'dir/d.txt': lines(10, { 1: 'one' }) });
    const outcome = await mergeAndKeep(planFor('cherry-pick', ['one', 'two']));
    repository.branch('by-hand');
    repository.git('cherry-pick', `${base}..one`);
    repository.git('cherry-pick', 'two');
    const format = ['log', '--format=%T %an %ae %at %B', `${base}..`];
    expect(repository.git(...format.slice(0, 2), `${base}..${outcome.tip}`)).toBe(repository.git(...format));
    expect(outcome.sources.map(({ commits }) => commits)).toEqual([5, 1]);
  });

  it('names the commit that does not fit, and takes nothing of that source', async () => {
    repository.branch('one');
    repository.commit('fits', { 'b.txt': lines(30, { 2: 'two' }) });
    const bad = repository.commit('does not', { 'a.txt': lines(30, { 3: 'mine' }) });
    repository.git('checkout', '-q', 'main');
    const target = repository.commit('theirs', { 'a.txt': lines(30, { 3: 'theirs' }) });
    const { outcome } = await merge(planFor('cherry-pick', ['one']));
    expect(outcome.tip).toBe(target);
    expect(outcome.sources[0]).toMatchObject({
      state: 'conflicted',
      commits: 0,
      conflicts: [{ commit: bad, files: [{ path: 'a.txt', kind: 'content' }] }],
    });
  });

  it('leaves out what the target already has', async () => {
    repository.branch('one');
    repository.commit('same', { 'a.txt': lines(30, { 3: 'three' }) });
    repository.git('checkout', '-q', 'main');
    const target = repository.commit('the same by somebody else', { 'a.txt': lines(30, { 3: 'three' }) });
    const outcome = await mergeAndKeep(planFor('cherry-pick', ['one']));
    expect(outcome).toMatchObject({ tip: target, sources: [{ state: 'merged', commits: 0 }] });
  });

  it('refuses a merge commit and a base that is not in the history', async () => {
    repository.branch('side');
    repository.commit('side', { 'b.txt': lines(30, { 2: 'two' }) });
    repository.branch('one');
    repository.commit('own', { 'a.txt': lines(30, { 3: 'three' }) });
    repository.git('merge', '-q', '--no-edit', 'side');
    const { outcome } = await merge(planFor('cherry-pick', ['one']));
    expect(outcome.sources[0]).toMatchObject({ state: 'failed', reason: 'MergeCommitInRange' });
    const plan = planFor('cherry-pick', ['side']);
    const wrong = { ...plan, sources: [{ name: 'side', head: repository.head('side'), base: repository.head('one') }] };
    expect((await merge(wrong)).outcome.sources[0]).toMatchObject({ state: 'failed', reason: 'BaseNotInHistory' });
  });
});

it('leaves the repository as it was until the objects are kept', async () => {
  repository.branch('one');
  repository.commit('one', { 'a.txt': lines(30, { 3: 'three' }) });
  repository.git('checkout', '-q', 'main');
  repository.commit('main', { 'b.txt': lines(30, { 3: 'three' }) });
  const objects = () => readdirSync(join(repository.gitDirectory, 'objects'), { recursive: true }).sort();
  const before = objects();
  const { outcome, scratch } = await merge(planFor('sequential', ['one']));
  expect(objects()).toEqual(before);
  expect(repository.tryGit('cat-file', '-e', outcome.tip)).toBe(false);
  await scratch.keep();
  expect(repository.tryGit('cat-file', '-e', outcome.tip)).toBe(true);
});
