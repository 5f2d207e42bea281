/** The programs of the build come with the code that V8 compiled for them. Without it everything works as well, only later. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const program = join(import.meta.dirname, '..', '..', 'dist', 'agentiso.js');
const say = join(import.meta.dirname, '..', 'support', 'say-compiled.cjs');
/** Node of another version does not take it either; that takes another Node to see. */
const OTHER_FLAG = '--no-opt';

function run(flags: readonly string[], args: readonly string[]) {
  return spawnSync(process.execPath, [...flags, '--require', say, program, ...args], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'] },
  });
}

describe.each([
  ['full', ['completion', 'bash'], 'complete'],
  ['get', ['get', 'tasks', '-o', 'nonsense'], ''],
  ['quick', ['version', '--client'], 'Client Version'],
])('the program %s', (_name, args, said) => {
  it('comes with compiled code that this Node takes', () => {
    const { stdout, stderr } = run([], args);
    expect(stderr).toContain('compiled code taken\n');
    expect(stdout).toContain(said);
  });

  it('runs all the same where Node does not take it', () => {
    const { stdout, stderr } = run([OTHER_FLAG], args);
    expect(stderr).toContain('compiled code refused\n');
    expect(stdout).toContain(said);
  });
});
