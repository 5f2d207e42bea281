/** The walking skeleton: one file, one team, one agent, one task, from the command line to the guest and back. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inTemporaryFolder, manifests, runCli, startCli } from '../support/cli.ts';
import { processesMentioning } from '../support/processes.ts';

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

const placed = (tmp: string) => ({ cwd: tmp, env: { TMPDIR: tmp, AGENTISO_HOME: undefined } });
const runIn = (tmp: string, args: readonly string[]) => runCli(args, placed(tmp));

describe('agentiso up', () => {
  it('runs the task of manifests/hello.yaml, prints its result and, when it is temporary, leaves nothing behind', async () => {
    await inTemporaryFolder(async (tmp) => {
      const { code, stdout, stderr } = await runIn(tmp, ['up', '--temporary', '-f', join(manifests, 'hello.yaml')]);
      expect(stdout).toMatch(/^Hello from \S+, an agent of team hello\n$/);
      expect(stderr).toContain('task/hello-greet Succeeded');
      expect(code).toBe(0);
      expect(readdirSync(tmp)).toEqual([]);
      expect(processesMentioning(tmp)).toEqual([]);
    });
  });

  it('ends with 1 when a task fails, after as many attempts as it may have', async () => {
    await inTemporaryFolder(async (tmp) => {
      const file = join(tmp, 'team.yaml');
      const log = join(tmp, 'attempts');
      writeFileSync(file, TEAM + task('bad', `command: "echo run >> ${log}; echo oh no >&2; exit 7", maxAttempts: 2`));
      const { code, stderr } = await runIn(tmp, ['up', '-f', file]);
      expect(code).toBe(1);
      expect(stderr).toContain('attempt 2 of 2 exited with 7');
      expect(stderr).toContain('oh no');
      expect(readFileSync(log, 'utf8')).toBe('run\nrun\n');
    });
  });

  it('runs tasks in the order of their dependencies and gives up what a failure makes impossible', async () => {
    await inTemporaryFolder(async (tmp) => {
      const file = join(tmp, 'team.yaml');
      writeFileSync(
        file,
        TEAM +
          task('second', 'command: "echo second", dependsOn: [first]') +
          task('first', 'command: "echo first"') +
          task('broken', 'command: "exit 1", maxAttempts: 1') +
          task('never', 'command: "echo never", dependsOn: [broken]'),
      );
      const { code, stdout, stderr } = await runIn(tmp, ['up', '-f', file]);
      expect(stdout).toBe('first\nsecond\n');
      expect(stderr).toContain('task/try-never Blocked');
      expect(code).toBe(1);
    });
  });

  it('says file, line and what would be accepted when a manifest is wrong, and starts nothing', async () => {
    await inTemporaryFolder(async (tmp) => {
      const file = join(tmp, 'team.yaml');
      writeFileSync(file, TEAM.replace('roles:', 'rolez:'));
      const { code, stdout, stderr } = await runIn(tmp, ['up', '-f', file]);
      expect(code).toBe(1);
      expect(stdout).toBe('');
      expect(stderr).toContain(`${file}:6:3: unknown field "spec.rolez"; did you mean "roles"?`);
      expect(readdirSync(tmp)).toEqual(['team.yaml']);
    });
  });

  it('refuses isolation that this machine cannot give instead of running with less', async () => {
    await inTemporaryFolder(async (tmp) => {
      const file = join(tmp, 'team.yaml');
      const isolation = '{driver: process, requireLimits: true}';
      writeFileSync(file, TEAM.replace('{driver: process}', isolation) + task('x', 'command: "echo no"'));
      const { code, stdout, stderr } = await runIn(tmp, ['up', '-f', file]);
      expect(stderr).toContain('isolation.requireLimits is set, and the process driver limits nothing');
      expect(stdout).toBe('');
      expect(code).toBe(1);
    });
  });

  it('on Ctrl-C ends its agents and their commands, and leaves nothing behind', async () => {
    await inTemporaryFolder(async (tmp) => {
      const file = join(tmp, 'team.yaml');
      writeFileSync(file, TEAM + task('long', `command: "sleep 1000 & echo $! > ${tmp}/pid; wait"`));
      const run = startCli(['up', '--temporary', '-f', file], placed(tmp));
      await run.said('task/try-long Running');
      run.child.kill('SIGINT');
      const { code } = await run.result;
      expect(code).toBe(130);
      expect(processesMentioning(tmp)).toEqual([]);
      expect(readdirSync(tmp).filter((name) => name !== 'team.yaml' && name !== 'pid')).toEqual([]);
    });
  });
});

it('starts nothing when a task is for somebody the team does not have', async () => {
  await inTemporaryFolder(async (tmp) => {
    const file = join(tmp, 'team.yaml');
    writeFileSync(file, TEAM + task('typo', 'command: "echo no", assignTo: wroker'));
    const { code, stderr } = await runIn(tmp, ['up', '-f', file]);
    expect(stderr).toContain(`${file}:11:`);
    expect(stderr).toContain('"wroker": team try has no agent or role of that name; did you mean "worker"?');
    expect(code).toBe(1);
    expect(readdirSync(tmp)).toEqual(['team.yaml']);
  });
});

describe('scripts/prepare', () => {
  const prepare = join(manifests, '..', 'scripts', 'prepare');

  /** A clone with a build that does what the test says, and an npm that does nothing. */
  function prepareIn(clone: string, build: string) {
    const bin = join(clone, 'bin');
    mkdirSync(join(clone, 'scripts'));
    mkdirSync(bin);
    writeFileSync(join(clone, 'package-lock.json'), '{}');
    writeFileSync(join(clone, 'scripts', 'build.mjs'), build);
    writeFileSync(join(bin, 'npm'), '#!/bin/sh\n', { mode: 0o755 });
    const env = { ...process.env, PATH: `${bin}:${process.env['PATH']}` };
    return spawnSync('sh', [prepare, clone], { env, encoding: 'utf8', timeout: 30_000 });
  }

  it('says what it does also where nobody has a terminal', async () => {
    await inTemporaryFolder(async (clone) => {
      const { status, stdout, stderr } = prepareIn(clone, '');
      expect([status, stdout, stderr]).toEqual([0, '', 'agentiso: installing dependencies (first use) ...\nagentiso: building ...\n']);
    });
  });

  it('shows what a build that failed has said', async () => {
    await inTemporaryFolder(async (clone) => {
      const { status, stderr } = prepareIn(clone, 'console.error("no such file"); process.exit(1);');
      expect([status, stderr]).toEqual([1, expect.stringMatching(/\nno such file\nagentiso: the build failed\n$/)]);
    });
  });
});
