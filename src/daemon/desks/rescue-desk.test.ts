import { execFileSync } from 'node:child_process';
import { createReadStream, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Agent, Team } from '#api/types.ts';
import { openTeamRepositories } from '#git/open-team-repositories.ts';
import { TestRepository } from '#git/repository.fixture.ts';
import type { TeamRepositories, TeamRepository } from '#git/team-repository.ts';
import { agentIdentity, personIdentity } from '#server/auth/identity.ts';
import type { Desk } from '#server/desk.ts';
import type { SaveOutcome } from '../agents/agent-work.ts';
import { keepUnmerged } from './rescue.ts';
import { createRescueDesk } from './rescue-desk.ts';

let home: string;
let work: TestRepository;
let repositories: TeamRepositories;
let repository: TeamRepository;
let team: Team;
let desk: Desk;
let base: string;

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'agentiso-rescue-'));
  work = new TestRepository();
  base = work.commit('base', { 'a.txt': 'one\n' });
  repositories = await openTeamRepositories(home);
  team = { metadata: { uid: 'team-uid', namespace: 'default', name: 'shop' }, spec: { repo: { path: work.directory } } } as unknown as Team;
  repository = await repositories.open({ uid: 'team-uid', namespace: 'default', name: 'shop', source: { path: work.directory } });
  await repository.baseCommit();
  desk = createRescueDesk(repositories, () => false);
});
afterEach(() => {
  work.remove();
  rmSync(home, { recursive: true, force: true });
});

const agent = {
  metadata: { uid: 'agent-uid', namespace: 'default', name: 'shop-coder' },
  spec: { team: 'shop' },
  status: { git: { forkBase: '' } },
} as unknown as Agent;

/** As if it had just come out of a workspace. */
async function saved(commits: { readonly head: string; readonly wip?: string }): Promise<SaveOutcome> {
  const file = join(home, 'out.bundle');
  const refs = Object.fromEntries(Object.entries(commits).map(([name, id]) => [`refs/agentiso/kept/agent-uid/rescue-0/${name}`, id]));
  for (const [ref, id] of Object.entries(refs)) work.git('update-ref', ref, id);
  work.git('bundle', 'create', '--quiet', file, ...Object.keys(refs));
  for (const ref of Object.keys(refs)) work.git('update-ref', '-d', ref);
  await repository.receive(createReadStream(file), { agentUid: 'agent-uid', refOf: (ref) => ref, mayHoldSecrets: true });
  const exported = { isRepository: true, hasBundle: true, refs: {}, uncommittedFiles: [], branches: {}, head: commits.head };
  return { state: 'saved', refs, exported, ...commits };
}

function changed(): { head: string; wip: string } {
  work.branch('coder');
  const head = work.commit('done', { 'b.txt': 'two\n' });
  const wip = work.commit('What was not committed', { 'c.txt': `ghp_${'a1'.repeat(20)}\n` });
  work.git('checkout', '-q', 'main');
  work.git('branch', '-q', '-D', 'coder');
  return { head, wip };
}

const withBase = () => ({ ...agent, status: { git: { forkBase: base } } }) as Agent;
const keep = (outcome: SaveOutcome) => keepUnmerged(withBase(), [outcome], { repository, team });

const ask = (method: string, path: string, query = '') =>
  desk.answer({
    method,
    path,
    query: new URLSearchParams(query),
    contentType: undefined,
    identity: personIdentity('admin', 'ada'),
    signal: new AbortController().signal,
    body: async () => Buffer.alloc(0),
    fields: async () => ({}),
  });

it('keeps what is not merged under one ref, here and in the folder, and nothing else of the agent', async () => {
  const { head, wip } = changed();
  const { ref, message } = await keep(await saved({ head, wip }));
  expect(ref).toBe('refs/agentiso/rescue/agent-uid');
  expect(message).toContain(`1 commit and 2 files, is kept as ${ref} in ${work.directory}`);
  expect(work.git('show', `${ref}:b.txt`)).toBe('two');
  expect(work.git('rev-parse', `${ref}^1`)).toBe(wip);
  expect([...(await repository.refs('refs/agentiso/kept', 'refs/agentiso/incoming', 'refs/heads')).keys()]).toEqual([]);
});

it('keeps it once, however often it is asked', async () => {
  const commits = changed();
  const first = await keep(await saved(commits));
  const kept = await repository.resolve(first.ref ?? '');
  const second = await keep(await saved(commits));
  expect(second.ref).toBe(first.ref);
  expect(await repository.resolve(first.ref ?? '')).toBe(kept);
});

it('keeps nothing of what the folder has by now, or of what the workspace started from', async () => {
  const { head } = changed();
  work.git('update-ref', 'refs/heads/main', head);
  expect(await keep(await saved({ head }))).toEqual({ message: expect.stringContaining('is merged') });
  work.git('update-ref', 'refs/heads/main', base);
  expect((await keep(await saved({ head }))).ref).toBeDefined();
});

it('shows, gives and drops it, for admins only', async () => {
  expect([desk.may(personIdentity('viewer', 'v'), 'GET'), desk.may(personIdentity('admin', 'a'), 'GET')]).toEqual([false, true]);
  const { head, wip } = changed();
  await keep(await saved({ head, wip }));
  const about = { id: 'agent-uid', agent: 'shop-coder', team: 'shop', namespace: 'default', commits: 1, files: 2, base };
  expect(await ask('GET', '')).toMatchObject({ value: { repositories: [{ team: 'shop', rescued: [about] }] } });
  expect(await ask('GET', 'agent')).toMatchObject({
    value: {
      agent: 'shop-coder',
      commits: [{ subject: 'What was not committed' }, { subject: 'done' }],
      stat: expect.stringContaining('b.txt'),
    },
  });
  for (const have of ['', base]) {
    const answer = (await ask('GET', 'agent-uid/bundle', `have=${have}`)) as { bytes: AsyncIterable<Uint8Array> };
    const chunks: Uint8Array[] = [];
    for await (const chunk of answer.bytes) chunks.push(chunk);
    writeFileSync(join(home, 'given.bundle'), Buffer.concat(chunks));
    const verified = execFileSync('git', ['-C', work.directory, 'bundle', 'verify', join(home, 'given.bundle')], {
      encoding: 'utf8',
      stdio: 'pipe',
    });
    expect(verified).toContain(have === '' ? 'complete history' : 'requires this ref');
  }
  await expect(ask('DELETE', 'agent-uid')).rejects.toMatchObject({ code: 'Invalid' });
  await expect(ask('GET', 'nobody')).rejects.toMatchObject({ code: 'NotFound' });
  await expect(ask('POST', 'agent-uid')).rejects.toMatchObject({ code: 'Invalid' });
  await ask('DELETE', 'agent-uid', 'confirm=true');
  expect(work.git('for-each-ref', 'refs/agentiso/rescue')).toBe('');
  expect(existsSync(repository.directory)).toBe(false);
});

it('keeps the repository of a team that has merged into a branch only it has', async () => {
  const own = await repositories.open({ uid: 'alone', namespace: 'default', name: 'alone' });
  const file = join(home, 'main.bundle');
  work.git('bundle', 'create', '--quiet', file, 'refs/heads/main');
  await own.receive(createReadStream(file), { agentUid: 'a', refOf: () => 'refs/heads/agents/alone/a' });
  await own.land('main', { from: undefined, to: base });
  expect(await repositories.remove('alone')).toBe('kept');
  await own.update([{ ref: 'refs/heads/main', to: undefined }]);
  expect(await repositories.remove('alone')).toBe('removed');
});

it('publishes no branch that leads to a key, whoever says that it is here already', async () => {
  const { head, wip } = changed();
  await saved({ head, wip });
  const refs = { 'refs/heads/agents/shop/coder': wip, 'refs/agentiso/wip/agent-uid': wip };
  expect(await repository.adopt(refs, {})).toMatchObject({
    state: 'refused',
    reason: 'SecretFound',
    refs: { 'refs/agentiso/wip/agent-uid': wip },
  });
  expect((await repository.refs('refs/heads')).size).toBe(0);
  expect(await repository.adopt({ 'refs/heads/agents/shop/coder': head }, {})).toMatchObject({ state: 'received' });
});

it('is not for agents', () => {
  expect(desk.may(agentIdentity({ uid: 'u', namespace: 'n', name: 'a', team: 't' } as never), 'GET')).toBe(false);
});
