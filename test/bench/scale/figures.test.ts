import { describe, expect, it } from 'vitest';
import { percentile } from './figures.ts';

describe('a percentile', () => {
  it.each([
    { name: 'one value is every percentile', values: [7], share: 0.99, is: 7 },
    { name: 'the median of an even number is the lower one', values: [4, 1, 3, 2], share: 0.5, is: 2 },
    { name: 'the 99th of a hundred leaves one out', values: Array.from({ length: 100 }, (_, index) => index + 1), share: 0.99, is: 99 },
    { name: 'the 100th is the largest', values: [3, 9, 1], share: 1, is: 9 },
  ])('$name', ({ values, share, is }) => expect(percentile(values, share)).toBe(is));

  it('of nothing is not a number, which no goal meets', () => expect(percentile([], 0.99)).toBeNaN());
});
