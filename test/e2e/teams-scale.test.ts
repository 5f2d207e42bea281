/** A team that changes size or rests while its agents work, on a real daemon: the commands themselves say what ran and how often. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { AgentsHome, WAIT } from '../support/agents-home.ts';

const isolation = { driver: 'process' };

describe('a team', () => {
  const home = new AgentsHome();
  beforeAll(() => home.start());
  afterAll(() => home.close());

  const file = (name: string) => join(home.folder, name);
  /** Notes its start, waits until it may end, notes its end. */
  const patient = (name: string) =>
    `echo start >> ${file(name)}; until [ -e ${file(`${name}.go`)} ]; do sleep 0.05; done; echo end >> ${file(name)}`;
  const names = async () => (await home.agents()).map(({ metadata }) => metadata.name);
  const states = async () => Object.fromEntries((await home.agents()).map(({ metadata, status }) => [metadata.name, status?.phase]));

  it('that shrinks lets a busy agent end its work, and gives it no more', async () => {
    await home.create('Team', 'shop', { isolation, roles: [{ name: 'dev', count: 4 }] });
    await home.ready(['shop-dev-1', 'shop-dev-2', 'shop-dev-3', 'shop-dev-4']);
    await home.create('Task', 'shop-slow', { team: 'shop', assignTo: 'dev-4', command: patient('slow') });
    await home.reached('shop-slow', 'Running');
    await home.change('teams', 'shop', { roles: [{ name: 'dev', count: 2 }] });
    await vi.waitFor(async () => expect(await names()).toEqual(['shop-dev-1', 'shop-dev-2', 'shop-dev-4']), WAIT);
    await home.create('Task', 'shop-next', { team: 'shop', assignTo: 'dev-4', command: 'true' });
    const waiting = await home.reached('shop-next', 'Pending');
    expect(waiting.status?.reason).toBe('AgentNotReady');
    writeFileSync(file('slow.go'), '');
    const { status } = await home.reached('shop-slow', 'Succeeded');
    expect([status?.attempt, readFileSync(file('slow'), 'utf8')]).toEqual([1, 'start\nend\n']);
    await vi.waitFor(async () => expect(await names()).toEqual(['shop-dev-1', 'shop-dev-2']), WAIT);
    expect((await home.task('shop-next')).status).toMatchObject({ phase: 'Pending', reason: 'NoAgent' });
    await home.delete('teams', 'shop');
    await vi.waitFor(async () => expect(await home.list('teams')).toEqual([]), WAIT);
  });

  it('that shrinks waits no longer than its grace period, and hands the work back', async () => {
    await home.create('Team', 'rush', { isolation, roles: [{ name: 'dev', count: 3 }], terminationGracePeriodSeconds: 1 });
    await home.ready(['rush-dev-1', 'rush-dev-2', 'rush-dev-3']);
    // More free places than any other: the first task goes to the one that is to leave.
    await home.change('agents', 'rush-dev-3', { maxConcurrentTasks: 9 });
    await home.create('Task', 'rush-slow', { team: 'rush', command: patient('rush'), maxAttempts: 1 });
    const first = await home.reached('rush-slow', 'Running');
    expect(first.status?.owner).toBe('rush-dev-3');
    await home.change('teams', 'rush', { roles: [{ name: 'dev', count: 2 }] });
    await vi.waitFor(async () => expect((await home.task('rush-slow')).status).toMatchObject({ phase: 'Running', attempt: 2 }), WAIT);
    writeFileSync(file('rush.go'), '');
    const { status } = await home.reached('rush-slow', 'Succeeded');
    expect([status?.failures ?? 0, readFileSync(file('rush'), 'utf8')]).toEqual([0, 'start\nstart\nend\n']);
    expect(await names()).toEqual(['rush-dev-1', 'rush-dev-2']);
    expect(await home.events('GracePeriodOver')).toHaveLength(1);
    await home.delete('teams', 'rush');
    await vi.waitFor(async () => expect(await home.list('teams')).toEqual([]), WAIT);
  });

  it('rests and goes on with whom it had put to rest', async () => {
    await home.create('Team', 'calm', { isolation, roles: [{ name: 'dev', count: 2 }] });
    await home.ready(['calm-dev-1', 'calm-dev-2']);
    await home.change('agents', 'calm-dev-2', { desiredState: 'Stopped' });
    await vi.waitFor(async () => expect(await states()).toMatchObject({ 'calm-dev-2': 'Stopped' }), WAIT);
    await home.change('teams', 'calm', { suspend: true });
    await vi.waitFor(async () => expect(await states()).toEqual({ 'calm-dev-1': 'Stopped', 'calm-dev-2': 'Stopped' }), WAIT);
    await home.create('Task', 'calm-job', { team: 'calm', command: 'echo done' });
    expect((await home.reached('calm-job', 'Pending')).status?.reason).toBe('AgentNotReady');
    expect(home.machineState().processes).toEqual([]);
    await home.change('teams', 'calm', { suspend: false });
    const { status } = await home.reached('calm-job', 'Succeeded');
    expect([status?.owner, status?.result?.stdout]).toEqual(['calm-dev-1', 'done\n']);
    expect((await states())['calm-dev-2']).toBe('Stopped');
  });

  it('that changes the resources of a role gives its agents another run when they hold no task, with their files', async () => {
    const role = (memoryMiB: number) => ({ roles: [{ name: 'dev', resources: { memoryMiB } }] });
    await home.create('Team', 'grow', { isolation, ...role(128) });
    const [before] = await home.ready(['grow-dev']);
    await home.create('Task', 'grow-slow', { team: 'grow', command: `echo kept > kept; ${patient('grow')}`, maxAttempts: 1 });
    await home.reached('grow-slow', 'Running');
    await home.change('teams', 'grow', role(256));
    await vi.waitFor(async () => {
      const pending = (await home.agent('grow-dev')).status?.conditions?.find(({ type }) => type === 'ReplacePending');
      expect(pending).toMatchObject({ status: 'True', reason: 'TaskRunning' });
    }, WAIT);
    await home.create('Task', 'grow-next', { team: 'grow', command: 'cat kept' });
    expect((await home.reached('grow-next', 'Pending')).status?.reason).toBe('AgentNotReady');
    expect((await home.agent('grow-dev')).status?.incarnation).toBe(before?.status?.incarnation);
    writeFileSync(file('grow.go'), '');
    await home.reached('grow-slow', 'Succeeded');
    const { status } = await home.reached('grow-next', 'Succeeded');
    expect([status?.result?.stdout, readFileSync(file('grow'), 'utf8')]).toEqual(['kept\n', 'start\nend\n']);
    const after = await home.agent('grow-dev');
    expect(after.status).toMatchObject({ startedWith: { memoryMiB: 256 } });
    expect(after.status?.incarnation).not.toBe(before?.status?.incarnation);
    expect(after.status?.pid).not.toBe(before?.status?.pid);
    expect(after.status?.restarts ?? 0).toBe(0);
  });
});
