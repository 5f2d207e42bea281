/** Workspaces that start from a repository, what is saved of them, and what is kept when they go; with real sandboxes and real git. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Agent } from '#api/types.ts';
import { AgentsHome, conditionOf, WAIT, withSandboxes } from '../support/agents-home.ts';
import { findRescued, gitIn, makeSource } from '../support/work.ts';

const GROUP = '/apis/agentiso.dev/v1alpha1/namespaces/default';

withSandboxes('the work of agents', () => {
  const home = new AgentsHome();
  let source: string;
  let main: string;
  beforeAll(async () => {
    source = join(home.folder, 'shop');
    main = makeSource(source, { 'a.txt': 'one\n', 'src/b.txt': 'two\n', '.gitignore': 'ignored/\n' });
    await home.start();
  });
  // A key that is found is a warning.
  afterAll(() => home.close(expect.not.stringContaining('did not stop in time')));

  const team = (name: string, repo: object | undefined, roles: readonly object[] = [{ name: 'one' }], driver = 'sandbox') =>
    home.create('Team', name, { isolation: { driver }, roles, ...(repo && { repo }) });
  const task = (name: string, of: string, command: string) =>
    home.create('Task', `${of}-${name}`, { team: of, maxAttempts: 1, command }).then(() => home.reached(`${of}-${name}`, 'Succeeded'));
  const isGone = async (name: string) => expect((await home.agents()).map(({ metadata }) => metadata.name)).not.toContain(name);
  const deleted = async (plural: string, name: string, agent: string) => {
    await home.delete(plural, name);
    await vi.waitFor(() => isGone(agent), WAIT);
  };

  describe.each(['sandbox', 'process'])('with the %s driver', (driver) => {
    const name = `git-${driver}`;
    const agent = `${name}-one`;

    it('starts from the commit of the team, on a branch of its own, and its commits say who made them', async () => {
      await team(name, { path: source }, [{ name: 'one' }], driver);
      const [{ status } = {} as Agent] = await home.ready([agent]);
      expect(status?.git).toMatchObject({ forkBase: gitIn(source, 'rev-parse', 'HEAD'), branch: `agents/${name}/one` });
      expect(await home.inside(agent, 'git', 'status', '--porcelain', '--branch')).toBe(`## agents/${name}/one\n`);
      // What git would have to read again although nothing has changed.
      if (driver === 'sandbox') expect(await home.inside(agent, 'git', 'diff-files', '--raw')).toBe('');
      await task('commit', name, 'echo three > c.txt && git add c.txt && git commit -qm three && echo uncommitted > d.txt');
      const log = await home.inside(agent, 'git', 'log', '-1', '--format=%an <%ae>%n%B');
      expect(log.split('\n').filter(Boolean)).toEqual([
        `one <one@${name}.agentiso>`,
        'three',
        `Agentiso-Agent: ${agent}`,
        `Agentiso-Task: ${name}-commit`,
        'Agentiso-Attempt: 1',
      ]);
    });

    it('is saved when a task ends, however short it was', async () => {
      const saved = await vi.waitFor(async () => {
        const { status } = await home.agent(agent);
        expect(status?.git?.wip).toMatch(/^[0-9a-f]{40}$/);
        return status?.git;
      }, WAIT);
      const { metadata } = await home.call('GET', `${GROUP}/teams/${name}`);
      const repository = join(home.home, 'repos', `${metadata.uid}.git`);
      expect(gitIn(repository, 'rev-parse', `refs/heads/agents/${name}/one`)).toBe(saved?.head);
      expect(gitIn(repository, 'show', `${saved?.wip}:d.txt`)).toBe('uncommitted');
      await task('clean', name, 'git add d.txt && git commit -qm four');
      await vi.waitFor(async () => expect((await home.agent(agent)).status?.git?.wip).toBeUndefined(), WAIT);
    });

    it('keeps its files and what they started from when agent and daemon start again, wherever the branch has gone', async () => {
      writeFileSync(join(source, `moved-${driver}.txt`), 'moved\n');
      gitIn(source, 'add', '-A');
      gitIn(source, 'commit', '-q', '-m', 'moved');
      const before = await home.agent(agent);
      await home.stop();
      await home.start();
      const [after] = await home.ready([agent], ({ status }) => status?.incarnation !== before.status?.incarnation);
      expect(after?.status?.git?.forkBase).toBe(before.status?.git?.forkBase);
      expect(await home.inside(agent, 'cat', 'c.txt', 'd.txt')).toBe('three\nuncommitted\n');
    });

    it('is kept when it goes: commits, the index, files, stashes, other branches; and comes back', async () => {
      const { metadata } = await home.agent(agent);
      const steps = [
        'echo stash > a.txt && git stash -q',
        'git checkout -q -b aside && echo aside > aside.txt && git add . && git commit -qm aside && git checkout -q -',
        'echo lost > lost.txt && git add . && git commit -qm lost && git reset -q --hard HEAD^',
        'echo staged > s.txt && git add s.txt && echo file > s.txt && echo new > new.txt',
        'mkdir -p ignored inner && echo no > ignored/x && git init -q inner && echo inner > inner/i.txt',
      ];
      await task('leave', name, steps.join(' && '));
      await deleted('teams', name, agent);
      const kept = findRescued(source, metadata.uid);
      expect(kept.file('new.txt')).toBe('new\n');
      expect(kept.file('s.txt')).toBe('file\n');
      expect(kept.file('c.txt')).toBe('three\n');
      expect(kept.file('inner/i.txt')).toBe('inner\n');
      expect(kept.all()).toEqual(expect.arrayContaining(['stash\n', 'staged\n', 'aside\n', 'file\n', 'lost\n']));
      expect(kept.all()).not.toContain('no\n');
      const [event] = (await home.events('Rescued')).filter((each) => each.involvedObject.name === agent);
      expect(event?.message).toContain(`refs/agentiso/rescue/${metadata.uid}`);
      expect((await home.cli('rescue', 'list')).stdout).toMatch(new RegExp(`${metadata.uid} +default +${name} +${agent} +\\S+ +4 +`));
      expect((await home.cli('rescue', 'show', metadata.uid)).stdout).toMatch(/three[\s\S]*new\.txt/);
      const into = join(home.folder, `restored-${driver}`);
      expect(await home.cli('rescue', 'restore', metadata.uid.slice(0, 13), '--into', into)).toMatchObject({ code: 0, stderr: '' });
      expect(readFileSync(join(into, 'new.txt'), 'utf8')).toBe('new\n');
      expect(await home.cli('rescue', 'restore', metadata.uid, '--into', source)).toMatchObject({ code: 0, stderr: '' });
      expect(gitIn(source, 'show', `rescue/${agent}:new.txt`)).toBe('new');
      gitIn(source, 'branch', '-D', `rescue/${agent}`);
      expect(await home.cli('rescue', 'drop', metadata.uid)).toMatchObject({ code: 2 });
      expect(await home.cli('rescue', 'drop', metadata.uid, '--yes')).toMatchObject({ code: 0, stderr: '' });
      expect(gitIn(source, 'for-each-ref', 'refs/agentiso')).toBe('');
      expect((await home.cli('rescue', 'list')).stdout).not.toContain(metadata.uid);
    });
  });

  it('leaves nothing behind when there was nothing to keep', async () => {
    await team('idle', { url: `file://${source}`, ref: main }, [{ name: 'one', count: 3 }]);
    await home.ready(['idle-one-1', 'idle-one-2', 'idle-one-3']);
    const { metadata } = await home.call('GET', `${GROUP}/teams/idle`);
    const places = [join(home.home, 'repos', `${metadata.uid}.git`), join(home.home, 'state/bases', metadata.uid)];
    expect(places.map(existsSync)).toEqual([true, true]);
    await home.delete('teams', 'idle');
    await vi.waitFor(async () => expect((await home.list('teams')).map((each) => each.metadata.name)).not.toContain('idle'), WAIT);
    expect(existsSync(places[0] ?? '')).toBe(false);
    expect(readdirSync(places[1] ?? '')).toEqual([]);
    expect((await home.events('Rescued')).filter((each) => each.involvedObject.name.startsWith('idle'))).toEqual([]);
  });

  it('says what is wrong with the repository, and starts when it is mended', async () => {
    const late = join(home.folder, 'late');
    mkdirSync(late);
    await team('late', { path: late, ref: 'release' });
    const condition = async () => conditionOf(await home.agent('late-one'), 'WorkspaceReady');
    await vi.waitFor(async () => expect(await condition()).toBe('False NotARepository'), WAIT);
    makeSource(late, { 'a.txt': 'a\n' });
    await vi.waitFor(async () => expect(await condition()).toBe('False RefNotFound'), WAIT);
    gitIn(late, 'tag', 'release');
    await home.ready(['late-one']);
    expect(await home.inside('late-one', 'cat', 'a.txt')).toBe('a\n');
    await deleted('teams', 'late', 'late-one');
  });

  it('says once that a branch with a key is not published, and keeps it all the same', async () => {
    await team('leaky', { path: source });
    const [agent] = await home.ready(['leaky-one']);
    await task('leak', 'leaky', `echo ghp_${'a1'.repeat(20)} > key && git add key && git commit -qm key && echo more > more.txt`);
    await vi.waitFor(async () => {
      const events = (await home.events('SecretFound')).filter((each) => each.involvedObject.name === 'leaky-one');
      expect(events.map((each) => each.count)).toEqual([1]);
    }, WAIT);
    expect((await home.agent('leaky-one')).status?.git?.head).toBeUndefined();
    await task('again', 'leaky', 'true');
    await deleted('teams', 'leaky', 'leaky-one');
    expect(findRescued(source, agent?.metadata.uid ?? '').file('more.txt')).toBe('more\n');
  });

  it('is kept of agents that are stopped, have crashed, or have no repository, and once only', async () => {
    await team('plain', undefined, [{ name: 'one' }, { name: 'two' }, { name: 'none' }]);
    const agents = await home.ready(['plain-one', 'plain-two', 'plain-none']);
    const uids = Object.fromEntries(agents.map(({ metadata }) => [metadata.name, metadata.uid]));
    const { metadata } = await home.call('GET', `${GROUP}/teams/plain`);
    const repository = join(home.home, 'repos', `${metadata.uid}.git`);
    await home.inside('plain-one', 'sh', '-c', 'mkdir -p deep && echo one > deep/one.txt');
    await home.inside('plain-two', 'sh', '-c', 'echo two > two.txt');
    expect(existsSync(repository)).toBe(false);
    await home.change('agents', 'plain-one', { desiredState: 'Stopped' });
    await vi.waitFor(async () => expect((await home.agent('plain-one')).status?.phase).toBe('Stopped'), WAIT);
    process.kill((await home.agent('plain-two')).status?.pid ?? 0, 'SIGKILL');
    await home.delete('teams', 'plain');
    await vi.waitFor(async () => expect((await home.list('teams')).map((each) => each.metadata.name)).not.toContain('plain'), WAIT);
    expect(findRescued(repository, uids['plain-one'] ?? '').file('deep/one.txt')).toBe('one\n');
    expect(findRescued(repository, uids['plain-two'] ?? '').file('two.txt')).toBe('two\n');
    expect(gitIn(repository, 'for-each-ref', '--format=%(refname)').split('\n').sort()).toEqual(
      [`refs/agentiso/rescue/${uids['plain-one']}`, `refs/agentiso/rescue/${uids['plain-two']}`].sort(),
    );
    // The last of it takes the repository of a team that is gone along.
    for (const name of ['plain-one', 'plain-two'])
      expect(await home.cli('rescue', 'drop', uids[name] ?? '', '--yes')).toMatchObject({ code: 0, stderr: '' });
    expect(existsSync(repository)).toBe(false);
  });

  it('keeps an agent whose work cannot be kept, says why, and lets go when it is given up or can be kept', async () => {
    await team('stuck', undefined, [{ name: 'one' }, { name: 'two' }]);
    const [one] = await home.ready(['stuck-one', 'stuck-two']);
    for (const name of ['stuck-one', 'stuck-two']) await home.inside(name, 'sh', '-c', 'echo work > work.txt');
    const { metadata } = await home.call('GET', `${GROUP}/teams/stuck`);
    const repository = join(home.home, 'repos', `${metadata.uid}.git`);
    // Where the repository belongs is something else.
    writeFileSync(`${repository}.new`, '');
    mkdirSync(join(repository, 'refs'), { recursive: true });
    await home.delete('teams', 'stuck');
    for (const name of ['stuck-one', 'stuck-two'])
      await vi.waitFor(async () => expect(conditionOf(await home.agent(name), 'Rescued')).toBe('False RescueFailed'), WAIT);
    expect((await home.events('RescueFailed')).length).toBeGreaterThan(0);
    const patch = { metadata: { annotations: { 'agentiso.dev/discard-work': 'true' } } };
    await home.call('PATCH', `${GROUP}/agents/stuck-two`, patch, { 'Content-Type': 'application/merge-patch+json' });
    await vi.waitFor(() => isGone('stuck-two'), WAIT);
    rmSync(repository, { recursive: true });
    await vi.waitFor(() => isGone('stuck-one'), WAIT);
    expect(findRescued(repository, one?.metadata.uid ?? '').file('work.txt')).toBe('work\n');
  });

  it('is kept when a team is scaled down, and when its agent had another driver before', async () => {
    await team('less', { path: source }, [{ name: 'one', count: 3 }], 'process');
    const agents = await home.ready(['less-one-1', 'less-one-2', 'less-one-3']);
    for (const { metadata } of agents) await home.inside(metadata.name, 'sh', '-c', `echo ${metadata.name} > mine.txt`);
    await home.change('teams', 'less', { roles: [{ name: 'one', count: 2 }] });
    const left = await vi.waitFor(async () => {
      const found = (await home.agents()).filter(({ spec }) => spec.team === 'less');
      expect(found).toHaveLength(2);
      return found[0];
    }, WAIT);
    const remaining = (await home.agents()).map(({ metadata }) => metadata.uid);
    const gone = agents.find(({ metadata }) => !remaining.includes(metadata.uid));
    expect(findRescued(source, gone?.metadata.uid ?? '').file('mine.txt')).toBe(`${gone?.metadata.name}\n`);
    const name = left?.metadata.name ?? '';
    await home.change('teams', 'less', { isolation: { driver: 'sandbox' } });
    await home.ready([name], ({ status }) => status?.isolation?.driver === 'sandbox');
    expect(await home.inside(name, 'sh', '-c', 'ls mine.txt 2>/dev/null; echo moved > moved.txt')).toBe('');
    await deleted('teams', 'less', name);
    expect(findRescued(source, left?.metadata.uid ?? '').all()).toEqual(expect.arrayContaining([`${name}\n`, 'moved\n']));
    expect(existsSync(join(home.home, 'state/workspaces/process', left?.metadata.uid ?? ''))).toBe(false);
  });

  it('survives the source: what it started from is still there', async () => {
    await team('lost', { path: source });
    const [agent] = await home.ready(['lost-one']);
    await home.inside('lost-one', 'sh', '-c', 'echo late > late.txt');
    renameSync(source, `${source}.away`);
    await home.change('agents', 'lost-one', { desiredState: 'Stopped' });
    await vi.waitFor(async () => expect((await home.agent('lost-one')).status?.phase).toBe('Stopped'), WAIT);
    await home.change('agents', 'lost-one', { desiredState: 'Running' });
    await home.ready(['lost-one'], ({ status }) => status?.incarnation !== agent?.status?.incarnation);
    const { metadata } = await home.call('GET', `${GROUP}/teams/lost`);
    await deleted('teams', 'lost', 'lost-one');
    renameSync(`${source}.away`, source);
    expect(findRescued(join(home.home, 'repos', `${metadata.uid}.git`), agent?.metadata.uid ?? '').file('late.txt')).toBe('late\n');
  });

  it('is the same when a namespace goes', async () => {
    const object = { apiVersion: 'agentiso.dev/v1alpha1', kind: 'Team', metadata: { name: 'far' }, spec: { roles: [{ name: 'one' }] } };
    await home.call('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'far' } });
    await home.call('POST', '/apis/agentiso.dev/v1alpha1/namespaces/far/teams', object);
    const path = '/apis/agentiso.dev/v1alpha1/namespaces/far/agents';
    const agent = await vi.waitFor(async () => {
      const [found] = (await home.call('GET', path)).items as Agent[];
      expect(found && conditionOf(found, 'Ready')).toMatch(/^True/);
      return found;
    }, WAIT);
    await home.startCli('exec', '-n', 'far', 'far-one', '--', 'sh', '-c', 'echo far > far.txt').result;
    await home.call('DELETE', '/api/v1/namespaces/far');
    await vi.waitFor(async () => expect((await home.call('GET', path)).items).toEqual([]), WAIT);
    const listed = JSON.parse((await home.cli('rescue', 'list', '-o', 'json')).stdout);
    const works = listed.repositories.flatMap((each: { rescued: object[] }) => each.rescued);
    expect(works).toContainEqual(expect.objectContaining({ id: agent?.metadata.uid, namespace: 'far', team: 'far', commits: 0, files: 1 }));
  });
});

it('needs git for all of this', () => {
  expect(execFileSync('git', ['--version'], { encoding: 'utf8' })).toMatch(/^git version/);
});
