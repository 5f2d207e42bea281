import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { keepNewest } from './workspace-io-log.ts';

const newest = (chunks: readonly string[], maxBytes: number) =>
  keepNewest(Readable.from(chunks.map((chunk) => Buffer.from(chunk))), maxBytes);

describe('keepNewest', () => {
  it.each([
    { name: 'nothing', chunks: [], maxBytes: 10, want: { text: '', isTruncated: false } },
    { name: 'what just fits', chunks: ['one\n', 'two\n'], maxBytes: 8, want: { text: 'one\ntwo\n', isTruncated: false } },
    { name: 'whole lines of the end', chunks: ['one\n', 'two\nthree\n'], maxBytes: 9, want: { text: 'three\n', isTruncated: true } },
    {
      name: 'the end of many chunks',
      chunks: Array(100).fill('€€€\n'),
      maxBytes: 35,
      want: { text: '€€€\n€€€\n€€€\n', isTruncated: true },
    },
    { name: 'no part of a line that is too long', chunks: ['x'.repeat(50), '\n'], maxBytes: 10, want: { text: '', isTruncated: true } },
  ])('keeps $name', async ({ chunks, maxBytes, want }) => {
    expect(await newest(chunks, maxBytes)).toEqual(want);
  });
});
