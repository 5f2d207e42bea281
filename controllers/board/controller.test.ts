import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { KindObject } from '#api/meta.ts';
import type { Task, Team } from '#api/types.ts';
import { AgentisoError } from '#lib/errors.ts';
import { silentLogger } from '#lib/log.ts';
import type { Controller, Key } from '#runtime/controller.ts';
import { reconcileKey } from '#runtime/reconcile.ts';
import { openVault } from '#vault/open-vault.ts';
import type { Vault } from '#vault/vault.ts';
import { bench, conditionOf, newTask, newTeam } from '../../test/support/controllers.ts';
import { boardController, restAfter, VAULT_FINALIZER } from './controller.ts';

let home: string;
let vault: Vault;
let nowMs: number;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'agentiso-board-'));
  vault = await openVault({ home, log: silentLogger });
  nowMs = 0;
});
afterEach(async () => {
  await vault.close();
  rmSync(home, { recursive: true, force: true });
});

const at = (path: string) => join(home, 'vault', path);
const files = (path = 'teams/a/tasks') => readdirSync(at(path)).sort();
const text = (path: string) => readFileSync(at(path), 'utf8');

function setUp() {
  const world = bench();
  const controller = boardController({ client: world.client, vault, monotonicMs: () => nowMs });
  const [watch] = controller.watches ?? [];
  const woken: Key[] = [];
  const unsubscribe = (controller.wakes ?? []).map((wake) => wake((key) => woken.push(key)));
  const tell = (object: KindObject | undefined, type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'SYNC' = 'MODIFIED') =>
    object ? (watch?.toKeys(object, type) ?? []) : [];
  const task = async (name: string, spec = {}) => {
    const made = await world.client.create<Task>(newTask(name, spec));
    tell(made, 'ADDED');
    return made;
  };
  const setStatus = async (name: string, status: Task['status']) => {
    const now = world.get<Task>('Task', name) as Task;
    tell(await world.client.updateStatus<Task>({ ...now, status: { ...now.status, ...status } }));
  };
  const removeTask = async (name: string) => {
    const now = world.get<Task>('Task', name) as Task;
    await world.client.delete({ kind: 'Task', namespace: 'default', name });
    tell(now, 'DELETED');
  };
  /** Rested, as after a while. */
  const look = (team = 'a') => {
    nowMs += 60_000;
    return world.reconcile(controller, 'Team', team);
  };
  const team = (name = 'a') => world.get<Team>('Team', name);
  return { ...world, controller, tell, woken, unsubscribe, task, setStatus, removeTask, look, team };
}

async function running() {
  const world = setUp();
  await world.client.create<Team>(newTeam('a', {}));
  await world.task('a-one', { title: 'One' });
  await world.task('two');
  await world.look();
  return world;
}

describe('the five standard cases', () => {
  it('converges from empty: the finalizer, the folders, a file per task, the index', async () => {
    const { team } = await running();
    expect(team()?.metadata.finalizers).toEqual([VAULT_FINALIZER]);
    expect(files('teams/a')).toEqual(['cards', 'notes', 'tasks']);
    expect(files()).toEqual(['INDEX.md', 'one.md', 'two.md']);
    expect(text('teams/a/tasks/one.md')).toContain('\n# One\n');
    expect(text('teams/a/tasks/INDEX.md')).toContain('2 tasks\n');
    expect(conditionOf(team(), 'VaultReady')).toBeUndefined();
  });

  it('changes nothing on the second pass', async () => {
    const { look, team } = await running();
    const before = files().map((name) => statSync(at(`teams/a/tasks/${name}`)).ino);
    const version = team()?.metadata.resourceVersion;
    expect(await look()).toEqual({});
    expect(files().map((name) => statSync(at(`teams/a/tasks/${name}`)).ino)).toEqual(before);
    expect(team()?.metadata.resourceVersion).toBe(version);
  });

  it('follows changes, and writes only what changed', async () => {
    const { look, setStatus, removeTask } = await running();
    const before = statSync(at('teams/a/tasks/two.md')).ino;
    await setStatus('a-one', { phase: 'Running', owner: 'a-worker' });
    await look();
    expect(text('teams/a/tasks/one.md')).toContain('status: in_progress\nowner: worker\n');
    expect(text('teams/a/tasks/INDEX.md')).toContain('- [~] [one](one.md): One (in_progress, priority 3, owner worker)');
    expect(statSync(at('teams/a/tasks/two.md')).ino).toBe(before);
    await removeTask('a-one');
    await look();
    expect(files()).toEqual(['INDEX.md', 'two.md']);
    expect(text('teams/a/tasks/INDEX.md')).toContain('1 task\n');
  });

  it('says what is in the way, writes the rest, and is content when it is gone', async () => {
    const { look, setStatus, team } = await running();
    rmSync(at('teams/a/tasks/two.md'));
    mkdirSync(at('teams/a/tasks/two.md'));
    await setStatus('two', { phase: 'Running' });
    await setStatus('a-one', { phase: 'Running' });
    await expect(look()).rejects.toThrow('teams/a/tasks/two.md is not a file');
    expect(conditionOf(team(), 'VaultReady')).toBe('False Invalid: teams/a/tasks/two.md is not a file');
    expect(text('teams/a/tasks/one.md')).toContain('status: in_progress');
    rmSync(at('teams/a/tasks/two.md'), { recursive: true });
    await look();
    expect(text('teams/a/tasks/two.md')).toContain('status: in_progress');
    expect(conditionOf(team(), 'VaultReady')).toBeUndefined();
  });

  it('removes the folder with the team, after everything else that holds it, and nothing of a team whose name begins the same', async () => {
    const { client, look, team } = await running();
    await client.create<Team>(newTeam('a-b', {}));
    await look('a-b');
    writeFileSync(at('teams/a-b/notes/n.md'), 'note');
    const now = team() as Team;
    const finalizers = [...(now.metadata.finalizers ?? []), 'agentiso.dev/team'];
    await client.update<Team>({ ...now, metadata: { ...now.metadata, finalizers } });
    await client.delete({ kind: 'Team', namespace: 'default', name: 'a' });
    await look();
    expect(files().length).toBe(3);
    const held = team() as Team;
    await client.update<Team>({ ...held, metadata: { ...held.metadata, finalizers: [VAULT_FINALIZER] } });
    await look();
    expect(team()).toBeUndefined();
    expect(files('teams')).toEqual(['a-b']);
    expect(text('teams/a-b/notes/n.md')).toBe('note');
  });
});

it('stays as long as its folder cannot be removed, and says so', async () => {
  const { client, look, team } = await running();
  await client.delete({ kind: 'Team', namespace: 'default', name: 'a' });
  const failing = vi.spyOn(vault, 'removeTeam').mockRejectedValueOnce(new AgentisoError('IoError', 'the disk is read-only'));
  await expect(look()).rejects.toThrow('the disk is read-only');
  expect(conditionOf(team(), 'VaultReady')).toBe('False IoError: the disk is read-only');
  failing.mockRestore();
  await look();
  expect([team(), files('teams')]).toEqual([undefined, []]);
});

describe('a file that somebody else changed', () => {
  it.each([
    ['a task', 'one.md', 'a-one', 'agentiso edit task a-one (or kubectl edit tasks.agentiso.dev a-one)'],
    ['the index', 'INDEX.md', 'a', 'agentiso edit team a (or kubectl edit teams.agentiso.dev a)'],
  ])('is put back, and the event names the command: %s', async (_what, name, object, command) => {
    const { look, woken, ctx } = await running();
    const path = `teams/a/tasks/${name}`;
    const before = text(path);
    writeFileSync(at(path), before.replace('a', 'b'));
    await vi.waitFor(() => expect(woken).toContainEqual({ kind: 'Team', namespace: 'default', name: 'a' }), { timeout: 10_000 });
    await look();
    expect(text(path)).toBe(before);
    expect(ctx.recorded.filter(({ reason }) => reason === 'GeneratedFileRestored')).toEqual([
      {
        type: 'Warning',
        object,
        reason: 'GeneratedFileRestored',
        message: `${path} is generated: what was changed in it is put back. To change it: ${command}`,
      },
    ]);
  });

  it('is put back when it was removed; what lies beside it stays', async () => {
    const { look, woken } = await running();
    rmSync(at('teams/a/tasks/one.md'));
    writeFileSync(at('teams/a/tasks/mine.md'), 'mine');
    await vi.waitFor(() => expect(woken.length).toBeGreaterThan(0), { timeout: 10_000 });
    await look();
    expect(files()).toEqual(['INDEX.md', 'mine.md', 'one.md', 'two.md']);
  });
});

describe('a board', () => {
  it('removes after a restart the files of tasks that went meanwhile, and only those', async () => {
    const { client, unsubscribe } = await running();
    for (const stop of unsubscribe) stop();
    writeFileSync(at('teams/a/tasks/mine.md'), 'mine');
    writeFileSync(at('teams/a/tasks/latin.md'), Buffer.from([0xff]));
    await client.delete({ kind: 'Task', namespace: 'default', name: 'a-one' });
    const next = boardController({ client, vault, monotonicMs: () => nowMs });
    await bench().reconcile(next, 'Team', 'a', { client });
    expect(files()).toEqual(['INDEX.md', 'latin.md', 'mine.md', 'two.md']);
  });

  it('keeps the file of a task that was made again under the same short name', async () => {
    const { look, task, removeTask } = await running();
    await removeTask('two');
    await task('a-two', { title: 'Prefixed' });
    await look();
    expect(files()).toEqual(['INDEX.md', 'one.md', 'two.md']);
    expect(text('teams/a/tasks/two.md')).toContain('id: a-two\n');
    expect(text('teams/a/tasks/INDEX.md')).toContain('2 tasks\n');
  });

  it('is written at most once in 250 ms, and catches up', async () => {
    const { controller, reconcile, setStatus, look } = await running();
    nowMs += 10;
    await setStatus('a-one', { phase: 'Running' });
    expect(await reconcile(controller, 'Team', 'a')).toEqual({ requeueAfterMs: 240 });
    expect(text('teams/a/tasks/one.md')).toContain('status: pending');
    await look();
    expect(text('teams/a/tasks/one.md')).toContain('status: in_progress');
    expect(controller.watches?.[0]?.delayMs).toBe(250);
  });

  it('rests longer while there is no end of changes, and soon looks again after a quiet time', () => {
    const first = restAfter(undefined, 1, 0);
    const second = restAfter(first, 1, 260);
    const third = restAfter(second, 1, 770);
    const last = restAfter(third, 1, 1_780);
    expect([first, second, third, last].map(({ ms }) => ms)).toEqual([250, 500, 1_000, 1_000]);
    expect(restAfter(last, 1, last.untilMs + 1_000).ms).toBe(250);
    expect(restAfter(undefined, 100, 0)).toEqual({ ms: 250, untilMs: 2_000 });
  });

  it('of a team from an earlier life is left alone for a moment, which agents that are found again need more', async () => {
    const world = await running();
    const { client } = world;
    const again = boardController({ client, vault, monotonicMs: () => nowMs });
    const ctx = { ...world.ctx, now: () => new Date(Date.now() + 3_600_000) };
    const key = { kind: 'Team', namespace: 'default', name: 'a' };
    rmSync(at('teams/a/tasks/one.md'));
    expect(await reconcileKey(again as Controller, key, client, ctx)).toEqual({ requeueAfterMs: 10_000 });
    expect(existsSync(at('teams/a/tasks/one.md'))).toBe(false);
    expect(await reconcileKey(again as Controller, key, client, ctx)).toEqual({});
    expect(existsSync(at('teams/a/tasks/one.md'))).toBe(true);
  });

  it('does not look when nothing is new', async () => {
    const { get, tell } = await running();
    const known = get<Task>('Task', 'a-one') as Task;
    expect(tell(known, 'SYNC')).toEqual([]);
    expect(tell({ ...known, metadata: { ...known.metadata, resourceVersion: '999' } })).toEqual([
      { kind: 'Team', namespace: 'default', name: 'a' },
    ]);
  });

  it('has its files in a folder of its own in another namespace', async () => {
    const { client, controller, ctx } = setUp();
    const draft = newTeam('a', {});
    await client.create<Team>({ ...draft, metadata: { ...draft.metadata, namespace: 'lab' } });
    await reconcileKey(controller as Controller, { kind: 'Team', namespace: 'lab', name: 'a' }, client, ctx);
    expect(existsSync(at('namespaces/lab/teams/a/tasks/INDEX.md'))).toBe(true);
    expect(existsSync(at('teams'))).toBe(false);
  });

  it('of 500 tasks writes each file once', async () => {
    const { client, task, look, setStatus } = setUp();
    await client.create<Team>(newTeam('a', {}));
    for (let index = 0; index < 500; index++) await task(`a-t${index}`);
    const written = vi.spyOn(vault, 'writeGenerated');
    await look();
    expect([written.mock.calls.length, files().length]).toEqual([501, 501]);
    written.mockClear();
    await setStatus('a-t7', { phase: 'Running' });
    await look();
    expect(written.mock.calls.map(([, , path]) => path)).toEqual(['tasks/t7.md', 'tasks/INDEX.md']);
    written.mockRestore();
  });
});
