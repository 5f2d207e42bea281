import { describe, expect, it } from 'vitest';
import { StalledError } from '#lib/errors.ts';
import { workspacePaths } from './paths.ts';

describe('workspacePaths', () => {
  it('keeps everything in one directory when that is short enough', () => {
    expect(workspacePaths('a1', { stateDir: '/state', tempDir: '/tmp' })).toEqual({
      directory: '/state/a1',
      workspace: '/state/a1/workspace',
      record: '/state/a1/record.json',
      log: '/state/a1/guest.log',
      socket: '/state/a1/run/guest.sock',
      socketDirectory: '/state/a1/run',
    });
  });

  it('keeps the socket elsewhere when its path would be too long, one place per workspace', () => {
    const stateDir = `/${'long/'.repeat(30)}state`;
    const sockets = ['a', 'b'].map((id) => workspacePaths(id, { stateDir, tempDir: '/tmp' }).socket);
    for (const socket of sockets) expect(socket).toMatch(/^\/tmp\/agentiso-[0-9a-f]{20}\/guest\.sock$/);
    expect(new Set(sockets).size).toBe(2);
  });

  it('uses every byte the kernel allows, and not one more', () => {
    const fixed = '/a/run/guest.sock'.length;
    const longest = workspacePaths('a', { stateDir: `/${'x'.repeat(107 - fixed - 1)}`, tempDir: '/tmp' }).socket;
    expect(longest).toHaveLength(107);
    expect(workspacePaths('a', { stateDir: `/${'x'.repeat(107 - fixed)}`, tempDir: '/tmp' }).socket).toMatch(/^\/tmp\//);
  });

  it.each(['', '.', '..', 'a/b', '../a', 'a\0', '-a', 'a'.repeat(129)])('refuses the id %j', (id) => {
    expect(() => workspacePaths(id, { stateDir: '/state', tempDir: '/tmp' })).toThrowError(StalledError);
  });

  it('needs a person when no path is short enough', () => {
    const long = `/${'x'.repeat(200)}`;
    expect(() => workspacePaths('a', { stateDir: long, tempDir: long })).toThrowError(/107 bytes/);
  });
});
