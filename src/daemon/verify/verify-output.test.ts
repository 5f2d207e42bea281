import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { OutputTail } from './verify-output.ts';

it('keeps everything up to its size', () => {
  const tail = new OutputTail(10);
  tail.add(Buffer.from('12345'));
  tail.add(Buffer.from('67890'));
  expect(tail.text).toBe('1234567890');
});

it('keeps the end, in whatever pieces it comes, and never half a character', () => {
  const character = fc.constantFrom('a', 'ü', '漢', '🙂', '\n');
  fc.assert(
    fc.property(fc.array(character, { maxLength: 60 }), fc.array(fc.nat(20)), fc.integer({ min: 4, max: 40 }), (characters, cuts, size) => {
      const whole = characters.join('');
      let rest = Buffer.from(whole);
      const tail = new OutputTail(size);
      for (const cut of cuts) {
        tail.add(rest.subarray(0, cut));
        rest = rest.subarray(cut);
      }
      tail.add(rest);
      const isWhole = Buffer.byteLength(whole) <= size;
      const shown = isWhole ? tail.text : tail.text.slice('... '.length);
      expect(whole.endsWith(shown)).toBe(true);
      expect(Buffer.byteLength(shown)).toBeGreaterThan(Math.min(size, Buffer.byteLength(whole)) - 4);
      if (isWhole) expect(shown).toBe(whole);
    }),
  );
});

it('reads several streams, also one that breaks', async () => {
  const tail = new OutputTail(100);
  const [good, bad] = [new PassThrough(), new PassThrough()];
  const read = Promise.all([tail.read(good), tail.read(bad)]);
  good.end('good');
  bad.write('bad');
  setImmediate(() => bad.destroy());
  await read;
  expect(tail.text).toContain('good');
});
