/** From a workspace to the team's repository and back, with the guest's own code and real git; only the wire between them is left out. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Agent } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import { openTeamRepositories } from '#git/open-team-repositories.ts';
import { TestRepository } from '#git/repository.fixture.ts';
import type { TeamRepository } from '#git/team-repository.ts';
import type { Session } from '#guest/sessions.ts';
import type { GitExportParams } from '#protocol/control.ts';
import { exportGit } from '../../../guest-agent/git/export.ts';
import type { Guest } from '../../../guest-agent/guest.ts';
import { agentWork, saveWork } from './agent-work.ts';

let folder: string;
let source: TestRepository;
let repository: TeamRepository;
let root: string;
let bundles: boolean[];
let session: Pick<Session, 'open'>;
const agent = { metadata: { uid: 'uid', name: 'shop-coder', namespace: 'default' }, spec: { team: 'shop' } } as unknown as Agent;
const BRANCH = 'refs/heads/agents/shop/coder';

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'agentiso-work-'));
  source = new TestRepository();
  source.commit('base', { 'a.txt': 'one\n' });
  root = join(folder, 'work');
  mkdirSync(join(folder, 'state'));
  execFileSync('git', ['clone', '-q', source.directory, root]);
  const guest = { root, stateDir: join(folder, 'state'), env: () => ({ PATH: '/usr/bin:/bin', HOME: folder }), groups: { size: 0 } };
  bundles = [];
  const open = (_method: string, params: GitExportParams) => {
    const bundle = new PassThrough();
    const result = exportGit(guest as unknown as Guest, params, bundle, new AbortController().signal).then((answer) => {
      bundles.push(answer.hasBundle);
      bundle.end();
      return answer;
    });
    return { result, up: {}, down: { bundle } };
  };
  session = { open } as unknown as Pick<Session, 'open'>;
  const home = join(folder, 'home');
  mkdirSync(home);
  repository = await (await openTeamRepositories(home)).open({
    uid: 'team',
    namespace: 'default',
    name: 'shop',
    source: { path: source.directory },
  });
  await repository.baseCommit();
});
afterEach(() => {
  source.remove();
  rmSync(folder, { recursive: true, force: true });
});

function git(...args: string[]): string {
  const as = ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.com'];
  return execFileSync('git', [...as, '-C', root, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
}

const write = (path: string, content: string) => writeFileSync(join(root, path), content);
const save = () => saveWork(agent, session, repository, { withUncommitted: true });
const refs = async () => [...(await repository.refs('refs/heads', 'refs/agentiso/wip', 'refs/agentiso/kept')).keys()];

it('sends what is new once, and forgets what is uncommitted no longer', async () => {
  write('b.txt', 'two\n');
  const first = await save();
  expect(first).toMatchObject({ state: 'saved', wip: await repository.resolve('refs/agentiso/wip/uid') });
  await save();
  git('add', '-A');
  git('commit', '-q', '-m', 'two');
  expect(await save()).toMatchObject({ state: 'saved', head: git('rev-parse', 'HEAD') });
  expect(await refs()).toEqual([BRANCH]);
  expect(bundles).toEqual([true, false, true]);
});

it('follows other branches and stashes, whatever becomes of their names', async () => {
  git('branch', 'side');
  write('a.txt', 'stashed\n');
  git('stash', '-q');
  await save();
  expect(await refs()).toEqual(['refs/agentiso/kept/uid/stash/0', BRANCH]);
  git('checkout', '-q', 'side');
  write('s.txt', 's\n');
  git('add', '-A');
  git('commit', '-q', '-m', 'side');
  git('checkout', '-q', '-');
  await save();
  expect(await refs()).toContain('refs/agentiso/kept/uid/branches/side');
  git('branch', '-m', 'side', 'other');
  git('branch', '-m', 'other', 'side/deeper');
  git('stash', 'drop', '-q');
  await save();
  expect(await refs()).toEqual(['refs/agentiso/kept/uid/branches/side%2Fdeeper', BRANCH]);
});

it('publishes no key, keeps everything all the same, and publishes again when it is gone', async () => {
  const clean = await save();
  write('key', `ghp_${'a1'.repeat(20)}\n`);
  git('add', '-A');
  git('commit', '-q', '-m', 'leak');
  write('more.txt', 'more\n');
  for (let times = 0; times < 2; times++) {
    const { wip = '', ...refused } = await save();
    expect(refused).toMatchObject({ state: 'refused', reason: 'SecretFound', message: expect.stringContaining('key') });
    expect(await repository.resolve('refs/agentiso/wip/uid')).toBe(wip);
    expect(await repository.resolve(BRANCH)).toBe(clean.head);
  }
  git('rm', '-q', '--cached', 'key');
  git('commit', '-q', '--amend', '-m', 'mended', '--allow-empty');
  // What is not committed may hold a key: it goes nowhere.
  expect(await save()).toMatchObject({ state: 'saved', head: git('rev-parse', 'HEAD') });
  expect(await repository.resolve(BRANCH)).toBe(git('rev-parse', 'HEAD'));
});

it('puts nothing where it would be published the last time', async () => {
  write('b.txt', 'two\n');
  git('add', '-A');
  git('commit', '-q', '-m', 'two');
  await saveWork(agent, session, repository, { withUncommitted: true, isFinal: true, rescueFrom: '0' });
  expect(await refs()).toEqual(['refs/agentiso/kept/uid/rescue-0/head']);
});

it('knows of an agent that does not run what it had not committed', async () => {
  write('b.txt', 'two\n');
  await save();
  const team = { metadata: { uid: 'team', namespace: 'default', name: 'shop' }, spec: { repo: { path: source.directory } } };
  const work = agentWork({
    client: { get: async () => team } as unknown as Client,
    repositories: await openTeamRepositories(join(folder, 'home')),
    sessions: { get: () => undefined, onChange: () => () => undefined },
  });
  const head = git('rev-parse', 'HEAD');
  const collected = await work.collect(agent, '/workspace', new AbortController().signal);
  expect(collected).toEqual({ state: 'collected', head, uncommittedFiles: ['b.txt'] });
});

it('asks an agent that runs and is not reached yet, as after a start of the daemon, before it takes what was last saved', async () => {
  await save();
  write('b.txt', 'two\n');
  git('add', '-A');
  git('commit', '-q', '-m', 'two');
  const team = { metadata: { uid: 'team', namespace: 'default', name: 'shop' }, spec: { repo: { path: source.directory } } };
  const running = { ...agent, spec: { ...agent.spec, desiredState: 'Running' }, status: { phase: 'Ready' } } as Agent;
  const listeners = new Set<(id: string) => void>();
  let isOpen = false;
  const collect = async (each: Agent, patienceMs: number) => {
    const work = agentWork({
      client: { get: async () => team } as unknown as Client,
      repositories: await openTeamRepositories(join(folder, 'home')),
      sessions: {
        get: () => (isOpen ? ({ ...session, state: { isControlOpen: true } } as unknown as Session) : undefined),
        onChange: (listener) => {
          listeners.add(listener);
          return () => listeners.delete(listener);
        },
      },
      patienceMs,
    });
    return work.collect(each, '/workspace', new AbortController().signal);
  };
  const first = git('rev-parse', 'HEAD^');
  expect(await collect(running, 10)).toMatchObject({ head: first });
  const stopped = { ...running, spec: { ...running.spec, desiredState: 'Stopped' } } as Agent;
  expect(await collect(stopped, 60_000)).toMatchObject({ head: first });
  const collected = collect(running, 60_000);
  await vi.waitFor(() => expect(listeners.size).toBe(1));
  isOpen = true;
  for (const listener of listeners) listener('uid');
  expect(await collected).toMatchObject({ head: git('rev-parse', 'HEAD') });
  expect(listeners.size).toBe(0);
});
