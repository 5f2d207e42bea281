import { mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resolveInWorkspace } from './workspace-path.ts';

let base: string;
let root: string;

beforeAll(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'agentiso-path-')));
  root = join(base, 'root');
  await mkdir(join(root, 'src', 'deep'), { recursive: true });
  await mkdir(join(base, 'root-beside'));
  await symlink(base, join(root, 'out'));
  await symlink('src', join(root, 'in'));
});

afterAll(() => rm(base, { recursive: true }));

describe('resolveInWorkspace', () => {
  it.each([
    { path: '/workspace', want: '.' },
    { path: '/workspace/', want: '.' },
    { path: '/workspace/src', want: 'src' },
    { path: 'src/deep', want: 'src/deep' },
    { path: '.', want: '.' },
    { path: 'src/../src', want: 'src' },
    { path: '/workspace/in/deep', want: 'src/deep' },
  ])('takes $path', async ({ path, want }) => {
    expect(await resolveInWorkspace(root, path)).toBe(join(root, want).replace(/\/$/, ''));
  });

  it('takes the real path of something inside', async () => {
    expect(await resolveInWorkspace(root, join(root, 'src'))).toBe(join(root, 'src'));
  });

  it.each([
    '..',
    '/workspace/..',
    'src/../..',
    '/',
    '/etc',
    '../root-beside',
    'out',
    '/workspace/out/root-beside',
    '/workspace-x',
    'missing',
  ])('refuses %s', async (path) => {
    await expect(resolveInWorkspace(root, path)).rejects.toThrow();
  });
});
