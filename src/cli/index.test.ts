import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CommandContext, RunningDaemon } from './command.ts';
import { runCli } from './index.ts';

const root = join(import.meta.dirname, '..', '..');
const hello = join(root, 'manifests', 'hello.yaml');

async function run(argv: readonly string[], overrides: Partial<CommandContext> = {}) {
  const said = { out: '', err: '' };
  const context: CommandContext = {
    out: (text) => {
      said.out += text;
    },
    err: (text) => {
      said.err += text;
    },
    signal: new AbortController().signal,
    version: '1.2.3',
    home: undefined,
    startDaemon: async (): Promise<RunningDaemon> => {
      throw new Error('this test starts no daemon');
    },
    ...overrides,
  };
  return { code: await runCli(argv, context), ...said };
}

describe('usage', () => {
  it.each([
    { argv: ['validat'], want: "unknown command 'validat'; did you mean validate?" },
    { argv: ['deploy'], want: "unknown command 'deploy'" },
    { argv: ['validate'], want: "missing required argument 'files'" },
    { argv: ['validate', '--quiet', 'x'], want: "unknown option '--quiet'" },
    { argv: ['up'], want: "required option '-f, --filename <file>' not specified" },
    { argv: ['up', '-f', hello, '--home', ''], want: "option '--home <dir>' is empty; give a path, or leave it out" },
    { argv: ['serve', '--home='], want: "option '--home <dir>' is empty; give a path, or leave it out" },
    { argv: ['get', 'tasks', '--home', ''], want: "option '--home <dir>' is empty; give a path, or leave it out" },
    { argv: ['up', '-f', hello, '--log-leve', 'info'], want: "unknown option '--log-leve'; did you mean --log-level?" },
    {
      argv: ['up', '-f', hello, '--log-level', 'loud'],
      want: "argument 'loud' is invalid. Allowed choices are silent, error, warn, info, debug.",
    },
    { argv: ['--verson'], want: "error: unknown option '--verson'; did you mean --version?\n" },
    { argv: ['help', 'aply'], want: "error: unknown command 'aply'; did you mean apply?\n" },
    { argv: ['help', 'nope'], want: "error: unknown command 'nope'\n(agentiso --help shows what there is)\n" },
    { argv: ['up', 'team.yaml'], want: "unexpected argument 'team.yaml'; files are named with -f\n(use: agentiso up -f team.yaml)\n" },
    {
      argv: ['apply', 'team.yaml'],
      want: "unexpected argument 'team.yaml'; files are named with -f\n(use: agentiso apply -f team.yaml)\n",
    },
    { argv: ['delete', 'team.yaml'], want: "'team.yaml' is no resource; files are named with -f\n(use: -f team.yaml)\n" },
    { argv: ['label', 'team', 'x', 'a=b', '-'], want: 'all resources must be specified before label changes: -' },
    { argv: ['wait', 'team/x', '--for=jsonpath={.a['], want: 'error: ' },
    { argv: ['auth', 'can-i'], want: 'you must specify two arguments' },
    { argv: ['get'], want: 'Required resource not specified.\n(agentiso api-resources lists what there is)\n' },
    { argv: ['version', 'extra'], want: 'too many arguments' },
    { argv: [], want: 'Usage: agentiso' },
  ])('$argv ends with 2 and says why', async ({ argv, want }) => {
    const { code, out, err } = await run(argv);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(want);
    // One line for what is wrong, one for what to do; only a call without any word gets the whole help.
    if (argv.length > 0) expect(err.split('\n').length).toBeLessThanOrEqual(3);
  });

  it.each([{ argv: ['--help'] }, { argv: ['up', '--help'] }, { argv: ['help'] }])('$argv is an answer', async ({ argv }) => {
    const { code, out, err } = await run(argv);
    expect([code, err]).toEqual([0, '']);
    expect(out).toContain('Usage: agentiso');
  });

  it.each([['version'], ['--version']])('%s prints the version', async (argument) => {
    const { code, out } = await run([argument]);
    expect([code, out]).toEqual([0, expect.stringContaining('1.2.3')]);
  });
});

describe('validate', () => {
  it('says of each object that it is valid', async () => {
    expect(await run(['validate', hello])).toEqual({ code: 0, out: 'team/hello valid\ntask/hello-greet valid\n', err: '' });
  });

  it('reads standard input', () => {
    const args = ['--import', 'tsx', join(root, 'src', 'main.ts'), 'validate', '-'];
    const input = 'apiVersion: agentiso.dev/v1alpha1\nkind: Task\nmetadata: {name: a}\nspec: {team: b}\n';
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { input, encoding: 'utf8', cwd: root, timeout: 15_000 });
    expect([status, stdout, stderr]).toEqual([
      1,
      '',
      '-:4:1: spec: Invalid value: "object": set exactly one of command (run as a shell command) and prompt (given to the agent)\n',
    ]);
  });

  it('ends with 1 for a file that does not exist, with a hint and without a stack', async () => {
    expect(await run(['validate', '/nowhere.yaml'])).toEqual({
      code: 1,
      out: '',
      err: 'agentiso: the path "/nowhere.yaml" does not exist\n  give a YAML or JSON file, a folder of them, or - for standard input\n',
    });
  });
});

describe('serve', () => {
  const ended = new AbortController();
  ended.abort();
  const daemon = { url: 'https://x', kubeconfig: 'k', stop: async () => {} } as unknown as RunningDaemon;
  const serve = (...argv: string[]) => run(['serve', ...argv], { signal: ended.signal, startDaemon: async () => daemon });

  it('warns once when it can be reached from other machines', async () => {
    expect(await serve('--listen', '0.0.0.0:7443')).toEqual({
      code: 0,
      out: 'agentiso ready: https://x (KUBECONFIG=k)\n',
      err: 'Warning: --listen 0.0.0.0 lets other machines reach this daemon; whoever has a token of HOME/kubeconfig can run commands here\n',
    });
  });

  it.each([[], ['--listen', ':7443'], ['--listen', '[::1]:7443']])('has nothing to warn of with %j', async (...argv) => {
    expect(await serve(...argv.flat())).toMatchObject({ code: 0, err: '' });
  });

  it('says what the machine refuses without a stack', async () => {
    const refused = Object.assign(new Error("EMFILE: too many open files, open '/x'"), { code: 'EMFILE', syscall: 'open' });
    expect(await run(['serve', '--home', '/x'], { startDaemon: () => Promise.reject(refused) })).toEqual({
      code: 1,
      out: '',
      err: "agentiso: EMFILE: too many open files, open '/x'\n",
    });
  });

  it('says in one line that its directory cannot be used', async () => {
    const startDaemon = () => Promise.reject(Object.assign(new Error('EROFS: read-only file system'), { code: 'EROFS' }));
    expect(await run(['serve', '--home', '/x'], { startDaemon })).toEqual({
      code: 1,
      out: '',
      err: 'agentiso: /x is on a disk that is mounted read-only; choose another one with --home DIR\n',
    });
  });
});

describe('up', () => {
  it('does not start anything for a manifest with a mistake in it', async () => {
    const { code, err } = await run(['up', '-f', join(root, 'package.json')]);
    expect(code).toBe(1);
    expect(err).toMatch(/package\.json:1:1: kind: Required value; expected one of Team, Agent, Task, Merge, Snapshot/);
  });

  it('shows the stack of a bug', async () => {
    const { code, err } = await run(['up', '-f', hello]);
    expect(code).toBe(1);
    expect(err).toMatch(/^agentiso: this test starts no daemon\nError: this test starts no daemon\n {4}at /);
  });
});
