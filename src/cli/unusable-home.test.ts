import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UnavailableError } from '#lib/errors.ts';
import { homeProblem, onHome } from './unusable-home.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'unusable-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const failure = (code: string, path?: string) => Object.assign(new Error(`${code}: it failed`), { code, path });

describe('homeProblem', () => {
  it.each([
    { code: 'EACCES', want: () => `${folder} cannot be written to: it belongs to user ${userInfo().username}` },
    { code: 'EROFS', want: () => `${folder}/home is on a disk that is mounted read-only` },
    { code: 'ENOSPC', want: () => `no space left on the disk of ${folder}/home; make room, or choose` },
    { code: 'ENAMETOOLONG', want: () => `${folder}/home is too long for a path` },
  ])('says what $code means', ({ code, want }) => {
    const said = homeProblem(failure(code, join(folder, 'home', 'state')), join(folder, 'home'));
    expect(said).toContain(want());
    expect(said).toMatch(/ choose another one with --home DIR$/);
  });

  it('names a link that leads nowhere', () => {
    const link = join(folder, 'link');
    symlinkSync(join(folder, 'gone'), link);
    const want = `${link} is a link to something that does not exist; choose another one with --home DIR`;
    expect(homeProblem(failure('ENOENT', join(link, 'home', 'state')), join(link, 'home'))).toBe(want);
    expect(homeProblem(failure('ENOENT', link), link)).toBe(want);
  });

  it('names the folder that takes no folders', () => {
    expect(homeProblem(failure('ENOENT', '/proc/home'), '/proc/home')).toBe(
      '/proc/home cannot be made: /proc takes no new folders; choose another one with --home DIR',
    );
  });

  it('looks for the cause of an error of ours', () => {
    expect(homeProblem(new UnavailableError('cannot write', { cause: failure('ENOSPC') }), 'x')).toMatch(
      /^no space left on the disk of x;/,
    );
  });

  it.each([
    failure('EADDRINUSE'),
    failure('EACCES', '/elsewhere'),
    Object.assign(failure('EACCES'), { syscall: 'listen' }),
    new Error('a bug'),
    new UnavailableError('locked'),
    undefined,
  ])('is silent about %s', (error) => {
    expect(homeProblem(error, folder)).toBeUndefined();
  });
});

describe('onHome', () => {
  it('says of a file that it is one, in place of the error of the system', async () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    const start = async () => mkdirSync(join(file, 'state'), { recursive: true });
    await expect(onHome(file, start)).rejects.toThrow(`${file} is a file, not a folder; choose another one with --home DIR`);
  });

  it('passes on what is about something else', async () => {
    await expect(onHome(folder, () => Promise.reject(new Error('a bug')))).rejects.toThrow('a bug');
  });
});
