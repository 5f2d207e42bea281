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
    { argv: ['validat'], want: "unknown command 'validat'\n(Did you mean validate?)" },
    { argv: ['deploy'], want: "unknown command 'deploy'" },
    { argv: ['validate'], want: "missing required argument 'files'" },
    { argv: ['validate', '--quiet', 'x'], want: "unknown option '--quiet'" },
    { argv: ['up'], want: "required option '-f, --filename <file>' not specified" },
    { argv: ['up', '-f', hello, '--log-leve', 'info'], want: "unknown option '--log-leve'\n(Did you mean --log-level?)" },
    {
      argv: ['up', '-f', hello, '--log-level', 'loud'],
      want: "argument 'loud' is invalid. Allowed choices are silent, error, warn, info, debug.",
    },
    { argv: ['version', 'extra'], want: 'too many arguments' },
    { argv: [], want: 'Usage: agentiso' },
  ])('$argv ends with 2 and says why', async ({ argv, want }) => {
    const { code, out, err } = await run(argv);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(want);
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
      err: 'agentiso: /nowhere.yaml: no such file or folder\n  give a YAML file, a folder of them, or - for standard input\n',
    });
  });
});

describe('up', () => {
  it('does not start anything for a manifest with a mistake in it', async () => {
    const { code, err } = await run(['up', '-f', join(root, 'package.json')]);
    expect(code).toBe(1);
    expect(err).toMatch(/package\.json:1:1: kind: Required value; expected one of Team, Agent, Task, Merge/);
  });

  it('shows the stack of a bug', async () => {
    const { code, err } = await run(['up', '-f', hello]);
    expect(code).toBe(1);
    expect(err).toMatch(/^agentiso: this test starts no daemon\nError: this test starts no daemon\n {4}at /);
  });
});
