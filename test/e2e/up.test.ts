/** `agentiso up` on a directory that is kept, beside a daemon, and on a terminal. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type CliRun, inTemporaryFolder, runCli, startCli } from '../support/cli.ts';
import { processesMentioning } from '../support/processes.ts';
import { requires } from '../support/requirements.ts';
import { hasTerminals, startOnTerminal } from '../support/terminal.ts';

const TEAM = `apiVersion: agentiso.dev/v1alpha1
kind: Team
metadata: {name: try}
spec:
  isolation: {driver: process}
  roles: [{name: worker}]
`;

function task(name: string, spec: string): string {
  return `---\napiVersion: agentiso.dev/v1alpha1\nkind: Task\nmetadata: {name: try-${name}}\nspec: {team: try, ${spec}}\n`;
}

// biome-ignore-start lint/suspicious/noControlCharactersInRegex: what a terminal is told.
const UP = /\u001b\[\d+A/;
const SUCCEEDED = /task {3}one {5}\u001b\[32mSucceeded\u001b\[0m {2}[\d.]+s {2}worker/;
const COLOUR = /\u001b\[\d*m/;
const WITHOUT_WIDTH = /\u001b\[\d*[A-Z]|\r/g;
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: what a terminal is told.

interface Placed {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** A folder with a manifest in it that appends a line per run to `runs`. */
async function inProject(work: (folder: string, placed: Placed) => Promise<void>): Promise<void> {
  await inTemporaryFolder(async (folder) => {
    writeFileSync(join(folder, 'team.yaml'), TEAM + task('one', `command: "echo run >> ${folder}/runs; echo out; echo precious > work"`));
    await work(folder, { cwd: folder, env: { TMPDIR: folder, AGENTISO_HOME: undefined } });
    expect(processesMentioning(folder)).toEqual([]);
  });
}

const started: CliRun[] = [];
// A test that failed has not ended what it started.
afterEach(async () => {
  for (const run of started.splice(0)) {
    if (run.child.exitCode !== null || run.child.signalCode !== null) continue;
    run.child.kill('SIGKILL');
    await run.result;
  }
});

function start(args: readonly string[], placed: Placed): CliRun {
  const run = startCli(args, placed);
  started.push(run);
  return run;
}

async function serving(placed: Placed): Promise<CliRun> {
  const run = start(['serve'], placed);
  await run.said('agentiso ready');
  return run;
}

describe('agentiso up', () => {
  it.each([
    { name: 'is a file', home: (folder: string) => join(folder, 'team.yaml') },
    { name: 'would be in a file', home: (folder: string) => join(folder, 'team.yaml', 'home') },
  ])('says in one line that the directory $name, as serve does', async ({ home }) => {
    await inProject(async (folder, placed) => {
      const want = {
        code: 1,
        stdout: '',
        stderr: `agentiso: ${join(folder, 'team.yaml')} is a file, not a folder; choose another one with --home DIR\n`,
      };
      expect(await runCli(['serve', '--home', home(folder)], placed)).toEqual(want);
      expect(await runCli(['up', '-f', 'team.yaml', '--home', home(folder)], placed)).toEqual(want);
    });
  });

  it('ends at once when there is nothing to run', async () => {
    await inProject(async (folder, placed) => {
      writeFileSync(join(folder, 'map.yaml'), 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n');
      const { code, stderr } = await runCli(['up', '-f', 'map.yaml'], placed);
      expect(code).toBe(0);
      expect(stderr).toMatch(/\nconfigmap\/c created\nnothing to run: there is no team, agent or task in these files\n$/);
    });
  });

  it('says that a team without tasks runs on', async () => {
    await inProject(async (folder, placed) => {
      writeFileSync(join(folder, 'team.yaml'), TEAM);
      const run = start(['up', '-f', 'team.yaml'], placed);
      await run.said('no tasks in these files; the agents run until Ctrl-C');
      run.child.kill('SIGINT');
      expect((await run.result).code).toBe(0);
    });
  });

  it('names what failed in its last line', async () => {
    await inProject(async (folder, placed) => {
      writeFileSync(join(folder, 'team.yaml'), TEAM + task('good', 'command: "true"') + task('bad', 'command: "exit 7", maxAttempts: 1'));
      const { code, stderr } = await runCli(['up', '-f', 'team.yaml'], placed);
      expect(code).toBe(1);
      expect(stderr).toMatch(
        /task {3}bad {5}Failed {5}.*\n(?:.*\n)*\ndone: 1 of 2 tasks succeeded; failed: task\/try-bad\nlook around: agentiso serve .*\n$/,
      );
    });
  });

  it('does not end with 0 when its reader leaves before the tasks have ended', async () => {
    await inProject(async (folder, placed) => {
      writeFileSync(join(folder, 'team.yaml'), TEAM + task('long', 'command: "sleep 60"'));
      const program = join(import.meta.dirname, '..', '..', 'dist', 'agentiso.js');
      const script = `"${process.execPath}" "${program}" up -f team.yaml 2>&1 | head -n 1 > /dev/null; echo "\${PIPESTATUS[0]}"`;
      const { stdout } = spawnSync('bash', ['-c', script], {
        cwd: folder,
        env: { ...process.env, ...placed.env },
        encoding: 'utf8',
        timeout: 60_000,
      });
      expect(stdout).toBe('141\n');
    });
  });

  it('keeps what agents made in .agentiso, leads kubectl there, and runs nothing twice', async () => {
    await inProject(async (folder, placed) => {
      const first = await runCli(['up', '-f', '.'], placed);
      expect([first.code, first.stdout]).toEqual([0, 'out\n']);
      expect(first.stderr).toMatch(
        /^agentiso up: https:\/\/127\.0\.0\.1:\d+ {2}\(in another terminal: export KUBECONFIG=\.agentiso\/kubeconfig; kubectl get tasks\)\n/,
      );
      expect(existsSync(join(folder, '.agentiso', 'kubeconfig'))).toBe(true);
      const second = await runCli(['up', '-f', '.'], placed);
      expect([second.code, second.stdout]).toEqual([0, 'out\n']);
      expect(second.stderr).toContain('task/try-one unchanged\n');
      expect(second.stderr).toMatch(/task\/try-one already Succeeded in [\d.]+ s\n/);
      expect(readFileSync(join(folder, 'runs'), 'utf8')).toBe('run\n');
    });
  });

  it('says what an edit of a task that has ended does not do, and goes on with the workspace there was', async () => {
    await inProject(async (folder, placed) => {
      await runCli(['up', '-f', 'team.yaml'], placed);
      writeFileSync(join(folder, 'team.yaml'), TEAM + task('one', 'command: "echo other"') + task('two', 'command: "cat work"'));
      const { code, stdout, stderr } = await runCli(['up', '-f', 'team.yaml'], placed);
      expect(stderr).toContain(
        'task/try-one configured\ntask/try-one has ended before and does not run again; to run it anew: agentiso delete task/try-one',
      );
      expect(stdout.split('\n').sort()).toEqual(['', 'out', 'precious']);
      expect(code).toBe(0);
    });
  });

  it('takes back a failure that the manifest no longer asks for', async () => {
    await inProject(async (folder, placed) => {
      const file = join(folder, 'team.yaml');
      const refused = TEAM.replace('driver: process', 'driver: process, requireLimits: true').replace(
        'roles:',
        'tasks: [{name: x, command: echo done}]\n  roles:',
      );
      writeFileSync(file, refused);
      expect((await runCli(['up', '-f', file], placed)).code).toBe(1);
      writeFileSync(file, refused.replace(', requireLimits: true', ''));
      const { code, stdout } = await runCli(['up', '-f', file], placed);
      expect([code, stdout]).toEqual([0, 'done\n']);
    });
  });

  it('uses the daemon that runs on the directory, and leaves it running', async () => {
    await inProject(async (folder, placed) => {
      const serve = await serving(placed);
      writeFileSync(
        join(folder, 'team.yaml'),
        readFileSync(join(folder, 'team.yaml'), 'utf8').replaceAll('metadata: {', 'metadata: {namespace: prod, '),
      );
      const { code, stdout, stderr } = await runCli(['up', '-f', 'team.yaml'], placed);
      expect(stderr).toMatch(/^agentiso up: https:\/\/127\.0\.0\.1:\d+, the daemon that already runs on \.agentiso /);
      expect([code, stdout]).toEqual([0, 'out\n']);
      const again = await runCli(['up', '-f', 'team.yaml'], placed);
      expect(again.stderr).toContain('task/try-one already Succeeded');
      serve.child.kill('SIGTERM');
      expect((await serve.result).code).toBe(0);
    });
  });

  it('does not fail beside another one that is just starting on the directory', async () => {
    await inProject(async (folder, placed) => {
      const runs = [1, 2].map(() => start(['up', '-f', '.', '--stay'], placed));
      await Promise.all(runs.map((run) => run.said('1 of 1 tasks succeeded; still ')));
      // The one that uses the other's daemon goes first.
      for (const watching of [true, false]) {
        for (const run of runs) {
          const isWatching = await Promise.race([run.said('still watching').then(() => true), run.said('still serving').then(() => false)]);
          if (isWatching !== watching) continue;
          run.child.kill('SIGINT');
          expect(await run.result).toMatchObject({ code: 0, stdout: 'out\n' });
        }
      }
      expect(readFileSync(join(folder, 'runs'), 'utf8')).toBe('run\n');
    });
  });

  it('lets go of a daemon that is not its own on Ctrl-C', async () => {
    await inProject(async (folder, placed) => {
      const serve = await serving(placed);
      writeFileSync(join(folder, 'team.yaml'), TEAM + task('long', 'command: "sleep 1000"'));
      const up = start(['up', '-f', 'team.yaml'], placed);
      await up.said('task/try-long Running');
      up.child.kill('SIGINT');
      const { code, stderr } = await up.result;
      expect(code).toBe(130);
      expect(stderr).toContain('the daemon on .agentiso goes on with the tasks\n');
      expect(serve.child.exitCode).toBeNull();
      serve.child.kill('SIGTERM');
      await serve.result;
    });
  });

  it('says so when the daemon it uses ends', async () => {
    await inProject(async (folder, placed) => {
      const serve = await serving(placed);
      writeFileSync(join(folder, 'team.yaml'), TEAM + task('long', 'command: "sleep 1000"'));
      const up = start(['up', '-f', 'team.yaml'], placed);
      await up.said('task/try-long Running');
      serve.child.kill('SIGTERM');
      await serve.result;
      const { code, stderr } = await up.result;
      expect(code).toBe(1);
      expect(stderr).toMatch(/(?:no daemon answers at|the daemon at) \.agentiso/);
    });
  });

  it('with --stay goes on serving, and on Ctrl-C ends with the result', async () => {
    await inProject(async (_folder, placed) => {
      const run = start(['up', '-f', '.', '--stay'], placed);
      await run.said('done: 1 of 1 tasks succeeded; still serving, Ctrl-C ends\n');
      run.child.kill('SIGINT');
      expect(await run.result).toMatchObject({ code: 0, stdout: 'out\n' });
    });
  });

  it('serves a team without tasks until Ctrl-C, which is no failure', async () => {
    await inProject(async (folder, placed) => {
      writeFileSync(join(folder, 'team.yaml'), TEAM);
      const run = start(['up', '-f', '.'], placed);
      await run.said('agent/try-worker Ready');
      run.child.kill('SIGINT');
      expect((await run.result).code).toBe(0);
    });
  });

  it('does not complain of agents before they are made', async () => {
    await inProject(async (folder, placed) => {
      // Long enough to be said to run.
      writeFileSync(join(folder, 'team.yaml'), TEAM.replace('  roles', '  tasks: [{name: one, command: sleep 1}]\n  roles'));
      const { code, stderr } = await runCli(['up', '-f', 'team.yaml'], placed);
      expect(code).toBe(0);
      expect(stderr).not.toContain('Pending');
      expect(stderr).toContain('task/try-one Running');
      expect(stderr.indexOf('agent/try-worker Ready')).toBeLessThan(stderr.indexOf('task/try-one Running'));
    });
  });

  it('calls a dependency cycle one', async () => {
    await inProject(async (folder, placed) => {
      // Written by hand: what is refused at the door is reported where a file is followed.
      const tasks = join(folder, '.agentiso', 'resources', 'tasks', 'default');
      mkdirSync(tasks, { recursive: true });
      for (const [name, other] of ['ab', 'ba']) {
        writeFileSync(join(tasks, `try-${name}.yaml`), task(`${name}`, `command: "true", dependsOn: [${other}]`).replace('---\n', ''));
      }
      writeFileSync(join(folder, 'team.yaml'), TEAM);
      const { code, stderr } = await runCli(['up', '-f', 'team.yaml'], placed);
      expect(code).toBe(1);
      expect(stderr).toContain('a dependency cycle, it can never start');
      expect(stderr).toContain('wait for each other in a dependency cycle: task/try-a, task/try-b');
    });
  });

  it('tells what agents say to each other, once, and not again in the next run', async () => {
    await inProject(async (folder, placed) => {
      const say = 'team send lead ready when you are; team send orchestrator hello people';
      writeFileSync(
        join(folder, 'team.yaml'),
        TEAM.replace('[{name: worker}]', '[{name: worker}, {name: lead}]') + task('say', `command: "${say}", assignTo: worker`),
      );
      const first = await runCli(['up', '-f', 'team.yaml'], placed);
      expect(first.code).toBe(0);
      expect(first.stderr.match(/^message.*$/gm)).toEqual([
        'message/try worker to lead: ready when you are',
        'message/try worker to orchestrator: hello people',
      ]);
      expect((await runCli(['up', '-f', 'team.yaml'], placed)).stderr).not.toContain('message/try');
    });
  });

  it('does not take two words about where to keep things', async () => {
    const { code, stderr } = await runCli(['up', '-f', 'x', '--home', 'y', '--temporary']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('give either --home or --temporary')]);
  });
});

requires(hasTerminals, 'script (util-linux) makes terminals')('agentiso up on a terminal', () => {
  it('draws a table in place, ends by itself with the board and the result, and says how to look around', async () => {
    await inProject(async (_folder, placed) => {
      const run = startOnTerminal(['up', '-f', '.'], placed);
      expect(await run.code).toBe(0);
      expect(run.text()).toMatch(UP);
      expect(run.text()).toMatch(SUCCEEDED);
      expect(run.text()).toMatch(/done: 1 of 1 tasks succeeded\r?\nlook around: agentiso serve in one terminal; in another agentiso board/);
    });
  });

  it('stays with --stay, and ends with the result on Ctrl-C', async () => {
    await inProject(async (_folder, placed) => {
      const run = startOnTerminal(['up', '-f', '.', '--stay'], placed);
      await run.said('still serving, Ctrl-C ends');
      run.type('\u0003');
      expect(await run.code).toBe(0);
      expect(run.text()).toMatch(UP);
      expect(run.text()).toMatch(SUCCEEDED);
      // Neither the other screen nor a hidden cursor: nothing that would have to be undone.
      expect(run.text()).not.toContain('\u001b[?');
    });
  });

  it('ends with 130 on Ctrl-C in the middle, below what it has drawn', async () => {
    await inProject(async (folder, placed) => {
      writeFileSync(join(folder, 'team.yaml'), TEAM + task('long', 'command: "sleep 1000"'));
      const run = startOnTerminal(['up', '-f', '.'], placed);
      await run.said('Running');
      run.type('\u0003');
      expect(await run.code).toBe(130);
      expect(run.text()).toMatch(/stopping; Ctrl-C again ends at once\r?\n$/);
    });
  });

  it('cuts lines for a narrow terminal, and has no colours where none are wanted', async () => {
    await inProject(async (_folder, { cwd, env }) => {
      const run = startOnTerminal(['up', '-f', '.'], { cwd, env: { ...env, NO_COLOR: '1' }, columns: 20 });
      expect(await run.code).toBe(0);
      expect(run.text()).not.toMatch(COLOUR);
      const drawn = run
        .text()
        .split('\n')
        .filter((line) => line.includes('\u001b[K') && !/done: /.test(line));
      for (const line of drawn) expect(line.replace(WITHOUT_WIDTH, '').length).toBeLessThan(20);
      expect(drawn.length).toBeGreaterThan(0);
    });
  });
});

describe('agentiso orchestrate', () => {
  it('runs no more at once than it is told, and writes what became of every task', async () => {
    await inTemporaryFolder(async (folder) => {
      const alone = (name: string) =>
        `command: "mkdir ${folder}/at-work && sleep 0.1 && rmdir ${folder}/at-work && echo ${name} && echo problem >&2"`;
      const large = `dependsOn: [one], command: "head -c 300000 /dev/zero | tr '\\\\0' x; exit 3", maxAttempts: 1`;
      const tasks = ['one', 'two', 'three'].map((name) => task(name, alone(name))).join('');
      writeFileSync(join(folder, 'plan.yaml'), TEAM + tasks + task('large', large) + task('behind', 'dependsOn: [large], command: "true"'));
      const placed = { cwd: folder, env: { TMPDIR: folder, AGENTISO_HOME: undefined } };
      const dry = await runCli(['orchestrate', '-f', 'plan.yaml', '--dry-run'], placed);
      expect(dry).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('task/try-large would run after one\ntask/try-behind would run after large\n'),
      });
      expect(existsSync(join(folder, '.agentiso'))).toBe(false);
      const run = await runCli(['orchestrate', '-f', 'plan.yaml', '--max-parallel', '1', '--results', 'out', '--temporary'], placed);
      expect(run, run.stderr).toMatchObject({ code: 1, stderr: expect.stringContaining('results: out/summary.json') });
      const read = (...path: string[]) => readFileSync(join(folder, 'out', ...path), 'utf8');
      const summary = JSON.parse(read('summary.json'));
      expect(summary).toMatchObject({ exitCode: 1, total: 5, succeeded: 3, failed: 1, unfinished: 1 });
      expect(summary.tasks.map((each: { name: string; phase: string }) => `${each.name} ${each.phase}`)).toEqual([
        'try-behind Blocked',
        'try-large Failed',
        'try-one Succeeded',
        'try-three Succeeded',
        'try-two Succeeded',
      ]);
      expect([read('try-two', 'stdout.txt'), read('try-two', 'stderr.txt')]).toEqual(['two\n', 'problem\n']);
      expect(read('try-large', 'stdout.txt') === 'x'.repeat(300_000)).toBe(true);
      expect(JSON.parse(read('try-large', 'meta.json'))).toMatchObject({ phase: 'Failed', exitCode: 3, attempt: 1, owner: 'try-worker' });
      expect(read('try-behind', 'stdout.txt')).toBe('');
      expect(processesMentioning(folder)).toEqual([]);
    });
  });

  it('does not begin when the results have nowhere to go', async () => {
    await inProject(async (folder, placed) => {
      writeFileSync(join(folder, 'taken'), '');
      const { code, stderr } = await runCli(['orchestrate', '-f', 'team.yaml', '--results', 'taken'], placed);
      expect([code, stderr]).toEqual([2, expect.stringMatching(/^error: --results taken: EEXIST.*\n\(give a folder/)]);
      expect([existsSync(join(folder, '.agentiso')), existsSync(join(folder, 'runs'))]).toEqual([false, false]);
    });
  });

  it('says what a wrong number is', async () => {
    const { code, stderr } = await runCli(['orchestrate', '-f', 'x.yaml', '--max-parallel', 'many']);
    expect([code, stderr]).toEqual([2, expect.stringContaining("'--max-parallel' argument 'many' is invalid")]);
  });
});
