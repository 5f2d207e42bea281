import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cpioArchive, directory, file, link } from './cpio.ts';

const entries = [
  directory('bin'),
  file('bin/tool', Buffer.from([1, 2, 3, 4, 5]), 0o755),
  link('bin/other', 'tool'),
  directory('empty', 0o700),
  file('text', 'odd length\n'),
];

describe('cpioArchive', () => {
  it('pads names and content so that every header begins at a multiple of four', () => {
    const archive = cpioArchive(entries);
    const starts = [...archive.toString('latin1').matchAll(/070701[0-9A-F]{104}/g)].map(({ index }) => index);
    expect(starts).toHaveLength(entries.length + 1);
    expect(starts.filter((start) => start % 4 !== 0)).toEqual([]);
    expect(archive.length % 4).toBe(0);
  });

  it('gives the same bytes for the same entries', () => {
    expect(cpioArchive(entries).equals(cpioArchive(entries))).toBe(true);
  });

  it.each([
    { name: 'a file before its folder', wrong: [file('a/b', '')] },
    { name: 'an absolute path', wrong: [file('/a', '')] },
    { name: 'an empty path', wrong: [directory('')] },
    { name: 'a file below a file', wrong: [file('a', ''), file('a/b', '')] },
  ])('refuses $name', ({ wrong }) => {
    expect(() => cpioArchive(wrong)).toThrow();
  });

  it.skipIf(spawnSync('cpio', ['--version']).error !== undefined)('is what cpio reads', () => {
    const folder = mkdtempSync(join(tmpdir(), 'agentiso-cpio-'));
    try {
      execFileSync('cpio', ['-idm', '--quiet'], { cwd: folder, input: cpioArchive(entries) });
      expect([...readFileSync(join(folder, 'bin/tool'))]).toEqual([1, 2, 3, 4, 5]);
      expect(statSync(join(folder, 'bin/tool')).mode & 0o777).toBe(0o755);
      expect(statSync(join(folder, 'empty')).mode & 0o777).toBe(0o700);
      expect(readlinkSync(join(folder, 'bin/other'))).toBe('tool');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
