import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openTeamRepositories } from '#git/open-team-repositories.ts';
import { TestRepository } from '#git/repository.fixture.ts';
import type { TeamRepository } from '#git/team-repository.ts';
import { createTeamBases, type TeamBases } from './team-bases.ts';

let home: string;
let work: TestRepository;
let first: string;
let repository: TeamRepository;
let bases: TeamBases;

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'agentiso-bases-'));
  work = new TestRepository();
  first = work.commit('first', { 'a.txt': 'one\n' });
  const source = { path: work.directory, ref: 'main' };
  repository = await (await openTeamRepositories(home)).open({ uid: 'team', namespace: 'default', name: 'shop', source });
  bases = createTeamBases(home);
});
afterEach(() => {
  work.remove();
  rmSync(home, { recursive: true, force: true });
});

const present = () => readdirSync(join(home, 'state/bases/team')).sort();

it('checks out a commit once, whole, and for each agent the same for ever', async () => {
  const base = await bases.ensure('one', repository);
  expect(base).toEqual({ directory: join(home, 'state/bases/team', first), commit: first });
  expect(readFileSync(join(base?.directory ?? '', 'a.txt'), 'utf8')).toBe('one\n');
  const git = (...args: string[]) => execFileSync('git', ['-C', base?.directory ?? '', ...args], { encoding: 'utf8' }).trim();
  expect([git('status', '--porcelain'), git('rev-parse', 'origin/main')]).toEqual(['', first]);
  const second = work.commit('second', { 'a.txt': 'two\n' });
  const again = createTeamBases(home);
  expect(await again.ensure('one', repository)).toEqual(base);
  expect((await again.ensure('two', repository))?.commit).toBe(second);
  expect(await again.noteOf('one')).toEqual({ team: 'team', commit: first });
  expect(await again.noteOf('nobody')).toBeUndefined();
});

it('takes a tag and a commit, and says when there is none of the name', async () => {
  work.git('tag', 'v1');
  work.commit('second', { 'a.txt': 'two\n' });
  const repositories = await openTeamRepositories(home);
  const from = (uid: string, ref: string) =>
    repositories.open({ uid, namespace: 'default', name: uid, source: { url: `file://${work.directory}`, ref } });
  expect((await bases.ensure('a', await from('t1', 'v1')))?.commit).toBe(first);
  expect((await bases.ensure('b', await from('t2', first)))?.commit).toBe(first);
  expect(await bases.ensure('c', await from('t3', 'nowhere'))).toBeUndefined();
  await expect(
    bases.ensure('d', await repositories.open({ uid: 't4', namespace: 'default', name: 't4', source: { path: join(home, 'none') } })),
  ).rejects.toMatchObject({ reason: 'NotARepository' });
});

it('comes back when its check-out was removed or never finished, also when its branch is gone', async () => {
  const base = await bases.ensure('one', repository);
  work.git('checkout', '-q', '--orphan', 'other');
  work.commit('unrelated', { 'a.txt': 'x\n' });
  work.git('branch', '-q', '-D', 'main');
  rmSync(base?.directory ?? '', { recursive: true });
  execFileSync('mkdir', ['-p', `${base?.directory}.new/half`]);
  expect(await bases.ensure('one', repository)).toEqual(base);
  expect(readFileSync(join(base?.directory ?? '', 'a.txt'), 'utf8')).toBe('one\n');
  expect(present()).toEqual([first]);
});

it('goes when no agent has it: the newest with the team, all at the next start', async () => {
  await bases.ensure('one', repository);
  const second = work.commit('second', { 'a.txt': 'two\n' });
  await bases.ensure('two', repository);
  await bases.ensure('three', repository);
  await bases.forget('one');
  await bases.forget('two');
  expect(present()).toEqual([second]);
  await bases.forget('three');
  expect(present()).toEqual([second]);
  await bases.forgetTeam('team');
  expect(present()).toEqual([]);
  await bases.ensure('four', repository);
  await bases.forget('four');
  await createTeamBases(home).sweep();
  expect(existsSync(join(home, 'state/bases/team'))).toBe(false);
});

it.runIf(process.getuid?.() === 0)('belongs to whoever is to write on top of it, and git inside reads nothing twice', async () => {
  const mine = await bases.ensure('one', repository);
  const theirs = await bases.ensure('two', repository, 70_123);
  expect(theirs?.directory).toBe(`${mine?.directory}-70123`);
  for (const path of ['', 'a.txt', '.git/index', '.git/config'])
    expect(statSync(join(theirs?.directory ?? '', path)).uid, path).toBe(70_123);
  expect(statSync(join(mine?.directory ?? '', 'a.txt')).uid).toBe(0);
});
