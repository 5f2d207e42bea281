import { describe, expect, it } from 'vitest';
import { inOrder } from './list-order.ts';

describe('the order of a merged list', () => {
  it.each([
    ['what is new comes first', 'z', 'w', 'wz'],
    ['what was there stays where it was', 'ab', 'b', 'ab'],
    ['the patch has its way', 'ab', 'ba', 'ba'],
    ['others keep to their neighbours as far as they can', 'abcd', 'db', 'acdb'],
    ['nothing is asked for', 'ab', '', 'ab'],
    ['what is asked for and gone is passed over', 'ab', 'xb', 'ab'],
  ])('%s', (_, before, asked, want) => {
    const all = [...new Set([...before, ...asked])].filter((item) => item !== 'x');
    expect(inOrder({ all, asked: [...asked], before: [...before] }).join('')).toBe(want);
  });
});
