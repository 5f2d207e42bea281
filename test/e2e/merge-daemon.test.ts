/** Merges from real sandboxes into a folder of a person: landed, verified together, approved, in conflict, and over the end of the daemon. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { Agent, Merge } from '#api/types.ts';
import { AgentsHome, conditionOf, WAIT, withSandboxes } from '../support/agents-home.ts';
import { gitIn, makeSource } from '../support/work.ts';

const GROUP = '/apis/agentiso.dev/v1alpha1/namespaces/default';
const LINES = Array.from({ length: 20 }, (_, index) => `line ${index + 1}\n`).join('');

withSandboxes('merges', () => {
  const home = new AgentsHome();
  let source: string;
  beforeAll(async () => {
    source = join(home.folder, 'shop');
    makeSource(source, { 'a.txt': LINES });
    await home.start();
    const roles = [{ name: 'one' }, { name: 'two' }, { name: 'three' }];
    await home.create('Team', 'shop', { isolation: { driver: 'sandbox' }, roles, repo: { path: source } });
    await home.ready(['shop-one', 'shop-two', 'shop-three']);
  });
  afterAll(() => home.close(expect.anything()));

  const create = (name: string, sources: readonly string[], spec: object = {}) =>
    home.call('POST', `${GROUP}/merges`, {
      apiVersion: 'agentiso.dev/v1alpha1',
      kind: 'Merge',
      metadata: { name },
      spec: { team: 'shop', sources: sources.map((agent) => ({ agent })), target: { branch: 'main' }, ...spec },
    });
  const merge = (name: string): Promise<Merge> => home.call('GET', `${GROUP}/merges/${name}`);
  const reached = (name: string, phase: string) =>
    vi.waitFor(async () => {
      const found = await merge(name);
      expect(found.status?.phase, JSON.stringify(found.status)).toBe(phase);
      return found.status;
    }, WAIT);
  let tasks = 0;
  /** As agents do it: what a task leaves is saved when it ends. */
  const commit = async (agent: string, line: number, words: string) => {
    tasks += 1;
    const command = `sed -i '${line}s/.*/${words}/' a.txt && git commit -qam '${words}'`;
    await home.create('Task', `shop-c${tasks}`, { team: 'shop', assignTo: agent, maxAttempts: 1, command });
    await home.reached(`shop-c${tasks}`, 'Succeeded');
  };
  const text = () => readFileSync(join(source, 'a.txt'), 'utf8').split('\n');
  const refs = async () => {
    const { metadata } = await home.call('GET', `${GROUP}/teams/shop`);
    return gitIn(
      join(home.home, 'repos', `${metadata.uid}.git`),
      'for-each-ref',
      '--format=%(refname)',
      'refs/agentiso/merges',
      'refs/heads/agentiso',
    );
  };

  it('brings what agents have committed into the folder, files and all', async () => {
    await commit('one', 2, 'two by one');
    await commit('two', 12, 'twelve by two');
    await create('first', ['one', 'shop-two'], {
      strategy: 'branch-per-source',
      verify: ['grep -q "two by one" a.txt', 'test ! -e /sys/class/net/eth0'],
    });
    const status = await reached('first', 'Merged');
    expect(status).toMatchObject({
      totalCommitsApplied: 2,
      verification: { passed: true },
      targetAfter: gitIn(source, 'rev-parse', 'main'),
    });
    expect([text()[1], text()[11], gitIn(source, 'status', '--porcelain')]).toEqual(['two by one', 'twelve by two', '']);
    const { stdout } = await home.cli('get', 'merges');
    expect(stdout).toMatch(/first +shop +Merged +main +2/);
    expect((await refs()).split('\n')).toEqual(['refs/heads/agentiso/first/one', 'refs/heads/agentiso/first/two']);
    await home.delete('merges', 'first');
    await vi.waitFor(async () => expect(await refs()).toBe(''), WAIT);
  });

  it('is counted, and so is all that led to it', async () => {
    await home.inside('shop-one', 'true');
    await home.cli('get', 'merge', 'nowhere');
    const { stdout: text } = await home.cli('get', '--raw', '/metrics');
    expect(text).toMatch(/^agentiso_workspaces\{phase="\w+",driver="sandbox"\} 3$/m);
    expect(text).toMatch(/^agentiso_boot_duration_seconds_count\{driver="sandbox"\} 3$/m);
    expect(text).toMatch(/^agentiso_teams\{phase="\w+"\} 1$/m);
    expect(text).toMatch(/^agentiso_tasks\{phase="Succeeded"\} [1-9]\d*$/m);
    expect(text).toMatch(/^agentiso_merges_total\{phase="Merged"\} 1$/m);
    expect(text).toMatch(/^agentiso_merge_duration_seconds_count 1$/m);
    expect(text).toMatch(/^agentiso_exec_total\{result="ok"\} 1$/m);
    expect(text).toMatch(/^agentiso_errors_total\{code="NotFound"\} [1-9]\d*$/m);
  });

  it('changes nothing on a conflict, says so to those concerned, and goes on when it is mended', async () => {
    await commit('one', 5, 'five by one');
    await commit('two', 5, 'five by two');
    const before = gitIn(source, 'rev-parse', 'main');
    await create('clash', ['one', 'two'], { onConflict: 'CreateTask' });
    const status = await reached('clash', 'Conflicted');
    expect(status?.conflicts).toMatchObject([{ source: 'two', files: [{ path: 'a.txt', kind: 'content', hunks: [{ startLine: 5 }] }] }]);
    expect([gitIn(source, 'rev-parse', 'main'), gitIn(source, 'status', '--porcelain')]).toEqual([before, '']);
    const fixes = (await home.list('tasks')).filter(({ metadata }) => metadata.labels?.['agentiso.dev/merge'] === 'clash');
    expect(fixes.map(({ spec }) => spec.assignTo)).toEqual(['two']);
    expect((await home.cli('why', 'merge/clash')).stdout).toContain('two has a task to mend it');
    // The radar has seen it too.
    await vi.waitFor(
      async () => {
        const found = await Promise.all(['one', 'two'].map((name) => home.agent(`shop-${name}`)));
        expect(found.map((agent: Agent) => conditionOf(agent, 'ConflictsWith'))).toEqual(Array(2).fill('True BranchesConflict'));
      },
      { ...WAIT, timeout: 90_000 },
    );
    await commit('two', 5, 'five by one');
    await reached('clash', 'Merged');
    expect(text()[4]).toBe('five by one');
    await home.delete('merges', 'clash');
  });

  it('waits for somebody who wrote none of it, and is verified before', async () => {
    await commit('three', 18, 'eighteen by three');
    await create('asked', ['three'], { approval: 'Required', verify: ['git log --oneline | head -1'] });
    await vi.waitFor(async () => expect((await merge('asked')).status?.waitsFor).toContain('agentiso approve merge/asked'), WAIT);
    const wrong = await home.cli('approve', 'merge/asked', '--commit', '0'.repeat(40));
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('look at it again')]);
    expect((await home.cli('approve', 'merge/asked')).stdout).toMatch(/^approved: merge\/asked at [0-9a-f]{12}\n$/);
    expect(await reached('asked', 'Merged')).toMatchObject({ approval: { by: expect.any(String) } });
    await home.delete('merges', 'asked');
  });

  it('leaves what is not committed alone, in the folder and in the workspace', async () => {
    await commit('one', 9, 'nine by one');
    await home.inside('shop-one', 'sh', '-c', 'echo later > notes.txt');
    await create('dirty', ['one']);
    expect(await reached('dirty', 'Failed')).toMatchObject({
      reason: 'UncommittedChanges',
      sources: [{ uncommittedFiles: ['notes.txt'] }],
    });
    writeFileSync(join(source, 'a.txt'), 'mine\n');
    await home.change('merges', 'dirty', { allowDirty: true });
    await vi.waitFor(async () => expect((await merge('dirty')).status?.reason).toBe('TargetDirty'), WAIT);
    expect(readFileSync(join(source, 'a.txt'), 'utf8')).toBe('mine\n');
    gitIn(source, 'checkout', '-q', '--', '.');
    await vi.waitFor(async () => expect((await merge('dirty')).status?.phase).toBe('Merged'), { ...WAIT, timeout: 60_000 });
    expect(text()[8]).toBe('nine by one');
    await home.inside('shop-one', 'rm', 'notes.txt');
    await home.delete('merges', 'dirty');
  });

  it('goes on where it was when the daemon is killed while verify runs, and leaves no workspace', async () => {
    for (const [agent, line] of [
      ['one', 3],
      ['two', 7],
      ['three', 15],
    ] as const) {
      await commit(agent, line, `late ${agent}`);
      await create(`late-${agent}`, [agent], { verify: ['sleep 3'] });
    }
    await vi.waitFor(async () => expect((await merge('late-one')).status?.candidate).toBeDefined(), WAIT);
    await vi.waitFor(() => expect(readdirSync(join(home.home, 'state/merge-verifications')).length).toBeGreaterThan(0), WAIT);
    await home.kill();
    await home.start();
    for (const agent of ['one', 'two', 'three']) await reached(`late-${agent}`, 'Merged');
    expect([text()[2], text()[6], text()[14]]).toEqual(['late one', 'late two', 'late three']);
    await vi.waitFor(() => expect(readdirSync(join(home.home, 'state/merge-verifications'))).toEqual([]), WAIT);
    expect(await refs()).toBe('');
  });

  it('comes by itself when the tasks of a team are done', async () => {
    const work = [{ name: 'write', command: "echo done > done.txt && git add done.txt && git commit -qm 'done'" }];
    const roles = [{ name: 'dev' }];
    await home.create('Team', 'auto', {
      isolation: { driver: 'sandbox' },
      roles,
      tasks: work,
      repo: { path: source },
      merge: { into: 'main' },
    });
    await reached('auto-merge', 'Merged');
    expect(readFileSync(join(source, 'done.txt'), 'utf8')).toBe('done\n');
  });
});
