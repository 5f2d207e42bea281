import { describe, expect, it } from 'vitest';
import { pageOf } from './paging.ts';

const same = (item: string) => item;

function walk(all: readonly string[], size: number): string[][] {
  const pages: string[][] = [];
  let cursor: string | undefined;
  do {
    const page = pageOf(all, same, cursor, size);
    pages.push([...page.items]);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return pages;
}

describe('pageOf', () => {
  it.each([
    [[], 2, [[]]],
    [['b', 'a'], 2, [['a', 'b']]],
    [['c', 'b', 'a'], 2, [['a', 'b'], ['c']]],
    [
      ['d', 'c', 'b', 'a'],
      2,
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    ],
  ])('%j by %d', (all, size, want) => {
    expect(walk(all, size)).toEqual(want);
  });

  it('neither repeats nor misses anything when the list changes in between', () => {
    const first = pageOf(['a', 'b', 'c', 'd'], same, undefined, 2);
    expect(pageOf(['0', 'a', 'c', 'd', 'e'], same, first.nextCursor, 9).items).toEqual(['c', 'd', 'e']);
  });

  it.each(['', 'x', Buffer.from('{}').toString('base64url'), Buffer.from('[1]').toString('base64url')])(
    'refuses the cursor %j',
    (cursor) => {
      expect(() => pageOf(['a'], same, cursor)).toThrow('the cursor is not one that was given out here');
    },
  );
});
