import { existsSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeFolder } from './make-folder.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'make-folder-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('makeFolder', () => {
  it('makes it with all above it, for nobody else to read', () => {
    makeFolder(join(folder, 'a', 'b'));
    expect(statSync(join(folder, 'a', 'b')).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, 'a')).mode & 0o777).toBe(0o700);
  });

  it('leaves one that is there alone, also behind a link', () => {
    symlinkSync(folder, join(folder, 'link'));
    makeFolder(join(folder, 'link'));
    makeFolder(join(folder, 'link', 'x'));
    expect(existsSync(join(folder, 'x'))).toBe(true);
  });

  it('ends where nothing can be made, which mkdir of Node with all above it never does', () => {
    expect(() => makeFolder('/proc/home/state')).toThrow(/^ENOENT: .*'\/proc\/home'/);
  });

  it.each(['', 'state'])('says that a link leads nowhere: link/%s', (below) => {
    symlinkSync(join(folder, 'gone'), join(folder, 'link'));
    expect(() => makeFolder(join(folder, 'link', below))).toThrow(/^ENOENT: /);
  });

  it.each(['', 'state'])('says that something else is in the way: file/%s', (below) => {
    writeFileSync(join(folder, 'file'), '');
    expect(() => makeFolder(join(folder, 'file', below).replace(/\/$/, ''))).toThrow(/^(EEXIST|ENOTDIR): /);
  });
});
