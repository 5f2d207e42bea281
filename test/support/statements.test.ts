/** docs/designs/0010-statements.md says which tests check the acceptance statements: they are there. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const COUNT = 46;

interface Row {
  readonly id: string;
  readonly tests: readonly { readonly file: string; readonly name: string }[];
  readonly gap: string;
}

function rowsOf(page: string): Row[] {
  return [...page.matchAll(/^\| (Q\d+) \| (.*) \| (.*?) ?\|$/gm)].map(([, id = '', cell = '', gap = '']) => ({
    id,
    gap,
    tests: [...cell.matchAll(/`([^`:]+): ([^`]+)`/g)].map(([, file = '', name = '']) => ({ file, name })),
  }));
}

const rows = rowsOf(readFileSync(join(ROOT, 'docs/designs/0010-statements.md'), 'utf8'));

it('has every statement once, in order', () => {
  expect(rows.map(({ id }) => id)).toEqual(Array.from({ length: COUNT }, (_, index) => `Q${index + 1}`));
});

it('says why where there is no test', () => {
  expect(rows.filter(({ tests, gap }) => tests.length === 0 && gap === '').map(({ id }) => id)).toEqual([]);
});

describe.each(rows.filter(({ tests }) => tests.length > 0))('$id', ({ tests }) => {
  it.each(tests)('$file: $name', ({ file, name }) => {
    expect(file).toMatch(/^(test|src|controllers|guest-agent)\/.*\.test\.ts$/);
    const titles = readFileSync(join(ROOT, file), 'utf8')
      .split('\n')
      .filter((line) => /\b(it|test)\b|^\s*\]\)\(|^\s*['"`]/.test(line));
    expect(titles.some((line) => line.includes(name))).toBe(true);
  });
});
