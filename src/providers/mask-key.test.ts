import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { maskKey } from './mask-key.ts';

const KEY = 'abcabd';
const through = (chunks: readonly string[]) => text(Readable.from(chunks.map((chunk) => Buffer.from(chunk))).pipe(maskKey(KEY)));

it.each([
  [['say abcabd twice: abcabd.'], 'say ****** twice: ******.'],
  [['say abc', 'abd.'], 'say ******.'],
  [['abcabcabd'], 'abc******'],
  [['abcabc', 'abd'], 'abc******'],
  [[...'abcabcabdabcabd'], 'abc************'],
  [['abcab'], 'abcab'],
  [['abcab', 'x'], 'abcabx'],
  [['nothing', ' here'], 'nothing here'],
])('finds it in %j', async (chunks, masked) => {
  expect(await through(chunks)).toBe(masked);
});

it('holds nothing back that cannot be the beginning of one', async () => {
  const stream = maskKey(KEY);
  stream.write('data: 1\n\n');
  expect(String(stream.read())).toBe('data: 1\n\n');
});
