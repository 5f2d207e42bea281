import { describe, expect, it } from 'vitest';
import { bytesField, fieldsOf, varintField } from './protobuf.ts';

describe('protobuf wire format', () => {
  it('encodes the documented example: field 1 = 150, field 2 = "testing"', () => {
    expect(varintField(1, 150).toString('hex')).toBe('089601');
    expect(bytesField(2, 'testing').toString('hex')).toBe('120774657374696e67');
  });

  it.each([0, 1, 127, 128, 300, 2 ** 31, 2 ** 32 + 5, Number.MAX_SAFE_INTEGER])('round-trips the varint %d', (value) => {
    expect([...fieldsOf(varintField(9, value))]).toEqual([{ number: 9, value }]);
  });

  it('round-trips bytes longer than one length byte, beside other fields', () => {
    const long = Buffer.alloc(1_400, 7);
    const message = Buffer.concat([varintField(3, 1), bytesField(11, long)]);
    expect([...fieldsOf(message)]).toEqual([
      { number: 3, value: 1 },
      { number: 11, value: long },
    ]);
  });

  it('skips fixed-width fields', () => {
    const fixed = Buffer.from([0x09, 1, 2, 3, 4, 5, 6, 7, 8, 0x15, 1, 2, 3, 4]);
    expect([...fieldsOf(Buffer.concat([fixed, varintField(1, 2)]))]).toEqual([{ number: 1, value: 2 }]);
  });

  it('refuses a message that was cut short', () => {
    expect(() => [...fieldsOf(bytesField(1, 'testing').subarray(0, 4))]).toThrow(RangeError);
    expect(() => [...fieldsOf(Buffer.from([0x80]))]).toThrow(RangeError);
  });
});
