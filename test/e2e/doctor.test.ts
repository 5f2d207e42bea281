/** `agentiso doctor` on this machine, whatever it has: what it says must be so, and nothing may be different afterwards. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inTemporaryFolder, runCli } from '../support/cli.ts';

interface Report {
  readonly ok: boolean;
  readonly checks: readonly { readonly name: string; readonly state: string; readonly needed: boolean; readonly fix?: string }[];
}

const placed = (cwd: string, env: NodeJS.ProcessEnv = {}) => ({ cwd, env: { AGENTISO_HOME: undefined, TMPDIR: cwd, ...env } });

async function report(cwd: string, env: NodeJS.ProcessEnv = {}, args: readonly string[] = []) {
  const { code, stdout, stderr } = await runCli(['doctor', '-o', 'json', ...args], placed(cwd, env));
  expect(stderr).toBe('');
  const { ok, checks } = JSON.parse(stdout) as Report;
  return { code, ok, stateOf: (name: string) => checks.find((check) => check.name === name)?.state, checks };
}

describe('agentiso doctor', () => {
  it('says one line for each thing and leaves no trace', async () => {
    await inTemporaryFolder(async (cwd) => {
      const before = spawnSync('nft', ['list', 'ruleset'], { encoding: 'utf8' }).stdout;
      const { code, stdout, stderr } = await runCli(['doctor'], placed(cwd));
      expect([code, stderr]).toEqual([0, '']);
      const lines = stdout.split('\n\n')[0]?.split('\n') ?? [];
      expect(lines.map((line) => line.slice(10).split(/ {2,}/)[0])).toEqual([
        'node',
        'git',
        'home',
        'disk',
        'inotify',
        'socket',
        'user namespaces',
        'bubblewrap',
        'nft',
        'cgroups',
        'kvm',
        'qemu',
        'mmdebstrap',
        'kubectl',
        'vsock',
        'agents',
        'credentials',
      ]);
      for (const line of lines) expect(line).toMatch(/^(ok|missing|broken|unproven) /);
      expect(readdirSync(cwd)).toEqual([]);
      expect(spawnSync('nft', ['list', 'ruleset'], { encoding: 'utf8' }).stdout).toBe(before);
    });
  });

  it('finds what is missing on the path, and fails only for what is needed', async () => {
    await inTemporaryFolder(async (cwd) => {
      writeFileSync(join(cwd, 'kubectl'), 'not a program');
      const { code, ok, checks, stateOf } = await report(cwd, { PATH: cwd });
      expect([code, ok, stateOf('git'), stateOf('bubblewrap'), stateOf('kubectl')]).toEqual([1, false, 'missing', 'missing', 'missing']);
      expect(checks.find(({ name }) => name === 'git')?.fix).toMatch(/git$/);
    });
  });

  it('does not take a program for good because it is there', async () => {
    await inTemporaryFolder(async (cwd) => {
      const program = (name: string, text: string) => {
        writeFileSync(join(cwd, name), `#!/bin/sh\n${text}\n`);
        chmodSync(join(cwd, name), 0o755);
      };
      program('git', 'echo git version 2.50.1');
      program('bwrap', '[ "$1" = --version ] && echo bubblewrap 0.11.0 || { echo "bwrap: No permissions" >&2; exit 1; }');
      program('kubectl', 'exit 3');
      const { code, stateOf } = await report(cwd, { PATH: cwd });
      expect([code, stateOf('git'), stateOf('bubblewrap'), stateOf('kubectl')]).toEqual([0, 'ok', 'broken', 'broken']);
    });
  });

  it('fails for a home that cannot be', async () => {
    await inTemporaryFolder(async (cwd) => {
      writeFileSync(join(cwd, 'file'), '');
      mkdirSync(join(cwd, 'home'));
      const bad = await report(cwd, {}, ['--home', 'file/inner']);
      expect([bad.code, bad.stateOf('home')]).toEqual([1, 'broken']);
      const good = await report(cwd, {}, ['--home', 'home']);
      expect([good.code, good.stateOf('home')]).toEqual([0, 'ok']);
    });
  });
});
