/** The vault of a real daemon: people's commands, generated files that come back, teams that go, and who may do what. */
import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { runCli } from '../support/cli.ts';
import { type Daemon, issueToken, startDaemon, temporaryFolder } from '../support/daemon.ts';

const WAIT = { timeout: 30_000, interval: 50 };
const GROUP = '/apis/agentiso.dev/v1alpha1/namespaces/default';

const place = temporaryFolder();
const home = join(place.folder, 'home');
const at = (path: string) => join(home, 'vault', path);
const text = (path: string) => readFileSync(at(path), 'utf8');
const vault = (...args: string[]) => runCli(['vault', ...args, '--home', home]);

let daemon: Daemon;
let viewer: string;
beforeAll(async () => {
  viewer = await issueToken(home, 'viewer', 'eve');
  daemon = await startDaemon(home);
  for (const name of ['a', 'a-b']) {
    const tasks = [
      { name: 'one', title: 'The first', description: '# Result\n```\nnever closed', prompt: 'do it' },
      { name: 'two', prompt: 'then this', dependsOn: ['one'] },
    ];
    await create('teams', 'Team', name, { isolation: { driver: 'process' }, roles: [{ name: 'dev' }], tasks });
  }
  await vi.waitFor(() => expect(text('teams/a/tasks/INDEX.md')).toContain('2 tasks'), WAIT);
  await vi.waitFor(() => expect(existsSync(at('teams/a-b/cards/dev.json'))).toBe(true), WAIT);
});
afterAll(async () => {
  try {
    expect(await daemon.stop()).toMatchObject({ code: 0 });
  } finally {
    place.remove();
  }
});

async function create(plural: string, kind: string, name: string, spec: object): Promise<void> {
  const body = { apiVersion: 'agentiso.dev/v1alpha1', kind, metadata: { name }, spec };
  const { status, text: said } = await daemon.api.call('POST', `${GROUP}/${plural}`, { body });
  expect(status, said).toBe(201);
}

async function events(reason: string): Promise<{ involvedObject: { kind: string; name: string }; message: string }[]> {
  const { items } = (await daemon.api.call('GET', '/api/v1/namespaces/default/events')).json();
  return items.filter((event: { reason: string }) => event.reason === reason);
}

describe('people', () => {
  it('write, read, list, search and remove notes', async () => {
    const file = join(place.folder, 'note.md');
    writeFileSync(file, '---\ntags: [house]\n---\n# Häuser\n');
    expect(await vault('write', 'guides/my style.md', '-f', file)).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringMatching(/^guides\/my style\.md written, version [0-9a-f]{32}\n$/),
    });
    writeFileSync(file, 'second\n');
    await vault('write', 'guides/my style.md', '-f', file, '--append');
    expect(await vault('cat', 'guides/my style.md')).toEqual({
      code: 0,
      stderr: '',
      stdout: '---\ntags: [house]\n---\n# Häuser\nsecond\n',
    });
    expect((await vault('ls', '-r', 'guides')).stdout).toMatch(/^PATH +BYTES +CHANGED\nguides\/my style\.md +\d+ +20/);
    expect(await vault('search', 'SECOND')).toEqual({ code: 0, stderr: '', stdout: 'guides/my style.md:5: second\n' });
    expect((await vault('search', '^H.user$', '--regex')).code).toBe(1);
    expect((await vault('search', '^# H.user$', '--regex', '--tag', 'house')).stdout).toBe('guides/my style.md:4: # Häuser\n');
    expect(await vault('rm', 'guides/my style.md')).toEqual({ code: 0, stderr: '', stdout: 'guides/my style.md removed\n' });
    expect(await vault('cat', 'guides/my style.md')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'error: there is no note guides/my style.md\n',
    });
  });

  it('are told in one line what is wrong', async () => {
    expect((await vault('cat', '../state/port')).stderr).toBe(
      'error: ../state/port leads out of the vault\n  give a path inside it, such as guides/style.md\n',
    );
    expect((await vault('rm', 'teams/a/tasks/one.md')).stderr).toBe(
      'error: teams/a/tasks/one.md is generated\n  change the Task it shows: agentiso edit task a-one\n',
    );
    expect(await vault('grep', 'x')).toMatchObject({ code: 2, stderr: expect.stringContaining('did you mean search?') });
    expect(await vault('cat')).toMatchObject({ code: 2, stderr: expect.stringContaining('which note? agentiso vault cat PATH') });
    symlinkSync(join(home, 'state'), at('out'));
    for (const path of ['out/x.md', '%2e%2e/state/x.md']) expect((await vault('cat', path)).code).toBe(1);
    rmSync(at('out'));
  });

  it('with a viewer token read and do not write', async () => {
    const call = async (method: string, path: string, body?: object) =>
      (await daemon.api.call(method, path, { token: viewer, body })).status;
    expect(await call('GET', '/vault/folders?recursive=true')).toBe(200);
    expect(await call('GET', '/vault/notes/teams/a/tasks/INDEX.md')).toBe(200);
    expect(await call('PUT', '/vault/notes/x.md', { content: 'x' })).toBe(403);
    expect(await call('DELETE', '/vault/notes/teams/a/tasks/INDEX.md?confirm=true')).toBe(403);
    expect((await daemon.api.call('GET', '/vault/notes/../state/port', { token: viewer })).status).toBeGreaterThanOrEqual(400);
    expect(existsSync(at('x.md'))).toBe(false);
  });

  it('get a Timeout for a pattern without end, while others are answered', async () => {
    writeFileSync(at('bait.md'), `${'a'.repeat(60)}!`);
    const bomb = daemon.api.call('GET', `/vault/search?pattern=${encodeURIComponent('^(a+)+$')}&regex=true`);
    expect((await daemon.api.call('GET', '/vault/notes/bait.md')).status).toBe(200);
    expect((await daemon.api.call('GET', `${GROUP}/teams`)).status).toBe(200);
    expect((await bomb).status).toBe(504);
    rmSync(at('bait.md'));
  });
});

describe('generated files', () => {
  it('show the tasks, whatever is written in them', () => {
    const one = text('teams/a/tasks/one.md');
    expect(one).toMatch(/^---\nid: a-one\nstatus: (pending|blocked)\nowner: null\npriority: 3\ndepends_on: \[\]\n/);
    expect(one.match(/^#+ .*$/gm)).toEqual(['# The first', '## Description']);
    expect(text('teams/a/tasks/two.md')).toContain('status: blocked\n');
    expect(JSON.parse(text('teams/a/cards/dev.json'))).toMatchObject({ name: 'dev', team: 'a' });
  });

  it('are put back, with an event that names the command', async () => {
    const [one, index] = [text('teams/a/tasks/one.md'), text('teams/a/tasks/INDEX.md')];
    appendFileSync(at('teams/a/tasks/one.md'), 'by hand');
    rmSync(at('teams/a/tasks/INDEX.md'));
    writeFileSync(at('teams/a/cards/dev.json'), '{}');
    await vi.waitFor(() => expect([text('teams/a/tasks/one.md'), text('teams/a/tasks/INDEX.md')]).toEqual([one, index]), WAIT);
    await vi.waitFor(() => expect(JSON.parse(text('teams/a/cards/dev.json'))).toMatchObject({ name: 'dev' }), WAIT);
    await vi.waitFor(async () => {
      const said = (await events('GeneratedFileRestored')).map(({ involvedObject, message }) => [
        involvedObject.kind,
        involvedObject.name,
        message,
      ]);
      expect(said).toEqual(
        expect.arrayContaining([
          ['Task', 'a-one', expect.stringContaining('agentiso edit task a-one')],
          ['Team', 'a', expect.stringContaining('agentiso edit team a')],
          ['Agent', 'a-dev', expect.stringContaining('agentiso edit team a')],
        ]),
      );
    }, WAIT);
  });

  it('follow a change of the task, and go with it', async () => {
    await create('tasks', 'Task', 'extra', { team: 'a', prompt: 'x', tags: ['new'] });
    await vi.waitFor(() => expect(text('teams/a/tasks/extra.md')).toContain('tags:\n  - new\n'), WAIT);
    const patch = { spec: { title: 'Renamed' } };
    await daemon.api.call('PATCH', `${GROUP}/tasks/extra`, { body: patch, headers: { 'Content-Type': 'application/merge-patch+json' } });
    await vi.waitFor(() => expect(text('teams/a/tasks/INDEX.md')).toContain('[extra](extra.md): Renamed'), WAIT);
    await daemon.api.call('DELETE', `${GROUP}/tasks/extra`);
    await vi.waitFor(() => expect(existsSync(at('teams/a/tasks/extra.md'))).toBe(false), WAIT);
    await vi.waitFor(() => expect(text('teams/a/tasks/INDEX.md')).toContain('2 tasks'), WAIT);
  });

  it('are right again after a kill, also those of a task that went meanwhile', async () => {
    await daemon.kill();
    writeFileSync(at('teams/a/tasks/one.md'), 'by hand, while nobody looked');
    writeFileSync(at('teams/a/tasks/ghost.md'), text('teams/a/tasks/two.md').replaceAll('a-two', 'a-ghost'));
    writeFileSync(at('teams/a/tasks/mine.md'), 'mine');
    daemon = await startDaemon(home);
    await vi.waitFor(() => expect(text('teams/a/tasks/one.md')).toContain('id: a-one\n'), WAIT);
    await vi.waitFor(() => expect(readdirSync(at('teams/a/tasks')).sort()).toEqual(['INDEX.md', 'mine.md', 'one.md', 'two.md']), WAIT);
  });
});

describe('a team that goes', () => {
  it('takes its folder with it, and nothing of the team whose name begins the same', async () => {
    writeFileSync(at('teams/a/notes/n.md'), 'of a');
    writeFileSync(at('teams/a-b/notes/n.md'), 'of a-b');
    await vi.waitFor(() => expect(existsSync(at('teams/a-b/cards/dev.json'))).toBe(true), WAIT);
    const before = readdirSync(at('teams/a-b'), { recursive: true }).sort();
    await daemon.api.call('DELETE', `${GROUP}/teams/a`);
    await vi.waitFor(async () => expect((await daemon.api.call('GET', `${GROUP}/teams/a`)).status).toBe(404), WAIT);
    expect(readdirSync(at('teams'))).toEqual(['a-b']);
    expect(readdirSync(at('teams/a-b'), { recursive: true }).sort()).toEqual(before);
    expect(text('teams/a-b/notes/n.md')).toBe('of a-b');
  });
});
