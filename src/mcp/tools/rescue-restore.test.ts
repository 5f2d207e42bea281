/** Rescued work, as an operator finds it and brings it into another workspace: the branch that is there afterwards. */
import { execFileSync } from 'node:child_process';
import { createReadStream, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Agent, Team } from '#api/types.ts';
import { TestRepository } from '#git/repository.fixture.ts';
import { newAgent, newTeam } from '../../../test/support/controllers.ts';
import { keepUnmerged } from '../../daemon/desks/rescue.ts';
import { openWorkBench, type WorkBench } from '../work/work-bench.fixture.ts';

const UID = '0b5b5f0e-0000-4000-8000-000000000001';
let here: WorkBench;
let source: TestRepository;

beforeEach(async () => {
  here = await openWorkBench();
  source = new TestRepository();
  const base = source.commit('base', { 'a.txt': 'one\n' });
  execFileSync('git', ['clone', '-q', source.directory, join(here.folder, 'shop-new')]);
  const repository = await here.repositories.open({
    uid: 'team-uid',
    namespace: 'default',
    name: 'shop',
    source: { path: source.directory },
  });
  await repository.baseCommit();
  source.branch('lost');
  const head = source.commit('lost work', { 'b.txt': 'two\n' });
  source.git('checkout', '-q', 'main');
  source.git('branch', '-q', '-D', 'lost');
  const ref = `refs/agentiso/kept/${UID}/rescue-0/head`;
  source.git('update-ref', ref, head);
  const file = join(here.folder, 'out.bundle');
  source.git('bundle', 'create', '--quiet', file, ref);
  source.git('update-ref', '-d', ref);
  await repository.receive(createReadStream(file), { agentUid: UID, refOf: (name) => name, mayHoldSecrets: true });
  const exported = { isRepository: true, hasBundle: true, refs: {}, uncommittedFiles: [], branches: {}, head };
  const lost = {
    metadata: { uid: UID, namespace: 'default', name: 'shop-lost' },
    spec: { team: 'shop' },
    status: { git: { forkBase: base } },
  } as unknown as Agent;
  const team = {
    metadata: { uid: 'team-uid', namespace: 'default', name: 'shop' },
    spec: { repo: { path: source.directory } },
  } as unknown as Team;
  await keepUnmerged(lost, [{ state: 'saved', refs: { [ref]: head }, exported, head }], { repository, team });
  await here.client.create(newTeam('shop', { roles: [{ name: 'new' }] }));
  await here.client.create<Agent>(newAgent('shop-new', { team: 'shop' }));
});
afterEach(async () => {
  source.remove();
  await here.end();
});

const git = (...args: string[]) => execFileSync('git', args, { cwd: join(here.folder, 'shop-new'), encoding: 'utf8' }).trim();

it('lists what is kept and brings it into a workspace as a branch', async () => {
  const { rescued } = await here.answer('rescue_list', { team: 'shop' });
  expect(rescued).toMatchObject([{ id: UID, namespace: 'default', team: 'shop', commits: 1 }]);
  expect(await here.answer('rescue_list', { team: 'other' })).toEqual({ rescued: [] });
  const [{ agent = '', commit } = {}] = rescued as { agent?: string; commit?: string }[];
  const restored = await here.answer('rescue_restore', { id: UID.slice(0, 8), team: 'shop', agent: 'new' });
  expect(restored).toEqual({ agent: 'shop-new', branch: `rescue/${agent}`, commit });
  expect(git('rev-parse', `rescue/${agent}`)).toBe(commit);
  expect(git('show', `rescue/${agent}:b.txt`)).toBe('two');
  expect(git('for-each-ref', 'refs/agentiso')).toBe('');
  expect(readdirSync(join(here.folder, 'shop-new', '.git')).filter((name) => name.includes('bundle'))).toEqual([]);
  expect(git('status', '--porcelain')).toBe('');
  const { error } = await here.call('rescue_restore', { id: UID, team: 'shop', agent: 'new' });
  expect(error).toMatchObject({ code: 'AlreadyExists', hint: expect.stringContaining('workspace_exec') });
});

it.each([
  { input: { id: 'ffff' }, code: 'NotFound', hint: 'rescue_list' },
  { input: { agent: 'nobody' }, code: 'NotFound', hint: 'new' },
])('refuses $input', async ({ input, code, hint }) => {
  const { error } = await here.call('rescue_restore', { id: UID, team: 'shop', agent: 'new', ...input });
  expect(error).toMatchObject({ code, hint: expect.stringContaining(hint) });
});

it('is for admins', async () => {
  expect((await here.call('rescue_list', {}, { role: 'viewer' })).error).toMatchObject({ code: 'Forbidden' });
});
