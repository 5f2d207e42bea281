import { existsSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { mergeSources } from './merge-sources.ts';
import { TestRepository } from './repository.fixture.ts';
import { Workbenches } from './workbench.ts';

let repository: TestRepository;
let root: string;
let benches: Workbenches;
beforeEach(async () => {
  repository = new TestRepository();
  repository.commit('base', { 'a.txt': 'a\n' });
  root = join(repository.gitDirectory, 'benches');
  benches = await Workbenches.open(root);
});
afterEach(async () => {
  await benches.drop(repository.gitDirectory);
  repository.remove();
});

const options = () => ({ directory: repository.gitDirectory });
const onDisk = () => (existsSync(root) ? readdirSync(root) : []);
/** Of those that work in the repository. */
const processes = () =>
  readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readlinkSync(`/proc/${pid}/cwd`) === repository.gitDirectory;
    } catch {
      return false;
    }
  });

/** A branch with one file, on what main is now. */
function branch(name: string): string {
  repository.git('checkout', '-q', '-f', '-b', name, 'main');
  const head = repository.commit(name, { [`${name}.txt`]: `${name}\n` });
  repository.git('checkout', '-q', 'main');
  return head;
}

async function land(name: string, signal?: AbortSignal): Promise<string> {
  const bench = await benches.take(options());
  try {
    const source = { name, head: repository.head(name), base: repository.head('main') };
    const by = { name: 'agentiso', email: 'agentiso@localhost' };
    const plan = {
      strategy: 'branch-per-source' as const,
      target: repository.head('main'),
      targetName: 'main',
      sources: [source],
      by,
      at: new Date(),
    };
    const { tip } = await mergeSources(repository.gitDirectory, bench.scratch, plan, { merges: bench.merges, ...(signal && { signal }) });
    await bench.scratch.keep();
    repository.git('update-ref', 'refs/heads/main', tip);
    return tip;
  } finally {
    await benches.giveBack(bench, options());
  }
}

it('serves merges in a row by one process, which sees what the others have made', async () => {
  for (const name of ['one', 'two', 'three']) branch(name);
  await land('one');
  const before = processes();
  expect(before).toHaveLength(1);
  // Made after the process has started.
  branch('four');
  for (const name of ['two', 'three', 'four']) await land(name);
  expect(processes()).toEqual(before);
  const files = repository.git('ls-tree', '--name-only', 'main').split('\n');
  expect(files).toEqual(['a.txt', 'four.txt', 'one.txt', 'three.txt', 'two.txt']);
  expect(repository.tryGit('fsck', '--strict')).toBe(true);
});

it('keeps nothing of one merge for the next', async () => {
  for (const name of ['one', 'two']) branch(name);
  const bench = await benches.take(options());
  const record = await bench.merges.merge(branch('left'), repository.head('one'));
  await benches.giveBack(bench, options());
  await land('two');
  expect(repository.tryGit('cat-file', '-e', record.tree)).toBe(false);
});

it('has one for each of those that merge at the same time', async () => {
  const [one, other] = await Promise.all([benches.take(options()), benches.take(options())]);
  expect(one.merges).not.toBe(other.merges);
  await Promise.all([benches.giveBack(one, options()), benches.giveBack(other, options())]);
  expect(processes()).toHaveLength(2);
});

it('does not go on with one that was given up', async () => {
  for (const name of ['one', 'two']) branch(name);
  await land('one');
  const [before] = processes();
  await expect(land('two', AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
  const given = new AbortController();
  const merging = land('two', given.signal);
  setImmediate(() => given.abort(new Error('enough')));
  await merging.catch(() => {});
  await land('two');
  expect(repository.git('ls-tree', '--name-only', 'main').split('\n')).toContain('two.txt');
  expect(before).toBeDefined();
});

it('begins anew when a process has died, or git would cut histories off elsewhere', async () => {
  for (const name of ['one', 'two', 'three']) branch(name);
  await land('one');
  const [first] = processes();
  process.kill(Number(first), 'SIGKILL');
  await vi.waitFor(() => expect(processes()).toEqual([]));
  await land('two');
  const [second] = processes();
  writeFileSync(join(repository.gitDirectory, 'shallow'), '');
  await land('three');
  expect(processes()).toHaveLength(1);
  expect(processes()).not.toEqual([second]);
});

it('leaves nothing behind after a while, and nothing of an earlier run', async () => {
  benches = await Workbenches.open(root, { keptMs: 100 });
  branch('one');
  await land('one');
  await vi.waitFor(() => expect([onDisk(), processes()]).toEqual([[], []]), { timeout: 20_000 });
  branch('two');
  await land('two');
  await benches.drop(repository.gitDirectory);
  expect([onDisk(), processes()]).toEqual([[], []]);
  writeFileSync(join(root, 'left'), '');
  await Workbenches.open(root);
  expect(onDisk()).toEqual([]);
});
