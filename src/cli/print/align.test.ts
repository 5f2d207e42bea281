import { describe, expect, it } from 'vitest';
import { alignLines, alignText, DESCRIBE_STYLE, TABLE_STYLE } from './align.ts';

describe('columns', () => {
  it('are three spaces apart and at least six wide, and the last is not padded', () => {
    expect(
      alignLines(
        [
          ['NAME', 'A', 'X'],
          ['a', '1', 'yes'],
          ['longer-name', '', ''],
        ],
        TABLE_STYLE,
      ),
    ).toBe('NAME          A     X\na             1     yes\nlonger-name         \n');
  });

  it('count characters, not bytes', () => {
    expect(
      alignLines(
        [
          ['größer', 'x'],
          ['𝒳', 'y'],
        ],
        DESCRIBE_STYLE,
      ),
    ).toBe('größer  x\n𝒳       y\n');
  });

  it('begin anew after a line that does not have them', () => {
    const text = 'Name:\tx\nLong Title:\ty\nSpec:\n  A:\t1\n  Bcd:\t2\nEnd:\tz\n';
    expect(alignText(text, DESCRIBE_STYLE)).toBe('Name:        x\nLong Title:  y\nSpec:\n  A:    1\n  Bcd:  2\nEnd:    z\n');
  });

  it('keep their width for the rows that come later', () => {
    const style = { ...TABLE_STYLE, remembered: [] };
    expect(alignLines([['a-long-name', 'x']], style) + alignLines([['b', 'y']], style)).toBe('a-long-name   x\nb             y\n');
  });

  it('are painted without getting wider', () => {
    expect(alignLines([['ab', 'c']], { ...TABLE_STYLE, paint: (cell) => `<${cell}>` })).toBe('<ab>    <c>\n');
  });
});
