import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BoundedLines, type CutLine, eachLine } from './bounded-lines.ts';

function reader(maxBytes: number) {
  const lines: string[] = [];
  const cut: CutLine[] = [];
  const reading = new BoundedLines(maxBytes, { onLine: (line) => void lines.push(String(line)), onTooLong: (line) => void cut.push(line) });
  return { lines, cut, push: (text: string) => reading.push(Buffer.from(text)), reading };
}

describe('BoundedLines', () => {
  it('gives lines with their newlines, and none that are empty', () => {
    const { lines, push } = reader(100);
    push('a\n\nb\r\n\r\nc');
    expect(lines).toEqual(['a\n', 'b\r\n']);
    push('d\n');
    expect(lines).toEqual(['a\n', 'b\r\n', 'cd\n']);
  });

  it('gives the same lines however the bytes are cut', () => {
    const text = fc.array(
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).map((line) => line.replace(/[\r\n]/g, '-')),
      { maxLength: 8 },
    );
    fc.assert(
      fc.property(text, fc.array(fc.nat({ max: 200 }), { maxLength: 10 }), (words, cuts) => {
        const bytes = Buffer.from(words.map((word) => `${word}\n`).join(''));
        const places = [0, ...cuts.filter((at) => at < bytes.length).sort((a, b) => a - b), bytes.length];
        const { lines, reading } = reader(1_000);
        for (const [index, at] of places.entries()) reading.push(bytes.subarray(places[index - 1] ?? 0, at));
        expect(lines).toEqual(words.map((word) => `${word}\n`));
      }),
    );
  });

  it('knows what would come out as it came in', () => {
    const { push, reading } = reader(10);
    const isWhole = (text: string) => reading.isWhole(Buffer.from(text));
    expect(['a\n', 'a\nb\n', 'a', 'a\nb', '', `${'a'.repeat(10)}\n`].map(isWhole)).toEqual([true, true, false, false, false, false]);
    push('half');
    expect(isWhole('a\n')).toBe(false);
    push('\n');
    expect(isWhole('a\n')).toBe(true);
    push('too long for a line');
    expect(isWhole('a\n')).toBe(false);
  });

  it('finds each of the lines that came at once', () => {
    expect(eachLine(Buffer.from('a\nbc\n\n')).map(String)).toEqual(['a\n', 'bc\n', '\n']);
  });

  it('drops a line that is too long, keeps both its ends, and goes on', () => {
    const { lines, cut, push } = reader(1_000);
    push(`start${'x'.repeat(600)}`);
    push('y'.repeat(600));
    push('z'.repeat(600));
    push('end\nnext\n');
    expect(lines).toEqual(['next\n']);
    expect(cut).toHaveLength(1);
    expect(cut[0]?.head).toMatch(/^startx+$/);
    expect(cut[0]?.tail).toMatch(/^z+end\n$/);
  });

  it('does not keep the bytes of a line that it drops', () => {
    const { cut, push } = reader(1_000);
    for (let count = 0; count < 100; count++) push('x'.repeat(10_000));
    push('\n');
    expect(cut.map(({ head, tail }) => [head.length, tail.length])).toEqual([[256, 256]]);
  });

  it('forgets the beginning of a line', () => {
    const { lines, push, reading } = reader(100);
    push('half');
    reading.reset();
    push('whole\n');
    expect(lines).toEqual(['whole\n']);
  });
});
