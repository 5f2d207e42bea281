import { describe, expect, it } from 'vitest';
import { StalledError } from '#lib/errors.ts';
import { socketIn, workspacePaths } from './paths.ts';

describe('workspacePaths', () => {
  it('keeps everything in one directory when that is short enough', () => {
    expect(workspacePaths('a1', { stateDir: '/state', tempDir: '/tmp' })).toEqual({
      directory: '/state/a1',
      workspace: '/state/a1/workspace',
      record: '/state/a1/record.json',
      log: '/state/a1/guest.log',
      state: '/state/a1/state',
      run: '/state/a1/run',
    });
  });

  it('keeps the sockets elsewhere when their path would be too long, one place per workspace', () => {
    const stateDir = `/${'long/'.repeat(30)}state`;
    const runs = ['a', 'b'].map((id) => workspacePaths(id, { stateDir, tempDir: '/tmp' }).run);
    for (const run of runs) expect(run).toMatch(/^\/tmp\/agentiso-[0-9a-f]{20}$/);
    expect(new Set(runs).size).toBe(2);
  });

  it('keeps them near in any case when the guest sees another path', () => {
    const stateDir = `/${'long/'.repeat(30)}state`;
    expect(workspacePaths('a', { stateDir }).run).toBe(`${stateDir}/a/run`);
  });

  it('uses every byte the kernel allows, and not one more', () => {
    const fixed = '/a/run/control.sock'.length;
    const longest = workspacePaths('a', { stateDir: `/${'x'.repeat(107 - fixed - 1)}`, tempDir: '/tmp' }).run;
    expect(socketIn(longest, 'control')).toHaveLength(107);
    expect(workspacePaths('a', { stateDir: `/${'x'.repeat(107 - fixed)}`, tempDir: '/tmp' }).run).toMatch(/^\/tmp\//);
  });

  it.each(['', '.', '..', 'a/b', '../a', 'a\0', '-a', 'a'.repeat(129)])('refuses the id %j', (id) => {
    expect(() => workspacePaths(id, { stateDir: '/state', tempDir: '/tmp' })).toThrowError(StalledError);
  });

  it('needs a person when no path is short enough', () => {
    const long = `/${'x'.repeat(200)}`;
    expect(() => workspacePaths('a', { stateDir: long, tempDir: long })).toThrowError(/107 bytes/);
  });
});
