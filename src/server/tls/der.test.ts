import { describe, expect, it } from 'vitest';
import * as der from './der.ts';

const hex = (text: string) => text.replaceAll(' ', '');

describe('DER', () => {
  it.each([
    ['zero', [0], '02 01 00'],
    ['a small integer', [0x7f], '02 01 7f'],
    ['an integer whose first bit would read as a sign', [0x80], '02 02 00 80'],
    ['an integer with needless zeros', [0, 0, 1, 0], '02 02 01 00'],
    ['nothing at all', [], '02 01 00'],
  ])('writes %s as short as the rules demand', (_, bytes, expected) => {
    expect(der.integer(Buffer.from(bytes)).toString('hex')).toBe(hex(expected));
  });

  it.each([
    ['2.5.29.17', '06 03 55 1d 11'],
    ['1.2.840.10045.4.3.2', '06 08 2a 86 48 ce 3d 04 03 02'],
    ['1.3.6.1.5.5.7.3.1', '06 08 2b 06 01 05 05 07 03 01'],
  ])('writes the object identifier %s', (dotted, expected) => {
    expect(der.oid(dotted).toString('hex')).toBe(hex(expected));
  });

  it.each([
    [127, '04 7f'],
    [128, '04 81 80'],
    [255, '04 81 ff'],
    [256, '04 82 01 00'],
    [65_536, '04 83 01 00 00'],
  ])('writes a length of %i', (length, expected) => {
    const written = der.octetString(Buffer.alloc(length));
    expect(written.subarray(0, written.length - length).toString('hex')).toBe(hex(expected));
  });

  it.each([
    ['1949-12-31T23:59:59.000Z', 0x18, '19491231235959Z'],
    ['1999-01-02T03:04:05.678Z', 0x17, '990102030405Z'],
    ['2049-12-31T23:59:59.999Z', 0x17, '491231235959Z'],
    ['2050-01-01T00:00:00.000Z', 0x18, '20500101000000Z'],
  ])('writes the time %s with tag %i', (iso, tag, text) => {
    const written = der.time(new Date(iso));
    expect(written[0]).toBe(tag);
    expect(written.subarray(2).toString()).toBe(text);
  });

  it('nests elements', () => {
    expect(der.explicit(3, der.sequence(der.boolean(true), der.set(der.utf8String('é')))).toString('hex')).toBe(
      hex('a3 0b 30 09 01 01 ff 31 04 0c 02 c3 a9'),
    );
    expect(der.implicit(2, Buffer.from('a')).toString('hex')).toBe(hex('82 01 61'));
    expect(der.bitString(Buffer.from([0x06]), 1).toString('hex')).toBe(hex('03 02 01 06'));
  });
});
