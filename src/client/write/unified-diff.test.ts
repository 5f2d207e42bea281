import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { unifiedDiff } from './unified-diff.ts';

const names = { from: 'a', to: 'b' };
const text = (...lines: readonly (string | number)[]) => lines.map((line) => `${line}\n`).join('');

describe('unifiedDiff', () => {
  it.each([
    { name: 'equal texts', from: text(1, 2), to: text(1, 2), want: '' },
    { name: 'both empty', from: '', to: '', want: '' },
    { name: 'a new file', from: '', to: text(1, 2), want: '--- a\n+++ b\n@@ -0,0 +1,2 @@\n+1\n+2\n' },
    { name: 'a file that goes', from: text(1), to: '', want: '--- a\n+++ b\n@@ -1 +0,0 @@\n-1\n' },
    { name: 'one line of three', from: text(1, 2, 3), to: text(1, 'x', 3), want: '--- a\n+++ b\n@@ -1,3 +1,3 @@\n 1\n-2\n+x\n 3\n' },
    { name: 'a missing line end', from: text(1), to: '1', want: '--- a\n+++ b\n@@ -1 +1 @@\n-1\n+1\n\\ No newline at end of file\n' },
    {
      name: 'two places far apart',
      from: text(1, 2, 3, 4, 5, 6, 7, 8, 9, 10),
      to: text('x', 2, 3, 4, 5, 6, 7, 8, 9, 'y'),
      want: '--- a\n+++ b\n@@ -1,4 +1,4 @@\n-1\n+x\n 2\n 3\n 4\n@@ -7,4 +7,4 @@\n 7\n 8\n 9\n-10\n+y\n',
    },
    {
      name: 'two places close together',
      from: text(1, 2, 3, 4, 5, 6, 7, 8),
      to: text('x', 2, 3, 4, 5, 6, 7, 'y'),
      want: '--- a\n+++ b\n@@ -1,8 +1,8 @@\n-1\n+x\n 2\n 3\n 4\n 5\n 6\n 7\n-8\n+y\n',
    },
  ])('shows $name', ({ from, to, want }) => {
    expect(unifiedDiff(from, to, names)).toBe(want);
  });

  it('is, for any two texts, what patch(1) needs to make one of the other', () => {
    const folder = mkdtempSync(join(tmpdir(), 'agentiso-test-'));
    const file = join(folder, 'file');
    const lines = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 }).map((all) => text(...all));
    const hasPatch = spawnSync('patch', ['--version']).status === 0;
    try {
      fc.assert(
        fc.property(lines, lines, (from, to) => {
          const diff = unifiedDiff(from, to, names);
          expect(diff === '').toBe(from === to);
          if (!hasPatch || from === '' || to === '') return;
          writeFileSync(file, from);
          const { status, stdout } = spawnSync('patch', ['--fuzz=0', file], { input: diff, encoding: 'utf8' });
          expect([status, readFileSync(file, 'utf8')], stdout).toEqual([0, to]);
        }),
        { numRuns: 60 },
      );
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('gives up searching for what two long and foreign texts have in common, and stays right', () => {
    const from = text(...Array.from({ length: 3000 }, (_, index) => `old ${index}`));
    const to = text(...Array.from({ length: 3000 }, (_, index) => `new ${index}`));
    expect(unifiedDiff(from, to, names)).toMatch(/^--- a\n\+\+\+ b\n@@ -1,3000 \+1,3000 @@\n-old 0\n/);
  });
});
