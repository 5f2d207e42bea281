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
      // The checksum is written in hexadecimal: the other case of a letter says the same.
      if (changed.toString('latin1').toLowerCase() !== line.toString('latin1').toLowerCase()) expect(decodeRecord(changed)).toBeUndefined();
      expect(decodeRecord(line.subarray(0, at))).toBeUndefined();
    }),
  );
});
