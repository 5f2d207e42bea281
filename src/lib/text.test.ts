import fc from 'fast-check';
import { expect, it } from 'vitest';
import { headAndTail } from './text.ts';

it('keeps what fits as it is', () => {
  expect(headAndTail('äöü', 6)).toEqual({ text: 'äöü', isCut: false });
});

it('says how much it left out', () => {
  expect(headAndTail('abcdefghij', 4)).toEqual({ text: 'ab\n... (6 of 10 bytes left out)\nij', isCut: true });
});

it('never cuts a character, and keeps true beginnings and ends', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme', minLength: 1 }).filter((each) => !each.includes('\ufffd')),
      fc.integer({ min: 0, max: 40 }),
      (text, maxBytes) => {
        const cut = headAndTail(text, maxBytes);
        expect(cut.text).not.toContain('\ufffd');
        if (!cut.isCut) return;
        const [head = '', tail = ''] = cut.text.split(/\n\.\.\. \(\d+ of \d+ bytes left out\)\n/);
        expect(text.startsWith(head) && text.endsWith(tail)).toBe(true);
        expect(Buffer.byteLength(head) + Buffer.byteLength(tail)).toBeLessThanOrEqual(maxBytes);
      },
    ),
  );
});
