import { describe, expect, it } from 'vitest';
import { splitLines } from './watcher.ts';

function linesOf(...pieces: string[]): string[] {
  const lines: string[] = [];
  const take = splitLines((line) => lines.push(line.toString()));
  for (const piece of pieces) take(Buffer.from(piece));
  return lines;
}

describe('the lines of a watch', () => {
  it.each([
    { name: 'a whole chunk', pieces: ['9\r\n{"a":{}}\n\r\n'], want: [/\{"a":\{\}\}$/] },
    { name: 'two chunks in one piece', pieces: ['8\r\n{"a":1}\n\r\n8\r\n{"b":2}\n\r\n'], want: [/\{"a":1\}$/, /\{"b":2\}$/] },
    { name: 'a line in three pieces', pieces: ['8\r\n{"a"', ':1}', '\n\r\n'], want: [/\{"a":1\}$/] },
    { name: 'no line yet', pieces: ['8\r\n{"a":1}'], want: [] },
  ])('are found in $name', ({ pieces, want }) => {
    expect(linesOf(...pieces)).toEqual(want.map((pattern) => expect.stringMatching(pattern)));
  });
});
