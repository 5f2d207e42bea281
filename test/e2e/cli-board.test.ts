/** `agentiso board` against a daemon: a table in a pipe, changes with -w, and the live view on a terminal. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type CliResult, type CliRun, runCli, startCli } from '../support/cli.ts';
import { temporaryFolder } from '../support/daemon.ts';
import { requires } from '../support/requirements.ts';
import { hasTerminals, startOnTerminal } from '../support/terminal.ts';

const place = temporaryFolder();
const { folder } = place;
const WAIT = { timeout: 60_000, interval: 100 };
const env = { AGENTISO_HOME: undefined, KUBECONFIG: undefined, HOME: folder };
const run = (...argv: string[]): Promise<CliResult> => runCli(argv, { cwd: folder, env });

// biome-ignore lint/suspicious/noControlCharactersInRegex: the escapes of a terminal are what is looked for.
const UP = /\u001b\[\d+A/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above.
const ESCAPES = /\u001b\[\d*[A-Za-z]/g;

const TEAM = {
  isolation: { driver: 'process' },
  roles: [{ name: 'dev' }],
  tasks: [
    { name: 'quick', command: 'true' },
    { name: 'slow', command: 'sleep 300' },
    { name: 'after', dependsOn: ['slow'], command: 'true' },
    { name: 'lost', skills: ['magic'], command: 'true' },
    { name: 'bad', maxAttempts: 1, command: 'exit 3' },
  ],
};

async function apply(kind: string, name: string, spec: object): Promise<void> {
  const file = join(folder, `${name}.yaml`);
  writeFileSync(file, JSON.stringify({ apiVersion: 'agentiso.dev/v1alpha1', kind, metadata: { name }, spec }));
  expect(await run('apply', '-f', file)).toMatchObject({ code: 0, stderr: '' });
}

let daemon: CliRun;
beforeAll(async () => {
  daemon = startCli(['serve', '--home', join(folder, '.agentiso')], { cwd: folder, env });
  await daemon.said('agentiso ready');
  expect(await run('board')).toEqual({ code: 0, stdout: '', stderr: 'No tasks found in default namespace.\n' });
  await apply('Team', 'sprint', TEAM);
  const rows = [/pending +lost/, /blocked +after/, /working +slow/, /done +quick/, /failed +bad/];
  await vi.waitFor(async () => {
    const { stdout } = await run('board', 'sprint');
    for (const row of rows) expect(stdout).toMatch(row);
  }, WAIT);
});
afterAll(async () => {
  daemon.child.kill('SIGTERM');
  await daemon.result;
  place.remove();
});

describe('agentiso board in a pipe', () => {
  it('is a table, column by column', async () => {
    const { code, stdout, stderr } = await run('board');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(
      new RegExp(
        [
          '^TEAM +COLUMN +TASK +OWNER +ATTEMPT +AGE +REASON',
          'sprint +pending +lost +\\d+s +NoAgent: .*',
          'sprint +blocked +after +\\d+s +DependenciesPending: waits for slow',
          'sprint +working +slow +dev +1/3 +\\d+s *',
          'sprint +done +quick +dev +1/3 +\\d+s *',
          'sprint +failed +bad +dev +1/1 +\\d+s +MaxAttempts: attempt 1 of 1 exited with 3\n$',
        ].join('\n'),
      ),
    );
    expect(stdout).not.toContain('\u001b');
  });

  it('is JSON', async () => {
    const { stdout } = await run('board', 'sprint', '-o', 'json');
    expect(JSON.parse(stdout)).toMatchObject({
      namespace: 'default',
      teams: [{ name: 'sprint' }],
      columns: {
        pending: [{ task: 'lost' }],
        blocked: [{ task: 'after' }],
        working: [{ task: 'slow', owner: 'dev', attempt: 1, maxAttempts: 3 }],
        done: [{ task: 'quick' }],
        failed: [{ task: 'bad', reason: 'MaxAttempts: attempt 1 of 1 exited with 3' }],
      },
    });
  });

  it('names the team that was meant', async () => {
    expect(await run('board', 'sprnit')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'error: there is no team sprnit in the namespace default; did you mean sprint?\n',
    });
  });

  it('shows changes with -w until it is interrupted, which is its end', async () => {
    const watching = startCli(['board', 'sprint', '-w', '-o', 'json'], { cwd: folder, env });
    await watching.said('"task":"bad"');
    await apply('Task', 'sprint-more', { team: 'sprint', command: 'true' });
    await watching.said('"task":"more","column":"done"');
    watching.child.kill('SIGINT');
    expect(await watching.result).toMatchObject({ code: 0, stderr: '' });
  });
});

requires(hasTerminals, 'script (util-linux) makes terminals')('agentiso board on a terminal', () => {
  const placed = { cwd: folder, env };

  it.each([
    ['q', 'q'],
    ['Ctrl-C', '\u0003'],
  ])('is drawn in columns, follows what happens, and is left with %s', async (name, key) => {
    const task = `live-${name.toLowerCase()}`;
    const board = startOnTerminal(['board', 'sprint'], { ...placed, columns: 120 });
    await board.said('q leaves');
    expect(board.text()).toMatch(/PENDING \d.*BLOCKED 1.*WORKING \d.*DONE \d.*FAILED 1/);
    expect(board.text()).toContain('dev 1/3');
    await apply('Task', `sprint-${task}`, { team: 'sprint', command: 'true' });
    await board.said(task);
    board.type(key);
    expect(await board.code).toBe(0);
    // In its place: from the second time on it goes up before it draws.
    expect(board.text()).toMatch(UP);
  });

  it('is a cut line per task on a narrow one', async () => {
    const board = startOnTerminal(['board'], { ...placed, columns: 30 });
    await board.said('q leaves');
    board.type('q');
    expect(await board.code).toBe(0);
    expect(board.text()).toMatch(/pending {2}lost +.*…/);
    const lines = board.text().replaceAll(ESCAPES, '').split(/\r?\n/);
    for (const line of lines) expect(line.replaceAll('\r', '').length).toBeLessThan(30);
  });

  it('is shown once with --watch=false', async () => {
    const board = startOnTerminal(['board', '--watch=false'], { ...placed, columns: 120 });
    expect(await board.code).toBe(0);
    expect(board.text()).toMatch(/^TEAM +COLUMN/);
  });
});
