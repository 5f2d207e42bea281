import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Agent, Merge, Task, Team } from '#api/types.ts';
import { lines } from '#git/repository.fixture.ts';
import { AgentisoError, StalledError } from '#lib/errors.ts';
import { conditionOf } from '../../test/support/controllers.ts';
import { mergeController } from './controller.ts';
import { type MergeBench, mergeBench } from './merge.fixture.ts';

let shop: MergeBench;
beforeEach(async () => {
  shop = await mergeBench();
});
afterEach(() => shop.close());

const fitting = { one: { 3: 'three' }, two: { 15: 'fifteen' } };
const clashing = { one: { 3: 'three' }, two: { 3: 'drei' } };
const textOf = (file: string) => readFileSync(join(shop.work.directory, file), 'utf8');

async function approve(commit: string | undefined, name = 'm'): Promise<void> {
  const merge = shop.here.get<Merge>('Merge', name) as Merge;
  await shop.here.client.updateStatus<Merge>({ ...merge, status: { ...merge.status, approval: { by: 'ann', commit: commit ?? '' } } });
}

async function refsLeft(uid: string): Promise<number> {
  const repository = await shop.repositoryOf();
  const found = await Promise.all([`refs/agentiso/merges/${uid}`, 'refs/heads/agentiso'].map((prefix) => repository.refs(prefix)));
  return found.reduce((sum, { size }) => sum + size, 0);
}

describe('a merge that fits', () => {
  it('lands in the folder, as git merge would, and changes nothing at a second look', async () => {
    const { work, base } = shop;
    shop.branches(fitting);
    const { metadata } = await shop.newMerge('m');
    const status = await shop.settle('m');
    expect(status).toMatchObject({ phase: 'Merged', totalCommitsApplied: 2, targetBefore: base, targetAfter: work.head('main') });
    expect(textOf('a.txt')).toBe(lines(20, { 3: 'three', 15: 'fifteen' }));
    expect(work.git('status', '--porcelain')).toBe('');
    expect(await refsLeft(metadata.uid)).toBe(0);
    const version = shop.here.get('Merge', 'm')?.metadata.resourceVersion;
    await shop.settle('m', mergeController(shop.deps));
    expect(shop.here.get('Merge', 'm')?.metadata.resourceVersion).toBe(version);
    work.branch('by-hand', base);
    work.git('merge', '-q', 'one');
    work.git('merge', '-q', '--no-edit', 'two');
    expect(work.tree('by-hand')).toBe(work.tree('main'));
  });

  it('keeps branches for as long as the Merge is there', async () => {
    shop.branches(fitting);
    const { metadata } = await shop.newMerge('m', { strategy: 'branch-per-source' });
    const status = await shop.settle('m');
    expect(status?.sources?.map(({ branch }) => branch)).toEqual(['agentiso/m/one', 'agentiso/m/two']);
    expect(await refsLeft(metadata.uid)).toBe(2);
    await shop.here.client.delete({ kind: 'Merge', namespace: 'default', name: 'm' });
    await shop.here.reconcile(shop.controller, 'Merge', 'm');
    expect(shop.here.get('Merge', 'm')).toBeUndefined();
    expect(await refsLeft(metadata.uid)).toBe(0);
    expect(shop.world.isForgotten).toContain(metadata.uid);
  });

  it('has nothing to do when there is nothing new, and asks nobody about it', async () => {
    shop.work.git('branch', 'one', 'main');
    shop.work.git('branch', 'two', 'main');
    await shop.newMerge('m', { verify: ['make test'], approval: 'Required' });
    expect(await shop.settle('m')).toMatchObject({ phase: 'Merged', totalCommitsApplied: 0 });
    expect([shop.status('m')?.targetAfter, shop.asked]).toEqual([undefined, []]);
  });

  it('makes the same commits when a new daemon does it again', async () => {
    shop.branches(fitting);
    await shop.newMerge('m', { strategy: 'branch-per-source', approval: 'Required' });
    await shop.here.reconcile(shop.controller, 'Merge', 'm');
    expect(shop.status('m')).toMatchObject({ phase: 'Merging', startedAt: expect.anything() });
    const started = shop.here.get<Merge>('Merge', 'm') as Merge;
    const candidate = (await shop.settle('m'))?.candidate;
    const now = shop.here.get<Merge>('Merge', 'm') as Merge;
    await shop.here.client.updateStatus<Merge>({ ...now, status: started.status ?? {} });
    shop.here.pass(5_000);
    expect((await shop.settle('m', mergeController(shop.deps)))?.candidate).toBe(candidate);
  });

  it.each(['the commit alone', 'the commit and one of a person on top'])(
    'is not done twice when nobody could say it was done: %s',
    async (what) => {
      shop.branches(fitting);
      await shop.newMerge('m');
      let isKilled = false;
      const update = shop.here.client.updateStatus.bind(shop.here.client);
      const dying = {
        ...shop.here.client,
        updateStatus: async (object: Merge) => {
          if (object.status?.phase !== 'Merged') return update(object);
          isKilled = true;
          throw new Error('killed');
        },
      } as unknown as typeof shop.here.client;
      for (let pass = 0; pass < 5 && !isKilled; pass += 1) {
        await shop.here.reconcile(shop.controller, 'Merge', 'm', { client: dying }).catch(() => undefined);
      }
      const landed = shop.work.head('main');
      expect([isKilled, landed === shop.base]).toEqual([true, false]);
      const onTop = what.includes('person') ? shop.work.commit('mine', { 'mine.txt': 'm\n' }) : landed;
      const want = { phase: 'Merged', targetBefore: shop.base, targetAfter: landed, totalCommitsApplied: 2 };
      expect(await shop.settle('m', mergeController(shop.deps))).toMatchObject(want);
      expect(shop.work.head('main')).toBe(onTop);
    },
  );
});

describe('a merge that does not fit', () => {
  it('changes nothing, says what and to whom, and goes on when it is mended', async () => {
    const { work } = shop;
    shop.branches(clashing);
    await shop.here.client.create<Task>({
      apiVersion: 'agentiso.dev/v1alpha1',
      kind: 'Task',
      metadata: { name: 'shop-one-task', namespace: 'default' },
      spec: { team: 'shop', title: 'Count in English', command: 'true' },
    } as never);
    await shop.newMerge('m', { onConflict: 'CreateTask' });
    expect(await shop.settle('m')).toMatchObject({
      phase: 'Conflicted',
      conflicts: [
        {
          source: 'two',
          tasks: ['shop-one-task', 'shop-two-task'],
          files: [{ path: 'a.txt', kind: 'content', hunks: [{ startLine: 3 }] }],
        },
      ],
    });
    expect([work.head('main'), work.git('status', '--porcelain')]).toEqual([shop.base, '']);
    expect(shop.notices.map(({ to }) => to)).toEqual(['two', 'lead']);
    const tasks = (shop.here.store.list('Task').items as Task[]).filter(({ metadata }) => metadata.name.includes('fix'));
    expect(tasks.map(({ spec }) => spec.assignTo)).toEqual(['two']);
    expect(tasks[0]?.spec.prompt).toContain('Count in English');
    await shop.settle('m');
    shop.here.pass(31_000);
    await shop.settle('m');
    expect(shop.notices).toHaveLength(2);
    work.git('checkout', '-q', 'two');
    work.tryGit('merge', '-q', 'one');
    work.commit('resolved', { 'a.txt': lines(20, { 3: 'three und drei' }) });
    work.git('checkout', '-q', 'main');
    await shop.save('shop-two');
    expect(await shop.settle('m')).toMatchObject({ phase: 'Merged' });
    expect(textOf('a.txt')).toContain('three und drei');
  });

  it('is tried again when the target has moved', async () => {
    shop.branches({ one: { 3: 'three' }, two: { 15: 'fifteen' } });
    const wrong = shop.work.commit('wrong', { 'a.txt': lines(20, { 3: 'drei' }) });
    await shop.newMerge('m');
    expect(await shop.settle('m')).toMatchObject({ phase: 'Conflicted', targetBefore: wrong });
    shop.work.git('reset', '-q', '--hard', shop.base);
    expect(await shop.settle('m')).toMatchObject({ phase: 'Conflicted' });
    shop.here.pass(31_000);
    expect(await shop.settle('m')).toMatchObject({ phase: 'Merged' });
  });

  it('stops at uncommitted changes until they are gone, or may be left behind', async () => {
    shop.branches(fitting);
    shop.world.uncommitted = ['notes.txt'];
    await shop.newMerge('m');
    const failed = await shop.settle('m');
    expect(failed).toMatchObject({ phase: 'Failed', reason: 'UncommittedChanges', sources: [{ uncommittedFiles: ['notes.txt'] }, {}] });
    const version = shop.here.get('Merge', 'm')?.metadata.resourceVersion;
    shop.here.pass(31_000);
    await shop.settle('m');
    expect(shop.here.get('Merge', 'm')?.metadata.resourceVersion).toBe(version);
    expect(shop.work.head('main')).toBe(shop.base);
    await shop.newMerge('n', { allowDirty: true, sources: [{ agent: 'one' }] });
    expect(await shop.settle('n')).toMatchObject({ phase: 'Merged', sources: [{ uncommittedFiles: ['notes.txt'] }] });
    shop.world.uncommitted = [];
    shop.here.pass(31_000);
    expect(await shop.settle('m')).toMatchObject({ phase: 'Merged' });
  });

  it('overwrites no changes in the folder, and lands by itself when they are gone', async () => {
    shop.branches(fitting);
    writeFileSync(join(shop.work.directory, 'a.txt'), 'mine\n');
    await shop.newMerge('m');
    expect(await shop.settle('m')).toMatchObject({ phase: 'Failed', reason: 'TargetDirty' });
    expect(conditionOf(shop.here.get('Merge', 'm'), 'Ready')).toContain('commit or stash them; then it lands by itself');
    const version = shop.here.get('Merge', 'm')?.metadata.resourceVersion;
    shop.here.pass(31_000);
    await shop.settle('m');
    expect([textOf('a.txt'), shop.here.get('Merge', 'm')?.metadata.resourceVersion]).toEqual(['mine\n', version]);
    shop.work.git('checkout', '-q', '--', '.');
    shop.here.pass(31_000);
    expect(await shop.settle('m')).toMatchObject({ phase: 'Merged' });
    expect(shop.work.git('status', '--porcelain')).toBe('');
  });

  it('is tried again when its spec changes', async () => {
    shop.branches(fitting);
    await shop.newMerge('m', { target: { branch: 'nowhere' } });
    expect(await shop.settle('m')).toMatchObject({ phase: 'Failed', reason: 'TargetNotFound' });
    const now = shop.here.get<Merge>('Merge', 'm') as Merge;
    await shop.here.client.update<Merge>({ ...now, spec: { ...now.spec, target: { branch: 'main' } } });
    expect(await shop.settle('m')).toMatchObject({ phase: 'Merged' });
  });

  it.each([
    { name: 'an agent that does not exist', spec: { sources: [{ agent: 'nobody' }] }, reason: 'AgentNotFound' },
    { name: 'a base that is nowhere', spec: { sources: [{ agent: 'one', base: 'v9' }] }, reason: 'BaseNotFound' },
    { name: 'a target agent that does not run', spec: { sources: [{ agent: 'two' }], target: { agent: 'one' } }, reason: 'TargetNotReady' },
  ])('says why: $name', async ({ spec, reason }) => {
    shop.branches(fitting);
    await shop.newMerge('m', spec);
    expect(await shop.settle('m')).toMatchObject({ phase: 'Failed', reason });
    // Nobody waits for one that has failed.
    await shop.newMerge('n');
    expect(await shop.settle('n')).toMatchObject({ phase: 'Merged' });
  });

  it('takes a name as base, and counts from there', async () => {
    shop.branches(fitting);
    shop.work.git('checkout', '-q', 'one');
    shop.work.git('tag', 'begun', 'one');
    shop.work.commit('more', { 'b.txt': lines(20, { 2: 'two' }) });
    shop.work.git('checkout', '-q', 'main');
    await shop.newMerge('m', { strategy: 'cherry-pick', sources: [{ agent: 'one', base: 'begun' }] });
    expect(await shop.settle('m')).toMatchObject({ phase: 'Merged', totalCommitsApplied: 1, sources: [{ base: shop.work.head('begun') }] });
    expect(textOf('a.txt')).toBe(lines(20));
  });
});

describe('time and trouble', () => {
  it('gives a source a limit of its own', async () => {
    shop.branches(fitting);
    const work = { ...shop.deps.work, collect: () => Promise.reject(new AgentisoError('Timeout', 'gitExport took too long')) };
    await shop.newMerge('m');
    expect(await shop.settle('m', mergeController({ ...shop.deps, work }))).toMatchObject({ phase: 'Failed', reason: 'Timeout' });
    expect(shop.work.head('main')).toBe(shop.base);
  });

  it('is not stuck for ever behind one whose agent makes trouble', async () => {
    shop.branches(fitting);
    const work = { ...shop.deps.work, collect: () => Promise.reject(new AgentisoError('IoError', 'the guest sends rubbish')) };
    const troubled = mergeController({ ...shop.deps, work });
    await shop.newMerge('m');
    await expect(shop.settle('m', troubled)).rejects.toThrow('rubbish');
    expect(shop.status('m')).toMatchObject({ phase: 'Merging' });
    shop.here.pass(601_000);
    expect(await shop.settle('m', troubled)).toMatchObject({ phase: 'Failed', reason: 'MergeFailed' });
  });

  it('gives up a target that never takes it, and says what it said', async () => {
    shop.branches(fitting);
    await shop.newMerge('m');
    const refusing = mergeController({ ...shop.deps, repositories: withLanding(() => Promise.reject(new Error('the hook said no'))) });
    for (let tries = 0; tries < 4; tries += 1) await expect(shop.settle('m', refusing)).rejects.toThrow('said no');
    expect(await shop.settle('m', refusing)).toMatchObject({ phase: 'Failed', reason: 'LandingFailed' });
    expect(conditionOf(shop.here.get('Merge', 'm'), 'Ready')).toContain('the hook said no');
  });

  it('tries three times more when the target moves away under it, then pauses', async () => {
    shop.branches(fitting);
    await shop.newMerge('m');
    let moves = 0;
    const racing = mergeController({
      ...shop.deps,
      repositories: withLanding(async () => {
        moves += 1;
        shop.work.commit(`by a person ${moves}`, { 'b.txt': lines(20, { 1: `${moves}` }) });
        return { state: 'moved', now: shop.work.head('main') };
      }),
    });
    expect(await shop.settleAll(racing)).toMatchObject({ m: { phase: 'Failed', reason: 'Conflict' } });
    expect(moves).toBe(4);
    shop.here.pass(31_000);
    expect(await shop.settle('m')).toMatchObject({ phase: 'Merged' });
  });

  it('fails, and does not wait, when the source of the team cannot be read', async () => {
    shop.branches(fitting);
    await shop.newMerge('m');
    const open = async (team: Parameters<typeof shop.repositories.open>[0]) => ({
      ...(await shop.repositories.open(team)),
      targetCommit: () => Promise.reject(new StalledError('RepositoryUnreachable', 'no route')),
    });
    const offline = mergeController({ ...shop.deps, repositories: { ...shop.repositories, open } });
    expect(await shop.settle('m', offline)).toMatchObject({ phase: 'Failed', reason: 'RepositoryUnreachable' });
    shop.here.pass(31_000);
    expect(await shop.settle('m')).toMatchObject({ phase: 'Merged' });
  });

  function withLanding(land: Awaited<ReturnType<typeof shop.repositoryOf>>['land']): typeof shop.repositories {
    const open = async (team: Parameters<typeof shop.repositories.open>[0]) => ({ ...(await shop.repositories.open(team)), land });
    return { ...shop.repositories, open };
  }
});

describe('teams', () => {
  it('wait to exist', async () => {
    await shop.newMerge('m', { team: 'later' });
    expect(await shop.settle('m')).toMatchObject({ phase: 'Pending', waitsFor: 'team later, which does not exist' });
    await shop.addTeam('later', { repo: { path: shop.work.directory } }, ['one', 'two']);
    shop.branches(fitting);
    expect(await shop.settle('m')).toMatchObject({ phase: 'Merged' });
  });

  it('that are being deleted get nothing more, and their merges can be deleted', async () => {
    shop.branches(fitting);
    const { metadata } = await shop.newMerge('m', { approval: 'Required' });
    await shop.settle('m');
    const team = shop.here.get<Team>('Team', 'shop') as Team;
    await shop.here.client.update<Team>({ ...team, metadata: { ...team.metadata, finalizers: ['example.com/hold'] } });
    await shop.here.client.delete({ kind: 'Team', namespace: 'default', name: 'shop' });
    expect(await shop.settle('m')).toMatchObject({ phase: 'Merging', waitsFor: expect.stringContaining('being deleted') });
    const held = shop.here.get<Team>('Team', 'shop') as Team;
    const repository = await shop.repositoryOf();
    await shop.here.client.update<Team>({ ...held, metadata: { ...held.metadata, finalizers: [] } });
    expect(shop.here.get('Team', 'shop')).toBeUndefined();
    await shop.here.client.delete({ kind: 'Merge', namespace: 'default', name: 'm' });
    await shop.settle('m');
    expect([shop.here.get('Merge', 'm'), (await repository.refs(`refs/agentiso/merges/${metadata.uid}`)).size]).toEqual([undefined, 0]);
  });

  it('take the work of their sub-teams, and of nobody else', async () => {
    await shop.addTeam('shop-sub', { parent: 'shop' }, ['three']);
    await shop.addTeam('other', {}, ['four']);
    shop.branches({ one: { 3: 'three' }, three: { 15: 'fifteen' }, four: { 9: 'nine' } });
    await shop.newMerge('m', { sources: [{ agent: 'one' }, { agent: 'shop-sub-three' }] });
    expect(await shop.settle('m')).toMatchObject({ phase: 'Merged', totalCommitsApplied: 2 });
    expect(textOf('a.txt')).toBe(lines(20, { 3: 'three', 15: 'fifteen' }));
    await shop.newMerge('n', { sources: [{ agent: 'other-four' }] });
    expect(await shop.settle('n')).toMatchObject({ phase: 'Failed', reason: 'Forbidden' });
  });

  it('hear of conflicts where the agent is', async () => {
    await shop.addTeam('shop-sub', { parent: 'shop' }, ['three']);
    shop.branches({ one: { 3: 'three' }, three: { 3: 'drei' } });
    await shop.newMerge('m', { sources: [{ agent: 'one' }, { agent: 'shop-sub-three' }], onConflict: 'CreateTask' });
    expect(await shop.settle('m')).toMatchObject({ phase: 'Conflicted' });
    expect(shop.notices.map(({ team, to }) => `${team}/${to}`)).toEqual(['shop-sub/three', 'shop/lead']);
    expect((shop.here.store.list('Task').items as Task[])[0]?.spec).toMatchObject({ team: 'shop-sub', assignTo: 'three' });
  });
});

describe('gates', () => {
  it('let nothing land that does not pass verify, until there is something else', async () => {
    shop.branches(fitting);
    await shop.newMerge('m', { verify: ['make test'] });
    expect(await shop.settle('m')).toMatchObject({ phase: 'Merging', waitsFor: expect.stringContaining('verify at') });
    shop.world.verify = () => ({ passed: false, commands: [{ command: 'make test', exitCode: 2, output: 'no' }] });
    const failed = { phase: 'Failed', reason: 'VerifyFailed', verification: { passed: false, commands: [{ output: 'no' }] } };
    expect(await shop.settle('m')).toMatchObject(failed);
    shop.here.pass(31_000);
    expect(await shop.settle('m')).toMatchObject(failed);
    expect(shop.work.head('main')).toBe(shop.base);
    shop.world.verify = () => ({ passed: true, commands: [] });
    shop.work.git('checkout', '-q', 'two');
    shop.work.commit('mended', { 'b.txt': lines(20, { 2: 'two' }) });
    shop.work.git('checkout', '-q', 'main');
    await shop.save('shop-two');
    expect(await shop.settle('m')).toMatchObject({ phase: 'Merged', verification: { passed: true } });
  });

  it('wait for the approval of this very commit, and ask for it once', async () => {
    shop.branches(fitting);
    await shop.newMerge('m', { approval: 'Required' });
    const waiting = await shop.settle('m');
    expect(waiting).toMatchObject({ phase: 'Merging', waitsFor: expect.stringContaining('agentiso approve merge/m') });
    await approve(shop.base);
    expect(await shop.settle('m')).toMatchObject({ phase: 'Merging' });
    expect(new Set(shop.notices.map(({ key }) => key)).size).toBe(1);
    await approve(waiting?.candidate);
    expect(await shop.settle('m')).toMatchObject({ phase: 'Merged' });
  });

  it('do not lose the agent of a source that has gone meanwhile', async () => {
    shop.branches(fitting);
    await shop.newMerge('m', { approval: 'Required' });
    const { candidate } = (await shop.settle('m')) ?? {};
    await shop.here.client.delete({ kind: 'Agent', namespace: 'default', name: 'shop-one' });
    expect(shop.here.get<Agent>('Agent', 'shop-one')).toBeUndefined();
    await approve(candidate);
    expect(await shop.settle('m')).toMatchObject({ phase: 'Merged', targetAfter: candidate });
  });
});

describe('the queue', () => {
  it('goes by age, says the place, and starts again from where the target is', async () => {
    shop.branches(fitting);
    await shop.newMerge('first', { sources: [{ agent: 'one' }], approval: 'Required' });
    shop.here.pass(2_000);
    await shop.newMerge('second', { sources: [{ agent: 'two' }] });
    const first = await shop.settle('first');
    expect(await shop.settle('second')).toMatchObject({ phase: 'Queued', position: 2, waitsFor: 'merge first, which goes first' });
    const other = shop.work.commit('by a person', { 'b.txt': 'b\n' });
    await approve(first?.candidate, 'first');
    // What was approved is not what would land now.
    const again = { phase: 'Merging', targetBefore: other, waitsFor: expect.stringContaining('approve') };
    expect(await shop.settle('first')).toMatchObject(again);
    await shop.here.client.delete({ kind: 'Merge', namespace: 'default', name: 'first' });
    await shop.here.reconcile(shop.controller, 'Merge', 'first');
    expect(await shop.settle('second')).toMatchObject({ phase: 'Merged', targetBefore: other });
  });
});
