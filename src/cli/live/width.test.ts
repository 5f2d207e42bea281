import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cut, padded, widthOf } from './width.ts';

describe('widthOf', () => {
  it.each([
    { text: '', want: 0 },
    { text: 'plain', want: 5 },
    { text: 'é', want: 1 },
    { text: 'e\u0301', want: 1 },
    { text: '日本', want: 4 },
    { text: '🚀', want: 2 },
    { text: '…', want: 1 },
  ])('of $text is $want', ({ text, want }) => {
    expect(widthOf(text)).toBe(want);
  });
});

describe('cut', () => {
  it.each([
    { text: 'short', columns: 5, want: 'short' },
    { text: 'longer', columns: 5, want: 'long…' },
    { text: '日本語', columns: 4, want: '日…' },
    { text: 'x', columns: 0, want: '' },
    { text: 'xy', columns: 1, want: '…' },
  ])('$text to $columns: $want', ({ text, columns, want }) => {
    expect(cut(text, columns)).toBe(want);
  });

  it('never leaves more than fits', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(20), (text, columns) => {
        expect(widthOf(cut(text, columns))).toBeLessThanOrEqual(columns);
      }),
    );
  });
});

describe('padded', () => {
  it('counts columns, not characters', () => {
    expect(padded('日', 4)).toBe('日  ');
    expect(padded('long', 2)).toBe('long');
  });
});
