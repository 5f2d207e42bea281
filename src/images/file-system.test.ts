import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { settleTimes } from './ext4-times.ts';
import { fileSystemBytes, makeFileSystem } from './file-system.ts';
import { EPOCH_SECONDS } from './recipe.ts';
import { TOOL_PATH } from './run.ts';

const env = { PATH: TOOL_PATH };
const hasTools = ['mkfs.ext4', 'debugfs', 'e2fsck'].every((tool) => spawnSync(tool, ['-V'], { env }).error === undefined);
const { signal } = new AbortController();
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'agentiso-ext4-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** The same content, made at another time. */
function fill(root: string): void {
  mkdirSync(join(root, 'etc'), { recursive: true });
  writeFileSync(join(root, 'etc', 'old'), 'old');
  utimesSync(join(root, 'etc', 'old'), new Date(), 1_000_000_000);
  writeFileSync(join(root, 'etc', 'young'), 'young');
  symlinkSync('old', join(root, 'etc', 'link'));
  for (let at = 0; at < 300; at += 1) writeFileSync(join(root, 'etc', `file-${at}`), 'x'.repeat(at * 10));
}

function debugfs(image: string, request: string): string {
  return spawnSync('debugfs', ['-R', request, image], { env, encoding: 'utf8' }).stdout;
}

describe.skipIf(!hasTools)('makeFileSystem', () => {
  it('gives the same bytes for the same content, whenever it was written, and a whole file system', async () => {
    const images = [];
    for (const name of ['first', 'second']) {
      const root = join(folder, name, 'root');
      fill(root);
      // As long ago as another build may be.
      if (name === 'second') spawnSync('touch', ['-a', '-d', '2001-01-01', join(root, 'etc', 'young')]);
      images.push(join(folder, `${name}.ext4`));
      await makeFileSystem(root, join(folder, `${name}.ext4`), signal);
    }
    const [first = '', second = ''] = images;
    expect(readFileSync(first).equals(readFileSync(second))).toBe(true);
    const check = spawnSync('e2fsck', ['-fn', first], { env, encoding: 'utf8' });
    expect([check.status, check.stdout]).toEqual([0, expect.not.stringContaining('FIXED')]);
    expect(debugfs(first, 'cat /etc/young')).toBe('young');
  });

  it('keeps the time of the content, unless it is younger than the recipe', async () => {
    fill(join(folder, 'root'));
    const image = join(folder, 'image');
    await makeFileSystem(join(folder, 'root'), image, signal);
    const seconds = (path: string, which: string) =>
      Number.parseInt(new RegExp(`^ *${which}: (0x[0-9a-f]+)`, 'm').exec(debugfs(image, `stat ${path}`))?.[1] ?? '', 16);
    for (const which of ['atime', 'ctime', 'mtime', 'crtime']) {
      expect([which, seconds('/etc/old', which), seconds('/etc/young', which)]).toEqual([which, 1_000_000_000, EPOCH_SECONDS]);
    }
  });

  it('refuses what is no such file system', async () => {
    writeFileSync(join(folder, 'other'), Buffer.alloc(8_192));
    const other = await open(join(folder, 'other'), 'r+');
    try {
      await expect(settleTimes(other, 0)).rejects.toThrow('it is none');
    } finally {
      await other.close();
    }
  });
});

describe('fileSystemBytes', () => {
  it('has room for everything and ends at a multiple of 4 MiB', () => {
    const bytes = fileSystemBytes({ blocks: 50_000, inodes: 8_000 });
    expect(bytes).toBeGreaterThan(50_000 * 4_096 + 8_000 * 256);
    expect(bytes % (4 * 1024 * 1024)).toBe(0);
  });
});
