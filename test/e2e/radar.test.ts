/** Branches that do not fit, seen in real sandboxes before anybody merges them, and what that means for the tasks of the team. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { AgentsHome, conditionOf, WAIT, withSandboxes } from '../support/agents-home.ts';
import { makeSource } from '../support/work.ts';

const LINES = Array.from({ length: 20 }, (_, index) => `line ${index + 1}\n`).join('');
/** Long before the minute after which work is saved whatever happens. */
const SOON = { timeout: 20_000, interval: 50 };

withSandboxes('the radar', () => {
  const home = new AgentsHome();
  beforeAll(async () => {
    const source = join(home.folder, 'shop');
    makeSource(source, { 'a.txt': LINES, 'b.txt': LINES });
    await home.start();
    const roles = [{ name: 'one' }, { name: 'two' }, { name: 'three' }];
    await home.create('Team', 'shop', { isolation: { driver: 'sandbox' }, roles, repo: { path: source } });
    await home.ready(['shop-one', 'shop-two', 'shop-three']);
  });
  afterAll(() => home.close(expect.anything()));

  const change = (file: string, words: string) => `sed -i '5s/.*/${words}/' ${file} && git commit -qam '${words}'`;
  const run = (name: string, assignTo: string, command: string, more: object = {}) =>
    home.create('Task', `shop-${name}`, { team: 'shop', assignTo, maxAttempts: 1, command, ...more });
  const conflicts = () => Promise.all(['one', 'two'].map(async (name) => conditionOf(await home.agent(`shop-${name}`), 'ConflictsWith')));
  const clash = () => vi.waitFor(async () => expect(await conflicts()).toEqual(Array(2).fill('True BranchesConflict')), SOON);
  const peace = () => vi.waitFor(async () => expect(await conflicts()).toEqual(Array(2).fill('absent')), SOON);

  it('keeps a task from files in conflict while another one runs, says why, and starts it when nothing else can', async () => {
    await run('c1', 'one', change('a.txt', 'by one'));
    await run('c2', 'two', change('a.txt', 'by two'));
    await clash();
    // It ends when this file is there, so that nothing here depends on how long anything takes.
    await run('long', 'three', 'until [ -e go ]; do sleep 0.1; done; echo over >> ran', { files: ['b.txt'] });
    await home.reached('shop-long', 'Running');
    await run('more', 'three', 'cat ran; echo more >> ran', { files: ['*.txt'] });
    await vi.waitFor(async () => expect((await home.task('shop-more')).status?.reason).toBe('FilesInConflict'), WAIT);
    await run('free', 'three', 'echo free >> ran', { files: ['b.txt'] });
    await home.reached('shop-free', 'Succeeded');
    const { stdout } = await home.cli('why', 'task/shop-more');
    expect(stdout).toContain('FilesInConflict: the branches of one and two do not fit in a.txt');
    expect(stdout).toContain('agentiso message shop-one');
    expect((await home.task('shop-more')).status).toMatchObject({ phase: 'Pending' });
    await home.inside('shop-three', 'touch', 'go');
    expect((await home.reached('shop-more', 'Succeeded')).status?.result?.stdout).toBe('free\nover\n');
  });

  it('lets it start when one of the two has made its branch fit', async () => {
    await home.inside('shop-three', 'rm', 'go');
    await run('long2', 'three', 'until [ -e go ]; do sleep 0.1; done');
    await home.reached('shop-long2', 'Running');
    await run('held', 'three', 'true', { files: ['a.txt'] });
    await vi.waitFor(async () => expect((await home.task('shop-held')).status?.reason).toBe('FilesInConflict'), WAIT);
    await run('mend', 'two', change('a.txt', 'by one'));
    await peace();
    await home.reached('shop-held', 'Succeeded');
    expect((await home.task('shop-long2')).status?.phase).toBe('Running');
    await home.inside('shop-three', 'touch', 'go');
    await home.reached('shop-long2', 'Succeeded');
  });

  it('sees a commit of a command that a person runs in an agent, and its end', async () => {
    await home.inside('shop-one', 'sh', '-c', change('b.txt', 'b by one'));
    await home.inside('shop-two', 'sh', '-c', change('b.txt', 'b by two'));
    await clash();
    expect((await home.agent('shop-two')).status?.conflicts).toEqual([{ agent: 'one', files: ['b.txt'] }]);
    await home.inside('shop-two', 'sh', '-c', change('b.txt', 'b by one'));
    await peace();
  });

  it('sees a commit of a task while that still runs', async () => {
    await run('c3', 'one', `${change('a.txt', 'late by one')}; until [ -e go ]; do sleep 0.1; done`);
    await run('c4', 'two', `${change('a.txt', 'late by two')}; until [ -e go ]; do sleep 0.1; done`);
    await clash();
    const phases = await Promise.all(['c3', 'c4'].map(async (name) => (await home.task(`shop-${name}`)).status?.phase));
    expect(phases).toEqual(['Running', 'Running']);
    for (const name of ['one', 'two']) await home.inside(`shop-${name}`, 'touch', 'go');
    for (const name of ['c3', 'c4']) await home.reached(`shop-${name}`, 'Succeeded');
  });
});
