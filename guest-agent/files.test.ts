import { randomBytes } from 'node:crypto';
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ControlParams } from '#protocol/control.ts';
import { bundleGuest, type GuestBundle } from '../test/support/guest-bundle.ts';
import { type RunningGuest, startGuestProcess } from '../test/support/running-guest.ts';

let bundle: GuestBundle;
let guest: RunningGuest;
/** Beside the workspace: nothing may reach it. */
let outside: string;
let root: string;

beforeAll(async () => {
  bundle = await bundleGuest();
  guest = await startGuestProcess(bundle.path);
  outside = await realpath(await mkdtemp(join(tmpdir(), 'agentiso-outside-')));
  root = guest.workspace;
});

afterAll(async () => {
  await guest?.stop();
  await bundle?.remove();
  await rm(outside, { recursive: true });
});

beforeEach(async () => {
  for (const name of await readdir(root)) await rm(join(root, name), { recursive: true, force: true });
  await rm(outside, { recursive: true, force: true });
  await mkdir(outside);
  await writeFile(join(outside, 'secret'), 'secret');
});

async function read(params: ControlParams<'fileRead'>): Promise<{ content: Buffer; size: number }> {
  const { down, result } = guest.client.open('fileRead', params);
  result.catch(() => {});
  const [content, { size }] = await Promise.all([buffer(down.content).catch(() => Buffer.alloc(0)), result]);
  return { content, size };
}

async function write(params: ControlParams<'fileWrite'>, content: string | Uint8Array): Promise<number> {
  const { up, result } = guest.client.open('fileWrite', params);
  up.content.on('error', () => {});
  up.content.end(content);
  return (await result).bytes;
}

const contentOf = (path: string) => readFile(join(root, path), 'utf8');

describe('fileRead and fileWrite', () => {
  it('carry a file of many pieces there and back', async () => {
    const content = randomBytes(5_000_003);
    expect(await write({ path: '/workspace/deep/er/file.bin' }, content)).toBe(content.length);
    expect((await stat(join(root, 'deep/er/file.bin'))).mode & 0o777).toBe(0o644);
    const result = await read({ path: 'deep/er/file.bin' });
    expect(result.size).toBe(content.length);
    expect(result.content.equals(content)).toBe(true);
  });

  it.each([
    { offset: 2, limit: 3, want: 'cde' },
    { offset: 0, limit: 0, want: '' },
    { offset: 24, limit: 100, want: 'yz' },
    { offset: 26, want: '' },
    { offset: 99, want: '' },
    { limit: 1, want: 'a' },
  ])('reads from $offset, at most $limit', async ({ want, ...range }) => {
    await writeFile(join(root, 'letters'), 'abcdefghijklmnopqrstuvwxyz');
    const { content, size } = await read({ path: 'letters', ...range });
    expect({ text: content.toString(), size }).toEqual({ text: want, size: 26 });
  });

  it('give a new file the mode that was asked for, and leave the mode of an old one', async () => {
    await write({ path: 'script', mode: 0o750 }, 'one');
    expect((await stat(join(root, 'script'))).mode & 0o777).toBe(0o750);
    await write({ path: 'script' }, 'two');
    expect((await stat(join(root, 'script'))).mode & 0o777).toBe(0o750);
    await write({ path: 'script', mode: 0o600 }, 'three');
    expect((await stat(join(root, 'script'))).mode & 0o777).toBe(0o600);
    expect(await contentOf('script')).toBe('three');
  });

  it('append to what is there, or begin', async () => {
    await write({ path: 'log', append: true }, 'one ');
    await write({ path: 'log', append: true }, 'two');
    expect(await contentOf('log')).toBe('one two');
  });

  it('make no directories where that was not wanted', async () => {
    await expect(write({ path: 'a/b', makeParents: false }, 'x')).rejects.toMatchObject({ code: 'NotFound' });
    expect(await readdir(root)).toEqual([]);
  });

  it('leave the old content and no other file when a write is given up', async () => {
    await writeFile(join(root, 'file'), 'old');
    const controller = new AbortController();
    const { up, result } = guest.client.open('fileWrite', { path: 'file' }, { signal: controller.signal });
    up.content.on('error', () => {});
    up.content.write('half of the new');
    await guest.client.call('ping', {});
    controller.abort(new Error('enough'));
    await expect(result).rejects.toThrowError('enough');
    await expect.poll(() => readdir(root)).toEqual(['file']);
    expect(await contentOf('file')).toBe('old');
  });

  it('take no file over 32 MiB', async () => {
    const limit = 32 * 1024 * 1024;
    await writeFile(join(root, 'big'), '');
    await truncate(join(root, 'big'), limit + 1);
    await expect(read({ path: 'big' })).rejects.toMatchObject({ code: 'TooLarge' });
    expect((await read({ path: 'big', offset: 1, limit: 10 })).content.length).toBe(10);
    await expect(write({ path: 'big', append: true }, 'x')).rejects.toMatchObject({ code: 'TooLarge' });
    await expect(write({ path: 'huge' }, Buffer.alloc(limit + 1))).rejects.toMatchObject({ code: 'TooLarge' });
    expect(await readdir(root)).toEqual(['big']);
    expect(await write({ path: 'fits' }, Buffer.alloc(limit))).toBe(limit);
  });

  it('say what is wrong with a path', async () => {
    await mkdir(join(root, 'directory'));
    await writeFile(join(root, 'file'), '');
    await expect(read({ path: 'missing' })).rejects.toMatchObject({ code: 'NotFound', message: 'missing does not exist' });
    await expect(read({ path: 'file/below' })).rejects.toMatchObject({ code: 'NotFound' });
    await expect(read({ path: 'directory' })).rejects.toMatchObject({ code: 'Invalid', message: 'directory is not a plain file' });
    await expect(write({ path: 'directory' }, 'x')).rejects.toMatchObject({ code: 'Invalid' });
    await expect(write({ path: '.' }, 'x')).rejects.toMatchObject({ code: 'Invalid' });
    await expect(read({ path: 'a\0b' })).rejects.toMatchObject({ code: 'Invalid' });
    await expect(read({ path: 'x'.repeat(300) })).rejects.toMatchObject({ code: 'Invalid' });
  });

  it('do not wait for the other end of a pipe', async () => {
    await guest.client.call('exec', { command: 'mkfifo pipe', timeoutMs: 10_000 });
    await expect(read({ path: 'pipe' })).rejects.toMatchObject({ code: 'Invalid' });
    await expect(write({ path: 'pipe' }, 'x')).rejects.toMatchObject({ code: 'Invalid' });
    await expect(write({ path: 'pipe', append: true }, 'x')).rejects.toMatchObject({ code: 'Invalid' });
  });
});

describe('fileEdit', () => {
  const edit = (oldText: string, newText: string, path = 'file') => guest.client.call('fileEdit', { path, oldText, newText });

  it('replaces the first match and counts them all', async () => {
    await writeFile(join(root, 'file'), 'a b a b a');
    await chmod(join(root, 'file'), 0o711);
    expect(await edit('a', '$& €')).toEqual({ matches: 3 });
    expect(await contentOf('file')).toBe('$& € b a b a');
    expect((await stat(join(root, 'file'))).mode & 0o777).toBe(0o711);
  });

  it('keeps every other byte, the mark at the beginning too', async () => {
    await writeFile(join(root, 'file'), '\ufeffone\r\ntwo');
    await edit('two', '2');
    expect(await contentOf('file')).toBe('\ufeffone\r\n2');
  });

  it('loses none of several edits that come at once', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `<${index}>`);
    await writeFile(join(root, 'file'), names.join(' '));
    await Promise.all(names.map((name) => edit(name, name.replace('<', '['))));
    expect(await contentOf('file')).toBe(names.map((name) => name.replace('<', '[')).join(' '));
  });

  it('changes nothing where it finds nothing, or no text', async () => {
    await writeFile(join(root, 'file'), Buffer.from([0x61, 0xff, 0x62]));
    await expect(edit('a', 'b')).rejects.toMatchObject({ code: 'Invalid', message: 'file is not UTF-8 text' });
    await writeFile(join(root, 'file'), 'text');
    await expect(edit('zzz', 'b')).rejects.toMatchObject({ code: 'NotFound' });
    await expect(edit('', 'b')).rejects.toMatchObject({ code: 'Invalid' });
    await expect(edit('a', 'b', 'missing')).rejects.toMatchObject({ code: 'NotFound' });
    expect(await contentOf('file')).toBe('text');
  });
});

describe('fileList and fileStat', () => {
  it('describe what is there, sorted, links as links', async () => {
    await writeFile(join(root, 'b'), '12345');
    await mkdir(join(root, 'a'));
    await symlink('/etc/passwd', join(root, 'c'));
    await chmod(join(root, 'b'), 0o640);
    const { entries } = await guest.client.call('fileList', { path: '/workspace' });
    expect(entries.map(({ name, kind }) => [name, kind])).toEqual([
      ['a', 'directory'],
      ['b', 'file'],
      ['c', 'link'],
    ]);
    expect(entries[1]).toMatchObject({ size: 5, mode: 0o640, modified: expect.stringMatching(/^\d{4}-.*Z$/) });
    expect(await guest.client.call('fileStat', { path: 'b' })).toEqual(entries[1]);
    expect(await guest.client.call('fileStat', { path: 'c' })).toMatchObject({ name: 'c', kind: 'link' });
    expect(await guest.client.call('fileStat', { path: '/workspace' })).toMatchObject({ name: '.', kind: 'directory' });
  });

  it('say what is wrong with a path', async () => {
    await writeFile(join(root, 'file'), '');
    await expect(guest.client.call('fileList', { path: 'file' })).rejects.toMatchObject({ code: 'Invalid' });
    await expect(guest.client.call('fileList', { path: 'missing' })).rejects.toMatchObject({ code: 'NotFound' });
    await expect(guest.client.call('fileStat', { path: 'missing' })).rejects.toMatchObject({ code: 'NotFound' });
  });
});

describe('the way out of the workspace', () => {
  beforeEach(async () => {
    await symlink(outside, join(root, 'out'));
    await symlink(join(outside, 'secret'), join(root, 'out-file'));
    await symlink(join(outside, 'new'), join(root, 'out-dangling'));
    await mkdir(join(root, 'inside'));
    await writeFile(join(root, 'inside', 'file'), 'inside');
    await symlink('inside', join(root, 'in'));
    await symlink('inside/file', join(root, 'in-file'));
  });

  it.each([
    '..',
    '../secret',
    '/etc/passwd',
    'out/secret',
    'out-file',
    '/workspace/out/secret',
    'inside/../out/secret',
    '/proc/self/environ',
  ])('is closed to %s', async (path) => {
    const forbidden = { code: 'Forbidden', message: expect.stringContaining('outside the workspace') };
    await expect(read({ path })).rejects.toMatchObject(forbidden);
    await expect(write({ path }, 'changed')).rejects.toMatchObject(forbidden);
    await expect(write({ path, append: true }, 'changed')).rejects.toMatchObject(forbidden);
    await expect(guest.client.call('fileEdit', { path, oldText: 's', newText: 'x' })).rejects.toMatchObject(forbidden);
    expect(await readFile(join(outside, 'secret'), 'utf8')).toBe('secret');
  });

  it('is closed to lists, new files, new directories and links to nothing', async () => {
    await expect(guest.client.call('fileList', { path: 'out' })).rejects.toMatchObject({ code: 'Forbidden' });
    await expect(guest.client.call('fileStat', { path: 'out/secret' })).rejects.toMatchObject({ code: 'Forbidden' });
    await expect(write({ path: 'out/new' }, 'x')).rejects.toMatchObject({ code: 'Forbidden' });
    await expect(write({ path: 'out/deep/new' }, 'x')).rejects.toMatchObject({ code: 'Forbidden' });
    await expect(write({ path: 'out-dangling' }, 'x')).rejects.toMatchObject({ code: 'Forbidden' });
    await expect(write({ path: 'out-dangling/new' }, 'x')).rejects.toMatchObject({ code: 'NotFound' });
    expect(await readdir(outside)).toEqual(['secret']);
  });

  it('is not a link that stays inside: it is followed, and stays a link', async () => {
    expect((await read({ path: 'in/file' })).content.toString()).toBe('inside');
    await write({ path: 'in-file' }, 'through the link');
    await write({ path: 'in/other' }, 'below the link');
    expect(await readlink(join(root, 'in-file'))).toBe('inside/file');
    expect(await contentOf('inside/file')).toBe('through the link');
    expect(await contentOf('inside/other')).toBe('below the link');
    expect((await lstat(join(root, 'in'))).isSymbolicLink()).toBe(true);
  });

  it('is not told where the workspace really lies, when a link inside leads to what cannot be written', async () => {
    await symlink('inside', join(root, 'to-folder'));
    await symlink(join(root, 'inside', 'nothing'), join(root, 'to-nothing'));
    for (const path of ['to-folder', 'to-nothing', 'inside']) {
      const error = (await write({ path }, 'x').catch((refusal: unknown) => refusal)) as Error;
      expect(error.message).toMatch(/is not a plain file|is a link to nothing/);
      expect(error.message).not.toContain(guest.directory);
    }
  });

  it('stays closed while somebody swaps links as fast as they can', async () => {
    await mkdir(join(root, 'real'));
    await writeFile(join(root, 'real', 'secret'), 'public');
    await symlink('real', join(root, 'swapped'));
    await symlink('real/secret', join(root, 'swapped-file'));
    let isOver = false;
    const swap = async () => {
      // Each name is now a directory or file of the workspace, now a link out of it.
      for (let i = 0; !isOver; i++) {
        const [to, file] = i % 2 === 0 ? [outside, join(outside, 'secret')] : ['real', 'real/secret'];
        await symlink(to, join(root, `d${i}`)).then(() => rename(join(root, `d${i}`), join(root, 'swapped')));
        await symlink(file, join(root, `f${i}`)).then(() => rename(join(root, `f${i}`), join(root, 'swapped-file')));
      }
    };
    const swapping = swap();
    const outcomes = new Set<string>();
    const note = (name: string, call: Promise<unknown>) =>
      call.then(
        () => outcomes.add(`${name} ok`),
        (error: { code: string }) => outcomes.add(`${name} ${error.code}`),
      );
    for (let i = 0; i < 150; i++) {
      await note('write', write({ path: 'swapped/planted' }, 'planted'));
      await note('write', write({ path: 'swapped-file' }, 'public'));
      await note('append', write({ path: 'swapped-file', append: true }, ''));
      await note(
        'read',
        read({ path: 'swapped/secret' }).then(({ content }) => expect(content.toString()).toBe('public')),
      );
      await note(
        'read',
        read({ path: 'swapped-file' }).then(({ content }) => expect(content.toString()).toBe('public')),
      );
    }
    isOver = true;
    await swapping;
    expect(await readdir(outside)).toEqual(['secret']);
    expect(await readFile(join(outside, 'secret'), 'utf8')).toBe('secret');
    // Both sides of the race were seen, or it proved nothing; `read undefined` would be a secret that was read.
    expect(outcomes).toContain('read ok');
    expect(outcomes).toContain('read Forbidden');
    expect(outcomes).toContain('write Forbidden');
    expect(outcomes).not.toContain('read undefined');
  });
});
