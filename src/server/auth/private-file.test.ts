import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ensurePrivateDirectory, readPrivateFile, writePrivateFile } from './private-file.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'agentiso-private-'));
});
afterEach(() => rm(dir, { recursive: true }));

const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

it('a file is private from its first byte, whatever an earlier attempt left behind', async () => {
  const path = join(dir, 'secret');
  await writeFile(`${path}.new`, 'left');
  await chmod(`${path}.new`, 0o666);
  await writePrivateFile(path, 'text');
  expect(await readFile(path, 'utf8')).toBe('text');
  expect(await modeOf(path)).toBe(0o600);
  expect(await readdir(dir)).toEqual(['secret']);
});

it('a link in the place of the temporary file leads nowhere', async () => {
  await writeFile(join(dir, 'victim'), 'untouched');
  await symlink(join(dir, 'victim'), join(dir, 'secret.new'));
  await writePrivateFile(join(dir, 'secret'), 'text');
  expect(await readFile(join(dir, 'victim'), 'utf8')).toBe('untouched');
});

it('a file that cannot be written leaves nothing behind', async () => {
  await mkdir(join(dir, 'folder', 'inside'), { recursive: true });
  await expect(writePrivateFile(join(dir, 'folder'), 'text')).rejects.toMatchObject({
    code: 'IoError',
    message: expect.stringContaining(join(dir, 'folder')),
  });
  expect(await readdir(dir)).toEqual(['folder']);
});

it('reading gives undefined for a missing file and an error for anything else', async () => {
  expect(await readPrivateFile(join(dir, 'none'))).toBeUndefined();
  await expect(readPrivateFile(dir)).rejects.toMatchObject({ code: 'IoError' });
});

it('a folder that was open to others is closed', async () => {
  await chmod(dir, 0o755);
  await ensurePrivateDirectory(dir);
  expect(await modeOf(dir)).toBe(0o700);
});
