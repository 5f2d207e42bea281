import { execFileSync } from 'node:child_process';
import { createReadStream, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTeamRepositories } from './open-team-repositories.ts';
import { Radar } from './radar.ts';
import { rescueRef } from './refs.ts';
import { lines, TestRepository } from './repository.fixture.ts';
import type { TeamRepositories, TeamRepository } from './team-repository.ts';

let home: string;
let work: TestRepository;
let repositories: TeamRepositories;
let base: string;
const team = { uid: 'team-uid', namespace: 'default', name: 'shop' };

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'agentiso-repos-'));
  work = new TestRepository();
  base = work.commit('base', { 'a.txt': lines(20), 'b.txt': lines(20) });
  repositories = await openTeamRepositories(home);
});
afterEach(() => {
  work.remove();
  rmSync(home, { recursive: true, force: true });
});

/** What an agent's copy of the repository would send. */
function bundleOf(branch: string, ref = 'refs/heads/work'): string {
  const file = join(home, `${branch}.bundle`);
  work.git('update-ref', ref, branch);
  work.git('bundle', 'create', '--quiet', file, ref, `^${base}`);
  work.git('update-ref', '-d', ref);
  return file;
}

async function receive(repository: TeamRepository, branch: string, agent = branch) {
  const refOf = (ref: string) => (ref === 'refs/heads/work' ? `refs/heads/agents/shop/${agent}` : undefined);
  return repository.receive(createReadStream(bundleOf(branch)), { agentUid: agent, refOf });
}

const inTeam = (repository: TeamRepository, ...args: string[]) =>
  execFileSync('git', ['-C', repository.directory, ...args], { encoding: 'utf8' }).trim();

describe('a team with a folder as its source', () => {
  const open = () => repositories.open({ ...team, source: { path: work.directory, ref: 'main' } });

  it('starts from what the folder has now', async () => {
    const repository = await open();
    expect(await repository.baseCommit()).toBe(base);
    const next = work.commit('next', { 'a.txt': 'a\n' });
    expect(await repository.baseCommit()).toBe(next);
  });

  it('moves a branch together with its clean worktree', async () => {
    const repository = await open();
    await repository.baseCommit();
    work.branch('feature');
    const head = work.commit('feature', { 'a.txt': lines(20, { 3: 'three' }) });
    work.git('checkout', '-q', 'main');
    expect(await receive(repository, 'feature')).toMatchObject({ state: 'received' });
    expect(await repository.land('main', { from: base, to: head })).toEqual({ state: 'landed' });
    expect(work.head('main')).toBe(head);
    expect(readFileSync(join(work.directory, 'a.txt'), 'utf8')).toContain('three');
    expect(work.git('status', '--porcelain')).toBe('');
  });

  it('overwrites nobody’s changes and no commit that came meanwhile', async () => {
    const repository = await open();
    await repository.baseCommit();
    work.branch('feature');
    const head = work.commit('feature', { 'a.txt': lines(20, { 3: 'three' }) });
    work.git('checkout', '-q', 'main');
    await receive(repository, 'feature');
    writeFileSync(join(work.directory, 'a.txt'), 'mine\n');
    expect(await repository.land('main', { from: base, to: head })).toMatchObject({ state: 'dirty' });
    expect(readFileSync(join(work.directory, 'a.txt'), 'utf8')).toBe('mine\n');
    expect(work.head('main')).toBe(base);
    work.git('checkout', '-q', '--', '.');
    const other = work.commit('meanwhile', { 'b.txt': 'b\n' });
    expect(await repository.land('main', { from: base, to: head })).toEqual({ state: 'moved', now: other });
    expect(work.head('main')).toBe(other);
  });

  it('says so when the folder is no repository', async () => {
    const repository = await repositories.open({ ...team, source: { path: home } });
    await expect(repository.baseCommit()).rejects.toMatchObject({ reason: 'NotARepository' });
  });
});

describe('what comes out of a workspace', () => {
  it('is refused when it has refs of others, is too large, or is no bundle', async () => {
    const repository = await repositories.open({ ...team, source: { path: work.directory } });
    await repository.baseCommit();
    work.branch('feature');
    work.commit('feature', { 'a.txt': 'x\n' });
    const stolen = bundleOf('feature', 'refs/heads/main');
    const delivery = { agentUid: 'one', refOf: (ref: string) => (ref === 'refs/heads/work' ? 'refs/heads/agents/shop/one' : undefined) };
    await expect(repository.receive(createReadStream(stolen), delivery)).rejects.toMatchObject({ code: 'Invalid' });
    await expect(repository.receive(createReadStream(bundleOf('feature')), { ...delivery, maxBytes: 10 })).rejects.toMatchObject({
      code: 'TooLarge',
    });
    writeFileSync(join(home, 'junk'), 'no bundle at all');
    await expect(repository.receive(createReadStream(join(home, 'junk')), delivery)).rejects.toThrow();
    expect(await repository.refs('refs/heads')).toEqual(new Map());
    expect(readdirSync(join(repository.directory, 'agentiso-incoming'))).toEqual([]);
  });

  it('removes what a delivery of the same agent has parked that was cut off', async () => {
    const repository = await repositories.open({ ...team, source: { path: work.directory } });
    await repository.baseCommit();
    work.branch('cut');
    work.commit('work', { 'a.txt': lines(20, { 2: 'two' }) });
    await receive(repository, 'cut');
    const [head = ''] = (await repository.refs('refs/heads/agents')).values();
    for (const agent of ['cut', 'other']) inTeam(repository, 'update-ref', `refs/agentiso/incoming/${agent}/1`, head);
    work.commit('more', { 'a.txt': lines(20, { 2: 'three' }) });
    await receive(repository, 'cut');
    expect([...(await repository.refs('refs/agentiso/incoming')).keys()]).toEqual(['refs/agentiso/incoming/other/1']);
  });

  it('is kept but not published when it holds a key', async () => {
    const repository = await repositories.open({ ...team, source: { path: work.directory } });
    await repository.baseCommit();
    work.branch('leaky');
    work.commit('leaky', { 'conf/.env': `TOKEN=ghp_${'a1'.repeat(20)}\n` });
    expect(await receive(repository, 'leaky')).toMatchObject({
      state: 'refused',
      reason: 'SecretFound',
      message: expect.stringContaining('conf/.env'),
    });
    expect(await repository.refs('refs/heads')).toEqual(new Map());
    expect((await repository.refs('refs/agentiso/incoming/leaky')).size).toBe(1);
  });
});

it('keeps a repository that holds rescued work', async () => {
  const repository = await repositories.open(team);
  work.branch('rescued');
  const file = join(home, 'all.bundle');
  work.git('bundle', 'create', '--quiet', file, 'refs/heads/rescued');
  await repository.receive(createReadStream(file), {
    agentUid: 'a',
    refOf: (ref: string) => (ref === 'refs/heads/rescued' ? rescueRef('a') : undefined),
  });
  expect(await repositories.remove(team.uid)).toBe('kept');
  await repository.update([{ ref: rescueRef('a'), to: undefined }]);
  expect(await repositories.remove(team.uid)).toBe('removed');
  expect(existsSync(repository.directory)).toBe(false);
});

it('moves a branch of its own only from where it was', async () => {
  const repository = await repositories.open(team);
  work.branch('one');
  const first = work.commit('one', { 'a.txt': 'x\n' });
  const file = join(home, 'all.bundle');
  work.git('bundle', 'create', '--quiet', file, 'refs/heads/one');
  await repository.receive(createReadStream(file), {
    agentUid: 'a',
    refOf: (ref: string) => (ref === 'refs/heads/one' ? 'refs/heads/agents/shop/a' : undefined),
  });
  expect(await repository.land('main', { from: undefined, to: first })).toEqual({ state: 'landed' });
  expect(await repository.land('main', { from: base, to: first })).toEqual({ state: 'moved', now: first });
  expect(inTeam(repository, 'rev-parse', 'main')).toBe(first);
});

it('is not stopped by a lock that somebody left who was killed, and waits for one in use', async () => {
  const repository = await repositories.open({ ...team, source: { path: work.directory } });
  await repository.baseCommit();
  const lock = join(repository.directory, 'packed-refs.lock');
  writeFileSync(lock, '');
  const drop = () => repository.update([{ ref: 'refs/agentiso/source/heads/main', to: undefined }]);
  await expect(drop()).rejects.toThrow('File exists');
  utimesSync(lock, 1, 1);
  await drop();
  expect([existsSync(lock), (await repository.refs('refs/agentiso/source')).size]).toEqual([false, 0]);
});

it('finds the branches that do not fit together', async () => {
  for (const [name, change] of [
    ['one', { 3: 'three' }],
    ['two', { 3: 'drei' }],
    ['three', { 15: 'fifteen' }],
  ] as const) {
    work.branch(name, base);
    work.commit(name, { 'a.txt': lines(20, change) });
  }
  const heads = new Map(['one', 'two', 'three'].map((name) => [name, work.head(name)]));
  const radar = new Radar();
  const clashes = await radar.look(heads, { directory: work.gitDirectory });
  expect(clashes).toEqual([{ between: ['one', 'two'], files: [{ path: 'a.txt', kind: 'content' }] }]);
  // The second look asks nobody: the repository could be gone.
  expect(await radar.look(heads, { directory: '/nonexistent' })).toEqual(clashes);
});
