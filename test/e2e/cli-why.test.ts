/** `agentiso why` against a daemon and real processes: what it says, and that the command it names really helps. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type CliResult, type CliRun, runCli, startCli } from '../support/cli.ts';
import { temporaryFolder } from '../support/daemon.ts';

const program = join(import.meta.dirname, '..', '..', 'dist', 'agentiso.js');
const place = temporaryFolder();
const { folder } = place;
const directory = join(folder, 'deploy');
const WAIT = { timeout: 60_000, interval: 200 };
const env = { AGENTISO_HOME: undefined, AGENTISO_TOOLS: undefined, XDG_CACHE_HOME: undefined, KUBECONFIG: undefined, HOME: folder };

const run = (...argv: string[]): Promise<CliResult> => runCli(argv, { cwd: folder, env });

/** A line of the answer, in a shell, as a person would paste it. */
function paste(command: string): void {
  const bin = join(folder, 'bin');
  const options = {
    cwd: folder,
    env: { ...process.env, ...env, PATH: `${bin}${delimiter}${process.env['PATH']}` },
    encoding: 'utf8',
    timeout: 90_000,
  } as const;
  const { status, stderr } = spawnSync('sh', ['-c', command], options);
  expect([status, stderr.replace(/^installing .*\n/, '')], command).toEqual([0, '']);
}

/** What comes from a registry is for the tests of agents. */
function standInForNpm(): void {
  const script = [
    '#!/usr/bin/env node',
    "const { mkdirSync, readFileSync, writeFileSync } = require('node:fs');",
    "for (const [name, version] of Object.entries(JSON.parse(readFileSync('package.json', 'utf8')).dependencies)) {",
    "  mkdirSync('node_modules/' + name, { recursive: true });",
    "  writeFileSync('node_modules/' + name + '/package.json', JSON.stringify({ version }));",
    '}',
    "mkdirSync('node_modules/.bin');",
    "for (const name of ['codex', 'codex-acp']) writeFileSync('node_modules/.bin/' + name, '#!/bin/sh\\necho 1\\n', { mode: 0o755 });",
  ];
  writeFileSync(join(folder, 'bin', 'npm'), `${script.join('\n')}\n`, { mode: 0o755 });
}

async function why(...argv: string[]): Promise<string[]> {
  const { code, stdout, stderr } = await run('why', ...argv);
  expect([code, stderr]).toEqual([0, '']);
  return stdout.trimEnd().split('\n');
}

/** Waits for the answer to begin so, and gives all of it. */
const answer = (object: string, begin: string) =>
  vi.waitFor(async () => {
    const lines = await why(object);
    expect(lines.join('\n')).toContain(begin);
    return lines;
  }, WAIT);

const phaseOf = async (object: string) => (await run('get', object, '-o', 'jsonpath={.status.phase}')).stdout;
const reached = (object: string, phase: string) => vi.waitFor(async () => expect(await phaseOf(object)).toBe(phase), WAIT);

async function apply(text: string): Promise<void> {
  const file = join(folder, 'applied.yaml');
  writeFileSync(file, text);
  expect(await run('apply', '-f', file)).toMatchObject({ code: 0, stderr: '' });
}

const doc = (kind: string, name: string, spec: object) =>
  `---\n${JSON.stringify({ apiVersion: 'agentiso.dev/v1alpha1', kind, metadata: { name }, spec })}\n`;
const isolation = { driver: 'process' };

let daemon: CliRun;
beforeAll(async () => {
  mkdirSync(join(folder, 'bin'));
  writeFileSync(join(folder, 'bin', 'agentiso'), `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`);
  chmodSync(join(folder, 'bin', 'agentiso'), 0o755);
  mkdirSync(directory);
  daemon = startCli(['serve', '--home', join(folder, '.agentiso'), '--watch', directory], { cwd: folder, env });
  await daemon.said('agentiso ready');
});
afterAll(async () => {
  daemon.child.kill('SIGTERM');
  await daemon.result;
  place.remove();
});

describe('agentiso why', () => {
  it('follows a dependency down to a stopped agent, and what it names lets the task go on', async () => {
    const tasks = [
      { name: 'build', assignTo: 'dev', command: 'echo built' },
      { name: 'deploy', dependsOn: ['build'], command: 'echo deployed' },
    ];
    await apply(doc('Team', 'sprint', { isolation, roles: [{ name: 'dev' }] }));
    await reached('agent/sprint-dev', 'Ready');
    paste(`agentiso patch agent sprint-dev -p '{"spec":{"desiredState":"Stopped"}}'`);
    await reached('agent/sprint-dev', 'Stopped');
    await apply(doc('Team', 'sprint', { isolation, roles: [{ name: 'dev' }], tasks }));
    const lines = await answer('task/sprint-deploy', 'a person stopped it');
    expect(lines).toEqual([
      'task/sprint-deploy is Blocked: it waits for task/sprint-build',
      '  task/sprint-build is Pending: no suitable agent is ready',
      '    agent/sprint-dev is Stopped: a person stopped it (spec.desiredState is Stopped)',
      'what helps: let it run again:',
      `  agentiso start sprint-dev`,
    ]);
    expect(await why()).toEqual([
      'agent/sprint-dev is Stopped: a person stopped it (spec.desiredState is Stopped)',
      expect.stringMatching(/^ {2}in the way of: (?=.*task\/sprint-deploy)(?=.*task\/sprint-build)(?=.*team\/sprint)/),
      ...lines.slice(3),
    ]);
    paste(lines.at(-1) ?? '');
    await reached('task/sprint-deploy', 'Succeeded');
    expect((await why('tk', 'sprint-deploy'))[0]).toMatch(
      /^task\/sprint-deploy is Succeeded: agent\/sprint-dev did it in [\d.]+ s, attempt 1 of 3$/,
    );
    expect(await why()).toEqual([expect.stringMatching(/^nothing is stuck: 1 team, 1 agent, 2 tasks \(2 done\)$/)]);
  });

  it('finds a backend that is not there, and installs it', async () => {
    standInForNpm();
    const tasks = [{ name: 'hello', command: 'echo hello' }];
    await apply(doc('Team', 'wrong', { isolation, roles: [{ name: 'ops', backend: 'codex' }], tasks }));
    const lines = await answer('task/wrong-hello', 'BackendMissing');
    expect(lines[1]).toMatch(/^ {2}agent\/wrong-ops is not Ready: BackendMissing: /);
    expect(lines.at(-1)).toBe('  agentiso backends install codex');
    paste(lines.at(-1) ?? '');
    await reached('task/wrong-hello', 'Succeeded');
  });

  it('says what a task said last when it failed, and runs it again', async () => {
    const flag = join(folder, 'flag');
    const command = `test -e '${flag}' || { echo "there is no flag" >&2; exit 7; }`;
    await apply(doc('Team', 'own', { isolation, roles: [{ name: 'dev' }] }));
    await apply(
      `${doc('Task', 'own-first', { team: 'own', maxAttempts: 1, command })}${doc('Task', 'own-then', { team: 'own', dependsOn: ['first'], command: 'true' })}`,
    );
    const lines = await answer('task/own-then', 'its last words');
    expect(lines).toEqual([
      'task/own-then is Blocked: DependencyFailed: it waits for task/own-first, which failed',
      '  task/own-first is Failed: MaxAttempts: attempt 1 of 1 exited with 7; its last words: there is no flag',
      'what helps: mend what made it fail, then run it again:',
      `  agentiso retry own-first`,
    ]);
    writeFileSync(flag, '');
    paste(lines.at(-1) ?? '');
    await reached('task/own-then', 'Succeeded');
  });

  it('finds the dependency that was meant', async () => {
    writeFileSync(join(directory, 'typo.yaml'), doc('Task', 'own-typo', { team: 'own', dependsOn: ['frist'], command: 'true' }));
    const lines = await answer('task/own-typo', 'DependencyNotFound');
    expect(lines.slice(0, 2)).toEqual([
      'task/own-typo is Blocked: DependencyNotFound: team own has no task frist',
      'what helps: if first is meant (in its file: the directory deploy would take this back):',
    ]);
    writeFileSync(join(directory, 'typo.yaml'), doc('Task', 'own-typo', { team: 'own', dependsOn: ['first'], command: 'true' }));
    await reached('task/own-typo', 'Succeeded');
  });

  it('shows a circle in files', async () => {
    const circle = (first: string[]) =>
      `${doc('Task', 'own-a', { team: 'own', dependsOn: first, command: 'true' })}${doc('Task', 'own-b', { team: 'own', dependsOn: ['a'], command: 'true' })}`;
    writeFileSync(join(directory, 'circle.yaml'), circle(['b']));
    expect(await answer('task/own-b', 'DependencyCycle')).toEqual([
      'task/own-b is Blocked: DependencyCycle: each of these waits for the next: a → b → a',
      'what helps: take one dependency out of the circle, for example that of b on a (in its file: the directory deploy would take this back):',
      `  agentiso patch task own-b -p '{"spec":{"dependsOn":[]}}'`,
    ]);
    writeFileSync(join(directory, 'circle.yaml'), circle([]));
    await reached('task/own-b', 'Succeeded');
  });

  it('tells of what runs, who holds the agent, and answers as JSON', async () => {
    await apply(doc('Agent', 'own-solo', { team: 'own', maxConcurrentTasks: 1, isolation }));
    await apply(doc('Task', 'own-long', { team: 'own', assignTo: 'solo', command: 'sleep 300' }));
    await reached('task/own-long', 'Running');
    expect(await why('task/own-long')).toEqual([
      expect.stringMatching(/^task\/own-long is Running on agent\/own-solo since \d+s, attempt 1 of 3$/),
    ]);
    await apply(doc('Task', 'own-late', { team: 'own', assignTo: 'solo', command: 'true' }));
    const [first, , third] = await answer('task/own-late', 'AgentsBusy');
    expect(first).toBe('task/own-late is Pending: AgentsBusy: every suitable agent has its hands full: agent/own-solo holds task/own-long');
    expect(third).toMatch(/^what helps: patience: task\/own-long is at work; it is ended in \d+ s at the latest/);
    const { stdout } = await run('why', 'task/own-late', '-o', 'json');
    expect(JSON.parse(stdout)).toMatchObject({
      object: 'task/own-late',
      state: 'waiting',
      steps: [{ says: 'is Pending' }, { object: 'task/own-long' }],
    });
    expect(await run('delete', 'task', 'own-long')).toMatchObject({ code: 0 });
    await reached('task/own-late', 'Succeeded');
  });

  it('names the finalizer that keeps what is being deleted, and takes it away', async () => {
    await apply('apiVersion: v1\nkind: Namespace\nmetadata: {name: going}\n');
    await apply(`apiVersion: v1\nkind: ConfigMap\nmetadata: {name: held, namespace: going, finalizers: [example.com/hold]}\n`);
    expect(await run('delete', 'namespace', 'going', '--wait=false')).toMatchObject({ code: 0 });
    const lines = await answer('ns/going', 'configmap/held is being deleted');
    expect(lines.slice(0, 2)).toEqual([
      'namespace/going is Terminating: it still holds 1 ConfigMap',
      "  configmap/held is being deleted: the finalizer example.com/hold keeps it, which is not agentiso's",
    ]);
    expect(lines.at(-1)).toContain(' -n going');
    paste(lines.at(-1) ?? '');
    await vi.waitFor(async () => expect((await run('get', 'ns', 'going')).code).toBe(1), WAIT);
  });

  it.each([
    {
      argv: ['task/build'],
      code: 1,
      stderr: 'Error from server (NotFound): tasks.agentiso.dev "build" not found; did you mean sprint-build?\n',
    },
    {
      argv: ['task', 'sprint-biuld'],
      code: 1,
      stderr: 'Error from server (NotFound): tasks.agentiso.dev "sprint-biuld" not found; did you mean sprint-build?\n',
    },
    { argv: ['tsak/x'], code: 1, stderr: `error: the server doesn't have a resource type "tsak"; did you mean task?\n` },
    { argv: ['task'], code: 2, stderr: 'error: which task?\n(use: agentiso why task/NAME)\n' },
    { argv: ['task/x', '-o', 'yaml'], code: 2, stderr: expect.stringContaining('Allowed choices are json') },
  ])('$argv ends with $code', async ({ argv, ...want }) => {
    expect(await run('why', ...argv)).toEqual({ stdout: '', ...want });
  });

  it('sees an agent that exits again and again, from a pause to the end, and starts it anew', async () => {
    await apply(doc('Team', 'loop', { isolation, roles: [{ name: 'dev' }], tasks: [{ name: 'x', dependsOn: [], command: 'echo x' }] }));
    await reached('task/loop-x', 'Succeeded');
    const killOnce = async () => {
      await reached('agent/loop-dev', 'Ready');
      const { stdout: pid } = await run('get', 'agent', 'loop-dev', '-o', 'jsonpath={.status.pid}');
      process.kill(Number(pid), 'SIGKILL');
    };
    // The first pauses are as short as a look at them may take.
    for (let time = 1; time <= 2; time++) {
      await killOnce();
      await vi.waitFor(
        async () => expect((await run('get', 'agent', 'loop-dev', '-o', 'jsonpath={.status.restarts}')).stdout).toBe(`${time}`),
        WAIT,
      );
    }
    for (let time = 3; time <= 5; time++) {
      await killOnce();
      const [first] = await answer('agent/loop-dev', 'BackOff');
      expect(first).toMatch(
        new RegExp(
          `^agent/loop-dev is not Ready: BackOff: the workspace exited \\(.*\\); it starts again in (\\d+ s|a moment) \\(restart ${time} of 5\\)$`,
        ),
      );
    }
    await killOnce();
    const lines = await answer('agent/loop-dev', 'CrashLoop');
    expect(lines[0]).toMatch(/^agent\/loop-dev is not Ready: CrashLoop: the workspace exited 6 times; last: /);
    expect(lines[1]).toBe('what helps: see what it said (agentiso logs loop-dev), mend it, then start it anew:');
    paste(lines.at(-1) ?? '');
    await reached('agent/loop-dev', 'Ready');
    expect(await why('team/loop')).toEqual([expect.stringMatching(/^team\/loop is Ready: its agent is ready, 1 of 1 tasks are done$/)]);
  });
});
