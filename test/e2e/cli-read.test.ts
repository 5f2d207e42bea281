/** The commands that read, as a person runs them: the built program against a daemon on a directory. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type CliResult, type CliRun, manifests, runCli, startCli } from '../support/cli.ts';

const root = join(import.meta.dirname, '..', '..');
const program = join(root, 'dist', 'agentiso.js');
const folder = mkdtempSync(join(tmpdir(), 'agentiso-read-'));
const home = join(folder, '.agentiso');
const WAIT = { timeout: 30_000, interval: 100 };
/** What this machine has set must not decide. */
const env = { AGENTISO_HOME: undefined, KUBECONFIG: undefined, HOME: folder };

const run = (...argv: string[]): Promise<CliResult> => runCli(argv, { cwd: folder, env });

let daemon: CliRun;
beforeAll(async () => {
  daemon = startCli(['serve', '--home', home], { cwd: folder, env });
  await daemon.said('agentiso ready');
  expect(await run('apply', '-f', join(manifests, 'hello.yaml'))).toMatchObject({ code: 0 });
  await vi.waitFor(async () => {
    const { stdout } = await run('get', 'task', 'hello-greet', '-o', 'jsonpath={.status.phase}');
    expect(stdout).toBe('Succeeded');
  }, WAIT);
  await vi.waitFor(async () => expect((await run('get', 'team', 'hello', '-o', 'jsonpath={.status.phase}')).stdout).toBe('Ready'), WAIT);
});
afterAll(async () => {
  daemon.child.kill('SIGTERM');
  await daemon.result;
  rmSync(folder, { recursive: true, force: true });
});

describe('get', () => {
  it('shows tables without colours in a pipe', async () => {
    const { code, stdout, stderr } = await run('get', 'teams,tk');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(
      /^NAME {21,}PHASE .*AGE\nteam\.agentiso\.dev\/hello {3}Ready .*\n\nNAME .*\ntask\.agentiso\.dev\/hello-greet {3}hello {3}Succeeded .*\n$/,
    );
    expect(stdout).not.toContain('\u001b');
  });

  it.each([
    { argv: ['get', 'tm', '-o', 'name'], code: 0, stdout: 'team.agentiso.dev/hello\n', stderr: '' },
    {
      argv: ['get', 'tasks', '-A', '--no-headers', '-o', 'custom-columns=A:.metadata.namespace,B:.spec.team'],
      code: 0,
      stdout: 'default   hello\n',
      stderr: '',
    },
    { argv: ['get', 'merges'], code: 0, stdout: '', stderr: 'No resources found in default namespace.\n' },
    {
      argv: ['get', 'tasks', '--field-selector', 'status.phase=Failed'],
      code: 0,
      stdout: '',
      stderr: 'No resources found in default namespace.\n',
    },
    {
      argv: ['get', 'team', 'nobody'],
      code: 1,
      stdout: '',
      stderr: 'Error from server (NotFound): teams.agentiso.dev "nobody" not found\n',
    },
    {
      argv: ['get', 'temas'],
      code: 1,
      stdout: '',
      stderr: `error: the server doesn't have a resource type "temas"; did you mean teams?\n`,
    },
    {
      argv: ['get', 'teams', '--wacth'],
      code: 2,
      stdout: '',
      stderr: `error: unknown option '--wacth'; did you mean --watch?\n`,
    },
    {
      argv: ['gett'],
      code: 2,
      stdout: '',
      stderr: `error: unknown command 'gett'; did you mean get?\n`,
    },
    {
      argv: ['get', 'teams', '--home', '/nowhere'],
      code: 1,
      stdout: '',
      stderr: 'agentiso: no daemon answers at /nowhere (start one with: agentiso serve --home /nowhere)\n',
    },
  ])('$argv', async ({ argv, ...want }) => {
    expect(await run(...argv)).toEqual(want);
  });

  it('gives objects that can be given back', async () => {
    const { stdout } = await run('get', 'team', 'hello', '-o', 'json');
    expect(JSON.parse(stdout)).toMatchObject({ apiVersion: 'agentiso.dev/v1alpha1', kind: 'Team', metadata: { name: 'hello' } });
    const { stdout: yaml } = await run('get', 'team', 'hello', '-o', 'yaml');
    writeFileSync(join(folder, 'again.yaml'), yaml);
    expect(await run('validate', join(folder, 'again.yaml'))).toMatchObject({ code: 0, stderr: '' });
  });

  it('follows changes until it is interrupted', async () => {
    const watching = startCli(['get', 'configmaps', '-w'], { cwd: folder, env });
    const text = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: watched}\n';
    writeFileSync(join(folder, 'cm.yaml'), text);
    // The watch begins with a list: whenever the object comes, it is shown.
    expect((await run('apply', '-f', join(folder, 'cm.yaml'))).code).toBe(0);
    await watching.said('watched');
    watching.child.kill('SIGINT');
    const { code, stdout, stderr } = await watching.result;
    expect([code, stderr]).toEqual([130, '']);
    expect(stdout).toMatch(/^NAME .*\nwatched .*\n/);
  });

  it('ends quietly when nobody reads any more', () => {
    const command = `"${process.execPath}" "${program}"`;
    const script = `${command} get tasks -o yaml | true; echo "\${PIPESTATUS[0]}"; ${command} get teams,tasks | head -n 1 > /dev/null; echo "\${PIPESTATUS[0]}"`;
    const options = { cwd: folder, env: { ...process.env, ...env }, encoding: 'utf8', timeout: 30_000 } as const;
    const { stdout, stderr } = spawnSync('bash', ['-c', script], options);
    expect([stdout, stderr]).toEqual(['0\n0\n', '']);
  });

  it('says in one line that its output cannot be written', () => {
    const options = { cwd: folder, env: { ...process.env, ...env }, encoding: 'utf8', timeout: 30_000 } as const;
    const { status, stderr } = spawnSync('sh', ['-c', `"${process.execPath}" "${program}" get teams > /dev/full`], options);
    expect([status, stderr]).toEqual([1, 'agentiso: cannot write to standard output: ENOSPC: no space left on device, write\n']);
  });

  it('finds the daemon of a folder above', async () => {
    const deep = join(folder, 'a', 'b');
    mkdirSync(deep, { recursive: true });
    expect(await runCli(['get', 'teams', '-o', 'name'], { cwd: deep, env })).toEqual({
      code: 0,
      stdout: 'team.agentiso.dev/hello\n',
      stderr: '',
    });
  });

  it('talks to a server of a kubeconfig, with its certificate and its token', async () => {
    const kubeconfig = join(home, 'kubeconfig');
    expect(await runCli(['--kubeconfig', kubeconfig, 'get', 'teams', '-o', 'name'], { cwd: tmpdir(), env })).toEqual({
      code: 0,
      stdout: 'team.agentiso.dev/hello\n',
      stderr: '',
    });
    const other = await runCli(['get', 'teams', '--context', 'agentso'], { cwd: tmpdir(), env: { ...env, KUBECONFIG: kubeconfig } });
    expect(other).toEqual({ code: 1, stdout: '', stderr: 'error: no context exists with the name: "agentso"; did you mean agentiso?\n' });
  });
});

describe('describe, explain, events', () => {
  it('shows an object with what it owns and what happened to it', async () => {
    const { code, stdout, stderr } = await run('describe', 'team', 'hello');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^Name: {9}hello\nNamespace: {4}default\n/);
    expect(stdout).toMatch(/\n {4}Type {3}Status {2}Reason .*Message\n {4}---- .*\n {4}Ready {2}True /);
    expect(stdout).toMatch(/\nOwned:\n {2}Kind .*\n {2}---- .*\n {2}Agent {2}hello-greeter {2}Ready /);
    expect((await run('describe', 'task', 'hello-greet')).stdout).toMatch(
      /\nEvents:\n {2}Type .*\n {2}---- .*\n(.*\n)* {2}Normal {2}Succeeded /,
    );
  });

  it('explains fields from the server’s schema', async () => {
    expect((await run('explain', 'task.spec.priority')).stdout).toMatch(
      /^GROUP: {6}agentiso\.dev\nKIND: {7}Task\nVERSION: {4}v1alpha1\n\nFIELD: priority <integer>\n/,
    );
    expect((await run('explain', 'team', '--recursive')).stdout).toContain('\n    roles\t<[]Object>');
    expect(await run('explain', 'team.spec.rolls')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'error: field "rolls" does not exist; did you mean roles?\n',
    });
  });

  it('lists events of an object', async () => {
    const { code, stdout } = await run('events', '--for', 'task/hello-greet');
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^LAST SEEN {3}TYPE .*\n(.*\n)*.* {3}Normal {3}Succeeded {3}Task\/hello-greet {3}/),
    ]);
  });
});

describe('about the server', () => {
  it.each([
    {
      argv: ['api-resources', '--api-group', 'agentiso.dev', '-o', 'name'],
      want: 'agents.agentiso.dev\nmerges.agentiso.dev\nsnapshots.agentiso.dev\ntasks.agentiso.dev\nteams.agentiso.dev\n',
    },
    { argv: ['auth', 'can-i', 'delete', 'teams'], want: 'yes\n' },
    { argv: ['get', '--raw', '/healthz'], want: 'ok' },
  ])('$argv', async ({ argv, want }) => {
    expect(await run(...argv)).toEqual({ code: 0, stdout: want, stderr: '' });
  });

  it('knows both versions', async () => {
    expect((await run('version')).stdout).toMatch(/^Client Version: v\S+\nServer Version: v1\.\d+\.\d+\+agentiso\./);
  });

  it('completes in a real shell', () => {
    const script = `
      agentiso() { "${process.execPath}" "${program}" "$@"; }
      command() { "$@"; }
      source <(agentiso completion bash)
      try() { COMP_LINE="agentiso $*"; COMP_POINT=\${#COMP_LINE}; COMP_WORDS=(agentiso "$@"); COMP_CWORD=$#; _agentiso; echo "\${COMPREPLY[*]}"; }
      try des; try get tea; try get teams h; try get team/he; try get teams -n de`;
    const options = { cwd: folder, env: { ...process.env, ...env }, encoding: 'utf8', timeout: 60_000 } as const;
    const { stdout, stderr } = spawnSync('bash', ['-c', script], options);
    expect([stdout, stderr]).toEqual(['describe\nteams\nhello\nteam/hello\ndefault\n', '']);
  });
});

describe('what follows', () => {
  it.each([
    { line: 'get tasks -w', reader: 'head -c 1' },
    { line: 'get tasks --watch-only', reader: 'true' },
    { line: 'events -w', reader: 'head -c 1' },
    { line: 'board -w', reader: 'head -c 1' },
    { line: 'logs -f hello-greeter', reader: 'head -c 1' },
    { line: 'messages -f', reader: 'true' },
    { line: 'inbox -f', reader: 'true' },
  ])('$line ends when its reader has left, though nothing more is to be said', ({ line, reader }) => {
    const script = `"${process.execPath}" "${program}" ${line} | ${reader} >/dev/null; echo "\${PIPESTATUS[0]}"`;
    const options = { cwd: folder, env: { ...process.env, ...env }, encoding: 'utf8', timeout: 20_000 } as const;
    const { stdout, stderr } = spawnSync('bash', ['-c', script], options);
    expect([stdout, stderr]).toEqual(['0\n', '']);
  });
});
