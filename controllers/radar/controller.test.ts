import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Agent, Team } from '#api/types.ts';
import { openTeamRepositories } from '#git/open-team-repositories.ts';
import { Radar } from '#git/radar.ts';
import { lines, TestRepository } from '#git/repository.fixture.ts';
import type { Notice } from '#relay/notices.ts';
import { type Bench, bench, conditionOf, newAgent, newTeam } from '../../test/support/controllers.ts';
import { radarController } from './controller.ts';

let here: Bench;
let home: string;
let source: TestRepository;
let base: string;
let notices: Notice[];
let controller: ReturnType<typeof radarController>;
let directory: string;

beforeEach(async () => {
  here = bench();
  home = mkdtempSync(join(tmpdir(), 'agentiso-radar-'));
  source = new TestRepository();
  base = source.commit('base', { 'a.txt': lines(20), 'b.txt': lines(20) });
  notices = [];
  const repositories = await openTeamRepositories(home);
  const { metadata } = await here.client.create<Team>(newTeam('shop', { repo: { path: source.directory } }) as never);
  directory = (await repositories.open({ ...metadata, source: { path: source.directory } })).directory;
  for (const name of ['one', 'two', 'three']) {
    await here.client.create<Agent>(newAgent(`shop-${name}`, { team: 'shop' }));
    await moveTo(name, base);
  }
  const tell = async (notice: Notice) => void notices.push(notice);
  controller = radarController({
    client: here.client,
    repositories,
    radar: new Radar(),
    notices: { tell, withdraw: async () => undefined },
  });
});
afterEach(() => {
  source.remove();
  rmSync(home, { recursive: true, force: true });
});

const agentOf = (name: string) => here.get<Agent>('Agent', `shop-${name}`) as Agent;
const conflict = (name: string) => conditionOf(agentOf(name), 'ConflictsWith');

async function moveTo(name: string, head: string): Promise<void> {
  const agent = agentOf(name);
  source.git('push', '-q', '-f', directory, `${head}:refs/heads/agents/shop/${name}`);
  await here.client.updateStatus<Agent>({ ...agent, status: { ...agent.status, git: { forkBase: base, head } } });
}

/** As an event of that agent would bring it about. */
async function commit(name: string, change: Record<string, string>): Promise<void> {
  const head = agentOf(name).status?.git?.head ?? base;
  source.git('checkout', '-q', '--detach', head);
  await moveTo(name, source.commit(name, change));
  await lookAfter(name);
}

async function lookAfter(name: string, type: 'MODIFIED' | 'DELETED' = 'MODIFIED'): Promise<number> {
  const keys = controller.watches?.[0]?.toKeys(agentOf(name), type) ?? [];
  for (const key of keys) await here.reconcile(controller, 'Agent', key.name);
  return keys.length;
}

const touch = (line: number, text: string) => ({ 'a.txt': lines(20, { [line]: text }) });

describe('the radar', () => {
  beforeEach(async () => {
    for (const name of ['one', 'two', 'three']) await lookAfter(name);
  });

  it('says on both agents, and to both, what does not fit, and takes it back', async () => {
    await commit('one', touch(3, 'three'));
    await commit('three', touch(15, 'fifteen'));
    expect(['one', 'two', 'three'].map(conflict)).toEqual([undefined, undefined, undefined]);
    await commit('two', touch(3, 'drei'));
    expect(['one', 'two', 'three'].map(conflict)).toEqual([
      'True BranchesConflict: two: a.txt (content)',
      'True BranchesConflict: one: a.txt (content)',
      undefined,
    ]);
    expect(notices.map(({ to, content }) => `${to}: ${content.slice(0, 59).trim()}`)).toEqual([
      'one: Your branch does not fit with that of two: a.txt (content).',
      'two: Your branch does not fit with that of one: a.txt (content).',
    ]);
    await commit('two', touch(3, 'three'));
    expect(['one', 'two'].map(conflict)).toEqual([undefined, undefined]);
    expect(agentOf('one').status?.conditions).toEqual([]);
    expect(agentOf('one').status).not.toHaveProperty('conflicts');
  });

  it('says it to programs, too: with whom, and in which files', async () => {
    await commit('one', { ...touch(3, 'three'), 'c.txt': 'c\n' });
    await commit('two', { ...touch(3, 'drei'), 'c.txt': 'not c\n' });
    expect(agentOf('one').status?.conflicts).toEqual([{ agent: 'two', files: ['a.txt', 'c.txt'] }]);
    expect(agentOf('two').status?.conflicts).toEqual([{ agent: 'one', files: ['a.txt', 'c.txt'] }]);
    expect(agentOf('three').status?.conflicts).toBeUndefined();
  });

  it('says nothing new while the same files clash, and speaks up when others do', async () => {
    await commit('one', touch(3, 'three'));
    await commit('two', touch(3, 'drei'));
    await commit('two', { 'c.txt': 'c\n' });
    expect(notices).toHaveLength(2);
    await commit('one', { 'c.txt': 'not c\n' });
    expect(notices).toHaveLength(4);
    expect(conflict('two')).toContain('one: a.txt (content), c.txt (add/add)');
    for (const { key } of notices) expect(notices.filter((other) => other.key === key)).toHaveLength(1);
  });

  it('forgets agents that go, and looks only when a branch has moved', async () => {
    await commit('one', touch(3, 'three'));
    await commit('two', touch(3, 'drei'));
    expect(await lookAfter('two')).toBe(0);
    const gone = agentOf('two');
    await here.client.delete({ kind: 'Agent', namespace: 'default', name: 'shop-two' });
    const keys = controller.watches?.[0]?.toKeys(gone, 'DELETED') ?? [];
    expect(keys.map(({ name }) => name).sort()).toEqual(['shop-one', 'shop-three']);
    for (const { name } of keys) await here.reconcile(controller, 'Agent', name);
    expect(conflict('one')).toBeUndefined();
  });

  it('lets an agent rest that has no branch of its own, as soon as nothing is said about one any more', async () => {
    const rests = (name: string) => controller.isAtRest?.(agentOf(name), undefined);
    expect(['one', 'two', 'three'].map(rests)).toEqual([true, true, true]);
    await commit('one', touch(3, 'three'));
    await commit('two', touch(3, 'drei'));
    expect(['one', 'two', 'three'].map(rests)).toEqual([false, false, true]);
    await moveTo('one', base);
    expect(rests('one')).toBe(false);
    await here.reconcile(controller, 'Agent', 'shop-one');
    expect([rests('one'), conflict('one')]).toEqual([true, undefined]);
  });

  it('leaves nothing in the repository', async () => {
    await commit('one', touch(3, 'three'));
    source.git('checkout', '-q', '--detach', base);
    await moveTo('two', source.commit('two', touch(3, 'drei')));
    const before = source.git(`--git-dir=${directory}`, 'count-objects');
    await lookAfter('two');
    expect(conflict('one')).toBeDefined();
    expect(source.git(`--git-dir=${directory}`, 'count-objects')).toBe(before);
    expect(readdirSync(join(directory, 'agentiso-scratch'))).toEqual([]);
  });
});
