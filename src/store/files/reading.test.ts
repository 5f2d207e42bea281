import {
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAX_DOCUMENT_BYTES } from '#api/manifest.ts';
import { looksWhole, readEdit, SETTLE_MS } from './reading.ts';
import { keepRejected, rejectedPath, setAside } from './rejected.ts';
import type { FileState } from './state.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'agentiso-reading-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, content: string | Buffer): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

describe('readEdit', () => {
  it('reads text, without a byte order mark', () => {
    expect(readEdit(file('good.yaml', '\uFEFFkind: Team ü\n'))).toMatchObject({
      is: 'text',
      text: 'kind: Team ü\n',
      fingerprint: { size: 17, inode: expect.any(Number), modifiedMs: expect.any(Number) },
    });
  });

  it('knows what is not there', () => {
    expect(readEdit(join(folder, 'absent.yaml'))).toEqual({ is: 'missing' });
  });

  it.each([
    {
      name: 'a symbolic link',
      make: (path: string) => symlinkSync('/etc/hostname', path),
      want: { is: 'foreign', what: 'a symbolic link' },
    },
    { name: 'a dangling link', make: (path: string) => symlinkSync('nowhere', path), want: { is: 'foreign', what: 'a symbolic link' } },
    { name: 'a folder', make: (path: string) => void mkdirSync(path), want: { is: 'foreign', what: 'a folder' } },
    {
      name: 'bytes that are no text',
      make: (path: string) => writeFileSync(path, Buffer.from([0x61, 0xff, 0xfe])),
      want: { is: 'unreadable', problem: 'not UTF-8 text; save the file as UTF-8' },
    },
    {
      name: 'more than one object may have',
      make: (path: string) => writeFileSync(path, 'x'.repeat(MAX_DOCUMENT_BYTES + 1)),
      want: { is: 'unreadable', problem: 'too large: 1048577 bytes; at most 1048576 (1 MiB) are accepted' },
    },
  ])('says that it is $name', ({ name, make, want }) => {
    const path = join(folder, `${name.replaceAll(' ', '-')}.yaml`);
    make(path);
    // At rest: a save under way may stop inside a letter and is looked at again.
    lutimesSync(path, 1, 1);
    expect(readEdit(path)).toEqual(want);
  });
});

describe('looksWhole', () => {
  const now = 1_000_000;
  const before = `kind: Box\nspec:\n  size: 1\nstatus:\n  phase: ${'Ready '.repeat(10)}\n`;
  const state: FileState = { shows: {} as FileState['shows'], version: 1, inode: 1, size: 1, modifiedMs: 1, checksum: 1, text: before };
  const at = (modifiedMs: number) => ({ inode: 1, size: 1, modifiedMs });

  it.each([
    { name: 'takes a file that has rested', text: 'kind: B', age: SETTLE_MS, known: undefined, want: true },
    { name: 'waits for one that has not', text: 'kind: B\n', age: SETTLE_MS - 1, known: undefined, want: false },
    { name: 'takes one that ends as it did before', text: before.replace('size: 1', 'size: 2'), age: 0, known: state, want: true },
    { name: 'waits for one that breaks off', text: before.slice(0, 20), age: 0, known: state, want: false },
    { name: 'waits for one without its last line end', text: before.trimEnd(), age: 0, known: state, want: false },
    { name: 'takes one whose clock is far ahead', text: 'kind: B', age: -SETTLE_MS - 1, known: undefined, want: true },
  ])('$name', ({ text, age, known, want }) => {
    expect(looksWhole(text, at(now - age), known, now)).toBe(want);
  });
});

describe('a refused text', () => {
  it('is kept beside its file, the older one under a number, the same one once', () => {
    const home = join(folder, 'refused');
    mkdirSync(home);
    const path = join(home, 'a.yaml');
    for (const text of ['first', 'first', 'second', 'third', 'second']) keepRejected(path, text);
    expect(readdirSync(home).sort()).toEqual(['a.yaml.rejected', 'a.yaml.rejected.1', 'a.yaml.rejected.2', 'a.yaml.rejected.3']);
    const texts = readdirSync(home)
      .sort()
      .map((name) => readFileSync(join(home, name), 'utf8'));
    expect(texts).toEqual(['second', 'first', 'second', 'third']);
    expect(statSync(rejectedPath(path)).mode & 0o777).toBe(0o600);
  });

  it('is not written through a link that leads out of the directory', () => {
    const home = join(folder, 'linked');
    mkdirSync(home);
    const path = join(home, 'a.yaml');
    symlinkSync(join(folder, 'outside'), rejectedPath(path));
    keepRejected(path, 'text');
    expect(readEdit(join(folder, 'outside'))).toEqual({ is: 'missing' });
    expect(readFileSync(rejectedPath(path), 'utf8')).toBe('text');
  });

  it('is moved as it is when it is no text, and overwrites nothing', () => {
    const home = join(folder, 'aside');
    mkdirSync(home);
    const path = join(home, 'a.yaml');
    for (const target of ['one', 'two']) {
      symlinkSync(target, path);
      setAside(path);
    }
    expect(
      readdirSync(home)
        .sort()
        .map((name) => [name, readlinkSync(join(home, name))]),
    ).toEqual([
      ['a.yaml.rejected', 'one'],
      ['a.yaml.rejected.1', 'two'],
    ]);
  });
});
