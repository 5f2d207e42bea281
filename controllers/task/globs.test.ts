import { expect, it } from 'vitest';
import { overlap } from './globs.ts';

it.each([
  ['src/a.ts', 'src/a.ts', true],
  ['src/a.ts', 'src/b.ts', false],
  ['src/*.ts', 'src/a.ts', true],
  ['src/*.ts', 'src/*.js', false],
  ['src/*.ts', 'src/x/a.ts', false],
  ['src/**', 'src/x/a.ts', true],
  ['src/**', 'src', true],
  ['src/**/test.ts', 'src/test.ts', true],
  ['**/*.md', 'docs/kinds/task.md', true],
  ['**/*.md', 'src/**', true],
  ['docs/**', 'src/**', false],
  ['a*c', '*bc', true],
  ['a*c', 'a*d', false],
  ['a?c', 'abc', true],
  ['a?c', 'ac', false],
  ['[ab].ts', 'c.ts', true],
  ['{a,b}.ts', 'x.ts', true],
  ['./src/a.ts', 'src/a.ts', true],
  ['src/', 'src/deep/a.ts', true],
  ['src/', 'srcs/a.ts', false],
  ['*', 'a/b', false],
])('%s and %s: %s', (a, b, want) => {
  expect([overlap([a], [b]), overlap([b], ['nowhere/at/all', a])]).toEqual([want, want]);
});

it('takes patterns of strangers without running away', () => {
  const pattern = `${'*a'.repeat(200)}*b`;
  expect(overlap([`${'**/'.repeat(100)}x`], [`${'**/'.repeat(100)}y`])).toBe(false);
  expect(overlap([pattern], ['a'.repeat(500)])).toBe(false);
});
