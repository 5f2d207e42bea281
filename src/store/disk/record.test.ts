import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decodeRecord, encodeRecord, encodeRecords, splitLines } from './record.ts';

const json = fc.jsonValue().map((value) => JSON.stringify({ value }));

it('gives back every value of every line, whatever it holds', () => {
  fc.assert(
    fc.property(fc.array(json), fc.array(json), (notes, records) => {
      const data = encodeRecords(notes.map(encodeRecord).join(''), records);
      expect([...splitLines(data)].map((line) => JSON.stringify(decodeRecord(line)))).toEqual([...notes, ...records]);
    }),
  );
});

it('takes no line that lost or changed a byte', () => {
  fc.assert(
    fc.property(json, fc.nat(), fc.integer({ min: 1, max: 255 }), (text, position, change) => {
      const line = Buffer.from(encodeRecord(text)).subarray(0, -1);
      const at = position % line.length;
      const changed = Buffer.from(line);
      changed[at] = (changed[at] ?? 0) ^ change;
      expect(decodeRecord(changed)).toBeUndefined();
      expect(decodeRecord(line.subarray(0, at))).toBeUndefined();
    }),
  );
});

/** A text whose checksum begins with these digits. */
function lineWith(digits: string): string {
  for (let n = 0; ; n++) {
    const line = encodeRecord(JSON.stringify({ n })).trimEnd();
    if (line.startsWith(digits)) return line;
  }
}

it.each([
  { digits: '0', damaged: '+' },
  { digits: '0', damaged: ' ' },
  { digits: '00', damaged: '0x' },
  { digits: 'a', damaged: 'A' },
])('takes no checksum that is only the same number: $damaged for $digits', ({ digits, damaged }) => {
  const line = lineWith(digits);
  expect(decodeRecord(Buffer.from(line))).toBeDefined();
  expect(decodeRecord(Buffer.from(damaged + line.slice(damaged.length)))).toBeUndefined();
});
