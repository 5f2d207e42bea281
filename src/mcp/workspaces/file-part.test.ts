import { describe, expect, it } from 'vitest';
import { isText, partOfBytes, partOfText } from './file-part.ts';

const bytes = (text: string) => Buffer.from(text);

describe('partOfText', () => {
  it.each([
    { name: 'all of it', text: 'a\nb\n', offset: 0, limit: 9, want: { content: 'a\nb\n', total: 2 } },
    { name: 'the beginning', text: 'a\nb\nc', offset: 0, limit: 2, want: { content: 'a\nb\n', total: 3, nextOffset: 2 } },
    { name: 'a last line without an end', text: 'a\nb\nc', offset: 2, limit: 2, want: { content: 'c', total: 3 } },
    { name: 'empty lines', text: '\n\n\nx', offset: 1, limit: 2, want: { content: '\n\n', total: 4, nextOffset: 3 } },
    { name: 'nothing behind the end', text: 'a\n', offset: 5, limit: 2, want: { content: '', total: 1 } },
    { name: 'nothing of an empty file', text: '', offset: 0, limit: 2, want: { content: '', total: 0 } },
    {
      name: 'whole lines that fit',
      text: '€\n€\nab\n',
      offset: 0,
      limit: 9,
      maxBytes: 9,
      want: { content: '€\n€\n', total: 3, nextOffset: 2 },
    },
    { name: 'ends of other systems', text: 'a\r\nb', offset: 0, limit: 1, want: { content: 'a\r\n', total: 2, nextOffset: 1 } },
  ])('gives $name', ({ text, want, ...wanted }) => {
    expect(partOfText(bytes(text), wanted)).toEqual({ encoding: 'utf-8', ...want });
  });

  it('gives parts that are the file when they are put together', () => {
    const text = Array.from({ length: 57 }, (_, i) => `${'€'.repeat(i % 5)} line ${i}`).join('\n');
    let all = '';
    for (let offset: number | undefined = 0; offset !== undefined; ) {
      const part = partOfText(bytes(text), { offset, limit: 10, maxBytes: 100 });
      all += part.content;
      offset = part.nextOffset;
    }
    expect(all).toBe(text);
  });

  it('says how to read a line that no answer holds', () => {
    expect(() => partOfText(bytes(`a\n${'x'.repeat(50)}\n`), { offset: 1, limit: 1, maxBytes: 50 })).toThrow(
      expect.objectContaining({ code: 'TooLarge', message: 'line 2 has more than 50 bytes', hint: expect.stringContaining('base64') }),
    );
  });

  it('takes millions of lines for what they are', () => {
    const part = partOfText(Buffer.alloc(8_000_000, '\n'), { offset: 7_999_999, limit: 5 });
    expect(part).toEqual({ content: '\n', encoding: 'utf-8', total: 8_000_000 });
  });
});

describe('isText', () => {
  it.each([
    { name: 'nothing', content: Buffer.alloc(0), want: true },
    { name: 'characters', content: bytes('€\n\ufeff'), want: true },
    { name: 'a zero byte', content: bytes('a\0'), want: false },
    { name: 'half a character', content: bytes('€').subarray(0, 2), want: false },
  ])('judges $name', ({ content, want }) => {
    expect(isText(content)).toBe(want);
  });
});

describe('partOfBytes', () => {
  it('says where the rest begins', () => {
    expect(partOfBytes(bytes('bc'), 5, 1)).toEqual({ content: 'YmM=', encoding: 'base64', total: 5, nextOffset: 3 });
    expect(partOfBytes(bytes('de'), 5, 3)).toEqual({ content: 'ZGU=', encoding: 'base64', total: 5 });
  });
});
