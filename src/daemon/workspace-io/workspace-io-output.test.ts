import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { keepOutput, toKept, wholeCharacters } from './workspace-io-output.ts';

const bytesOf = (text: string) => Buffer.from(text);

describe('wholeCharacters', () => {
  it.each([
    { name: 'nothing', bytes: bytesOf(''), want: 0 },
    { name: 'letters', bytes: bytesOf('abc'), want: 3 },
    { name: 'whole characters of every length', bytes: bytesOf('aé€😀'), want: 10 },
    { name: 'one of two bytes', bytes: bytesOf('aé').subarray(0, 2), want: 1 },
    { name: 'one of three bytes', bytes: bytesOf('a€').subarray(0, 2), want: 1 },
    { name: 'two of three bytes', bytes: bytesOf('a€').subarray(0, 3), want: 1 },
    { name: 'three of four bytes', bytes: bytesOf('a😀').subarray(0, 4), want: 1 },
    { name: 'a lone beginning', bytes: Buffer.from([0xf0]), want: 0 },
    { name: 'what is no UTF-8', bytes: Buffer.alloc(100, 0x80), want: 100 },
  ])('counts $name', ({ bytes, want }) => {
    expect(wholeCharacters(bytes)).toBe(want);
  });
});

describe('toKept', () => {
  it('says how much is missing, and shows no half character', () => {
    expect(toKept(bytesOf('a€').subarray(0, 3), 1000)).toEqual({
      text: 'a\n[TRUNCATED: 1000 bytes total, showing first 1 bytes]',
      isTruncated: true,
    });
    expect(toKept(bytesOf('all'), 3)).toEqual({ text: 'all', isTruncated: false });
  });
});

describe('keepOutput', () => {
  it('keeps the first bytes across chunks and counts and shows all of them', async () => {
    const seen: string[] = [];
    const stream = Readable.from(['ab', 'cd', 'ef'].map(bytesOf));
    expect(await keepOutput(stream, { maxBytes: 3, onChunk: (chunk) => seen.push(String(chunk)) })).toEqual({
      text: 'abc\n[TRUNCATED: 6 bytes total, showing first 3 bytes]',
      isTruncated: true,
    });
    expect(seen).toEqual(['ab', 'cd', 'ef']);
  });

  it('takes what came of a stream that breaks', async () => {
    async function* broken() {
      yield bytesOf('begun');
      throw new Error('cut');
    }
    expect(await keepOutput(broken(), { maxBytes: 100 })).toEqual({ text: 'begun', isTruncated: false });
  });
});
