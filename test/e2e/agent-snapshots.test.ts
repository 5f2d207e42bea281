/** Snapshots, restores, forks and rest of agents in real sandboxes, through the front doors that people use. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { Agent, Snapshot } from '#api/types.ts';
import { AgentsHome, conditionOf, WAIT, withSandboxes } from '../support/agents-home.ts';
import { answerOf, mcpClient, socketTransport } from '../support/mcp-client.ts';
import { gitIn, makeSource } from '../support/work.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of every tool, looked at by assertions
type Any = any;

withSandboxes('snapshots of an agent', () => {
  const home = new AgentsHome();
  let source: string;
  beforeAll(async () => {
    source = join(home.folder, 'shop');
    makeSource(source, { 'a.txt': 'one\n', 'gone.txt': 'to be removed\n', '.gitignore': 'big/\nsums\n' });
    await home.start();
    await home.create('Team', 'lab', {
      isolation: { driver: 'sandbox' },
      repo: { path: source },
      budget: { maxAgents: 4 },
      roles: [{ name: 'ann', skills: ['lab'], resources: { memoryMiB: 384 } }],
    });
    await home.ready(['lab-ann']);
  });
  afterAll(() => home.close(expect.not.stringContaining('did not stop in time')));

  const run = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await home.cli(...args);
    return { code, stdout, stderr };
  };
  const works = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await home.cli(...args);
    expect([code, stderr], stdout).toEqual([0, '']);
    return stdout;
  };
  const sh = (agent: string, script: string) => home.inside(agent, 'sh', '-c', script);
  const snapshots = async () => (await home.list('snapshots')) as Snapshot[];
  const names = async () => (await snapshots()).map(({ metadata }) => metadata.name).sort();

  it('keeps three, lets the first go, takes the agent back to the second, and begins forks as it was', async () => {
    const [before] = await home.ready(['lab-ann']);
    await sh('lab-ann', 'rm gone.txt; echo first > f; mkdir d; echo deep > d/x; echo kept > ~/note; git add -A; git commit -qm first');
    expect(await works('snapshot', 'create', 'ann', 'first')).toContain('snapshot/lab-ann-first taken');
    await sh('lab-ann', 'echo second > f; rm -r d; mkdir d; echo other > d/y');
    await works('snapshot', 'create', 'ann', 'second');
    await sh('lab-ann', 'echo third > f; echo late > late; echo lost > ~/note');
    await works('snapshot', 'create', 'ann', 'third');
    expect(await works('snapshot', 'list', 'ann')).toMatch(/lab-ann-first\s+lab\s+lab-ann\s+Ready[\s\S]*second[\s\S]*third/);
    expect(await works('snapshot', 'delete', 'ann', 'first')).toContain('lab-ann-first deleted');
    await vi.waitFor(async () => expect(await names()).toEqual(['lab-ann-second', 'lab-ann-third']), WAIT);

    expect(await works('snapshot', 'restore', 'ann', 'second')).toContain('agent/lab-ann is back at snapshot lab-ann-second');
    const [restored] = await home.ready(['lab-ann'], ({ status }) => status?.incarnation !== before?.status?.incarnation);
    expect(restored?.status).toMatchObject({ restored: { snapshot: 'lab-ann-second' } });
    expect(restored?.status?.restarts ?? 0).toBe(0);
    expect(await sh('lab-ann', 'cat f d/y ~/note a.txt; ls; git status --porcelain; git rev-parse --abbrev-ref HEAD')).toBe(
      'second\nother\nkept\none\na.txt\nd\nf\n D d/x\n M f\n?? d/y\nagents/lab/ann\n',
    );
    expect(await names()).toEqual(['lab-ann-second', 'lab-ann-third']);

    const forked = await works('fork', 'ann', '--count', '2', '--prefix', 'twin', '--snapshot', 'third');
    expect(forked).toContain('agent/lab-twin-1 forked from lab-ann at snapshot lab-ann-third');
    const twins = await home.ready(['lab-twin-1', 'lab-twin-2']);
    for (const [at, twin] of twins.entries()) {
      const { name } = twin.metadata;
      const who = `twin-${at + 1}`;
      expect(await sh(name, 'cat f late ~/note; git log --format=%s; git rev-parse --abbrev-ref HEAD; git branch --list "agents/*"')).toBe(
        `third\nlate\nlost\nfirst\nfirst\nagents/lab/${who}\n* agents/lab/${who}\n`,
      );
      const head = (await sh(name, 'git rev-parse HEAD')).trim();
      expect(twin.status?.source).toEqual({ agent: 'lab-ann', snapshot: 'lab-ann-third', commit: head });
      expect(twin.status?.git).toMatchObject({ forkBase: head, branch: `agents/lab/${who}` });
      expect(twin.spec).toMatchObject({ role: 'ann', skills: ['lab'], resources: { memoryMiB: 384 } });
    }
    await sh('lab-twin-1', 'echo mine > f; git commit -qam mine');
    expect(await sh('lab-twin-2', 'cat f')).toBe('third\n');
    expect(await sh('lab-twin-1', 'git log -1 --format="%an %ae"')).toBe('twin-1 twin-1@lab.agentiso\n');
  });

  it('forks within the budget of the team, and says of each what became of it', async () => {
    const { code, stdout, stderr } = await run('fork', 'ann', '--count', '2', '--snapshot', 'third');
    expect(code).toBe(1);
    expect(stdout).toContain('agent/lab-worker-1 forked');
    expect(stderr).toMatch(/lab-worker-2: .*budget\.maxAgents of team lab is 4/);
    await home.ready(['lab-worker-1']);
    for (const name of ['lab-worker-1', 'lab-twin-1', 'lab-twin-2']) await home.delete('agents', name);
    expect(await run('fork', 'ann', '--count', '21')).toMatchObject({ code: 2, stderr: expect.stringContaining('1 to 20') });
  });

  it('is not taken back or held still while it works on a task, which is named', async () => {
    await home.create('Task', 'lab-long', { team: 'lab', assignTo: 'ann', command: 'until [ -e go ]; do sleep 0.05; done' });
    await home.reached('lab-long', 'Running');
    for (const words of [
      ['snapshot', 'restore', 'ann', 'second'],
      ['suspend', 'ann'],
    ]) {
      const { code, stderr } = await run(...words);
      expect([code, stderr]).toEqual([1, expect.stringMatching(/while it works on task long/)]);
    }
    await sh('lab-ann', 'touch go');
    await home.reached('lab-long', 'Succeeded');
  });

  it('is held still with all that is in its memory, and goes on as the same run', async () => {
    const [before] = await home.ready(['lab-ann']);
    const counting = 'n=0; while :; do n=$((n+1)); echo $n > ticks.new; mv ticks.new ticks; sleep 0.05; done';
    await sh('lab-ann', `setsid sh -c '${counting}' > /dev/null 2>&1 < /dev/null & until [ -e ticks ]; do sleep 0.05; done`);
    await works('suspend', 'ann');
    await vi.waitFor(async () => expect((await home.agent('lab-ann')).status?.phase).toBe('Suspended'), WAIT);
    expect(await home.startCli('exec', 'lab-ann', '--', 'true').result).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('agent lab-ann is suspended; to let it go on: agentiso resume lab-ann'),
    });
    await works('snapshot', 'create', 'ann', 'still');
    await works('message', 'lab/ann', 'wait for me');
    // A daemon that comes later finds it as it was left.
    await home.kill();
    await home.start();
    await vi.waitFor(async () => expect(conditionOf(await home.agent('lab-ann'), 'Ready')).toBe('False Suspended'), WAIT);
    expect((await run('why', 'agent/lab-ann')).stdout).toContain('Suspended');
    await works('resume', 'ann');
    const [after] = (await home.ready(['lab-ann'])) as [Agent];
    expect([after.status?.incarnation, after.status?.pid]).toEqual([before?.status?.incarnation, before?.status?.pid]);
    // What has counted goes on counting: one that was started anew would not be there.
    const ticks = async () => Number(await sh('lab-ann', 'cat ticks'));
    const first = await ticks();
    await vi.waitFor(async () => expect(await ticks()).toBeGreaterThan(first), WAIT);
    await vi.waitFor(async () => expect(await home.inside('lab-ann', 'team', 'inbox')).toContain('wait for me'), WAIT);
  });

  it('is whole after a daemon was killed in the middle, whichever way it went', async () => {
    const state = join(home.home, 'state', 'workspaces', 'sandbox');
    const folder = join(state, (await home.agent('lab-ann')).metadata.uid);
    // Large enough to be caught at; the sums tell whether all of it is there.
    await sh(
      'lab-ann',
      'mkdir -p big; for n in $(seq 16); do head -c 1000000 /dev/urandom > big/$n; done; sha256sum big/* > sums; echo before > f',
    );
    const taking = await home.create('Snapshot', 'lab-ann-cut', { team: 'lab', agent: 'lab-ann' });
    const unfinished = join(state, '.snapshots', `${taking.metadata.uid}.new`);
    await vi.waitFor(() => expect([existsSync(unfinished), existsSync(unfinished.slice(0, -4))]).toContain(true), { ...WAIT, interval: 2 });
    await home.kill();
    await home.start();
    await vi.waitFor(
      async () => expect((await snapshots()).find(({ metadata }) => metadata.name === 'lab-ann-cut')?.status?.phase).toBe('Ready'),
      WAIT,
    );
    await home.ready(['lab-ann']);
    expect(existsSync(unfinished)).toBe(false);

    await sh('lab-ann', 'rm -r big; echo after > f');
    const at = new Date().toISOString();
    await home.change('agents', 'lab-ann', { restore: { snapshot: 'lab-ann-cut', at } });
    await vi.waitFor(() => expect(['restoring', 'restored', 'replaced'].some((name) => existsSync(join(folder, name)))).toBe(true), {
      ...WAIT,
      interval: 2,
    });
    await home.kill();
    await home.start();
    await home.ready(['lab-ann'], ({ status }) => status?.restored?.at === at);
    expect(await sh('lab-ann', 'sha256sum --quiet -c sums && cat f')).toBe('before\n');
    expect(['restoring', 'restored', 'replaced'].filter((name) => existsSync(join(folder, name)))).toEqual([]);
  });

  it('is there for clients of MCP too', async () => {
    const client = await mcpClient(socketTransport(home.home));
    const call = async (name: string, args: object): Promise<{ isError: boolean; answer: Any }> => {
      const answer = await client.callTool({ name, arguments: { team: 'lab', agent: 'ann', ...args } });
      return { isError: answer.isError === true, answer: answerOf(answer) };
    };
    try {
      expect(await call('workspace_snapshot_create', { name: 'tool' })).toMatchObject({
        isError: false,
        answer: { snapshot: 'lab-ann-tool', agent: 'lab-ann', phase: 'Ready', bytes: expect.any(Number) },
      });
      await sh('lab-ann', 'echo changed > f');
      const { answer: restored } = await call('workspace_snapshot_restore', { snapshot: 'tool' });
      expect(restored).toMatchObject({ agent: 'lab-ann', snapshot: 'lab-ann-tool', incarnation: expect.stringMatching(/^[0-9a-f-]{36}$/) });
      expect(await sh('lab-ann', 'cat f')).toBe('before\n');
      await home.create('Agent', 'lab-mcp-2', { team: 'lab', desiredState: 'Stopped' });
      const { answer: forked } = await call('workspace_fork', { count: 2, prefix: 'mcp' });
      expect(forked.forks.map(({ agent, success, code }: Any) => [agent, success, code])).toEqual([
        ['lab-mcp-1', true, undefined],
        ['lab-mcp-2', false, 'AlreadyExists'],
      ]);
      await home.ready(['lab-mcp-1']);
      expect(await sh('lab-mcp-1', 'sha256sum --quiet -c sums && cat f')).toBe('before\n');
      // What was taken for the forks alone has gone with the last of them that began.
      await vi.waitFor(async () => expect(await names()).not.toContain(forked.snapshot), WAIT);
      expect((await call('workspace_snapshot_delete', { snapshot: 'tool' })).answer).toEqual({ snapshot: 'lab-ann-tool' });
      const { answer: listed } = await call('workspace_snapshot_list', {});
      expect(listed.snapshots.map(({ snapshot }: Any) => snapshot)).toContain('lab-ann-cut');
      expect(await call('workspace_snapshot_restore', { snapshot: 'none' })).toMatchObject({
        isError: true,
        answer: { error: { code: 'NotFound' } },
      });
    } finally {
      await client.close();
    }
  });

  it('has at most twenty', async () => {
    await sh('lab-ann', 'rm -r big');
    const wanted = 20 - (await names()).length;
    for (let n = 1; n <= wanted; n++) await home.create('Snapshot', `lab-ann-n${n}`, { team: 'lab', agent: 'lab-ann' });
    const { code, stderr } = await run('snapshot', 'create', 'ann', 'too-many');
    expect([code, stderr]).toEqual([1, expect.stringMatching(/agent lab-ann has 20 snapshots, at most 20; delete one first/)]);
    await vi.waitFor(async () => expect((await snapshots()).map(({ status }) => status?.phase)).toEqual(Array(20).fill('Ready')), WAIT);
  });

  it('goes with its agent', async () => {
    await home.delete('teams', 'lab');
    await vi.waitFor(async () => expect(await names()).toEqual([]), WAIT);
    expect(gitIn(source, 'status', '--porcelain')).toBe('');
  });
});
