import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Images, openImages } from './images.ts';
import { RECIPE_VERSION } from './recipe.ts';

const git = { name: 'git', version: '1', architecture: 'amd64', sha256: 'aa', size: 1 };
const { signal } = new AbortController();
let folder: string;
let directory: string;
let images: Images;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'agentiso-images-'));
  directory = join(folder, 'images');
  writeFileSync(join(folder, 'guest.cjs'), 'guest');
  images = openImages({ directory, guestFiles: { guestAgent: join(folder, 'guest.cjs') } });
});
afterEach(() => rmSync(folder, { recursive: true }));

function put(path: string, content: string | object): void {
  mkdirSync(join(directory, path, '..'), { recursive: true });
  writeFileSync(join(directory, path), typeof content === 'string' ? content : JSON.stringify(content));
}

/** As a build leaves them. */
function place(name: string, hash: string, recipe = RECIPE_VERSION): void {
  put(`names/${name}.json`, { name, hash });
  put(`roots/${hash}/root.ext4`, 'root');
  const root = { hash, recipe, kernel: 'k', node: { version: 'v20', sha256: 'bb' }, mkfs: '1', builtAt: '2026-01-01T00:00:00Z' };
  put(`roots/${hash}/record.json`, {
    ...root,
    rootBytes: 4,
    rootSha256: '4813494d137e1631bba301d5acab6e7bb7aa74ce1185d456565ef51d737677b2',
    packages: [git],
  });
  put('kernels/k/vmlinux', 'kernel');
  put('kernels/k/boot.cpio', 'boot');
  put('kernels/k/record.json', { hash: 'k', release: '6.1', package: git, vmlinuxBytes: 6, bootBytes: 4 });
}

describe('find', () => {
  it('gives the files of what is built, with an initramfs of this guest agent behind the kernel part', async () => {
    place('base', 'h1');
    const found = await images.find('base');
    expect(found).toMatchObject({ name: 'base', hash: 'h1', kernelRelease: '6.1', root: join(directory, 'roots/h1/root.ext4') });
    const initrd = readFileSync(found?.initrd ?? '');
    expect(initrd.toString('latin1', 0, 10)).toBe('boot070701');
    expect(initrd.includes('guest/guest-agent.cjs')).toBe(true);
    expect((await images.find('base'))?.initrd).toBe(found?.initrd);
    writeFileSync(join(folder, 'guest.cjs'), 'another');
    expect((await images.find('base'))?.initrd).not.toBe(found?.initrd);
  });

  it.each([
    { name: 'nothing was built', spoil: () => rmSync(directory, { recursive: true }) },
    { name: 'the root is cut short', spoil: () => truncateSync(join(directory, 'roots/h1/root.ext4'), 3) },
    { name: 'the record of the root is cut short', spoil: () => truncateSync(join(directory, 'roots/h1/record.json'), 30) },
    { name: 'the root has no record', spoil: () => rmSync(join(directory, 'roots/h1/record.json')) },
    { name: 'the kernel is gone', spoil: () => rmSync(join(directory, 'kernels/k'), { recursive: true }) },
    { name: 'the kernel is cut short', spoil: () => truncateSync(join(directory, 'kernels/k/vmlinux'), 1) },
    { name: 'it is of another recipe', spoil: () => place('base', 'h1', RECIPE_VERSION + 1) },
  ])('finds nothing when $name', async ({ spoil }) => {
    place('base', 'h1');
    spoil();
    expect(await images.find('base')).toBeUndefined();
    expect((await images.list())[0]).toEqual({ name: 'base', description: 'git and Node.js' });
  });
});

describe('verify', () => {
  it('tells whether the root is what was built', async () => {
    place('base', 'h1');
    expect(await images.verify('base')).toBe(true);
    writeFileSync(join(directory, 'roots/h1/root.ext4'), 'toor');
    expect(await images.verify('base')).toBe(false);
  });
});

describe('prune', () => {
  it('removes what no name leads to and leaves what can be asked for', async () => {
    place('base', 'h1');
    place('base', 'h2');
    put('scratch/left/file', 'x'.repeat(10_000));
    put('apt/archives/git_1_amd64.deb', 'kept');
    put('apt/archives/old_1_amd64.deb', 'old');
    put('initrds/young.cpio', 'young');
    put('initrds/old.cpio', 'old');
    utimesSync(join(directory, 'initrds/old.cpio'), 0, 0);
    const { removed } = await images.prune({ signal });
    expect(removed.map(({ path }) => path.slice(directory.length + 1)).sort()).toEqual([
      'apt/archives/old_1_amd64.deb',
      'initrds/old.cpio',
      'roots/h1',
      'scratch/left',
    ]);
    expect(readdirSync(join(directory, 'roots'))).toEqual(['h2']);
    expect((await images.find('base'))?.hash).toBe('h2');
    expect(existsSync(join(directory, 'apt/archives/git_1_amd64.deb'))).toBe(true);
    expect((await images.prune({ signal })).removed).toEqual([]);
  });

  it('gives up images for a budget, and says what is left', async () => {
    place('base', 'h1');
    const { keptBytes } = await images.prune({ signal, budgetBytes: 0 });
    expect([keptBytes, await images.find('base')]).toEqual([0, undefined]);
  });
});

describe('build', () => {
  it('knows which images there are before it begins', async () => {
    await expect(images.build('go', { signal })).rejects.toMatchObject({ reason: 'ImageNotFound' });
    expect(existsSync(directory)).toBe(false);
  });
});
