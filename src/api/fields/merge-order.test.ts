import { describe, expect, test } from 'vitest';
import { mergeOrder } from './merge-order.ts';

describe('the order of a merged list', () => {
  test.each([
    ['abc', 'b', 'abc'],
    ['abc', 'cb', 'acb'],
    ['ab', 'xby', 'axby'],
    ['abcd', 'dxb', 'acdxb'],
    ['', 'ab', 'ab'],
    ['aab', 'b', 'aab'],
    ['aab', 'a', 'ab'],
  ])('the order of %s and %s is %s', (left, right, merged) => {
    expect(
      mergeOrder([...left], [...right])
        .map(({ element }) => element)
        .join(''),
    ).toBe(merged);
  });
});
