import { describe, expect, it } from 'vitest';
import { alternativeBool, bool, double, type Field, int64, message, nested, string, strings } from './protobuf-writer.ts';

describe('protobuf fields', () => {
  it.each<[what: string, field: Field, hex: string | undefined]>([
    ['a string', string(2, 'testing'), '120774657374696e67'],
    ['a string of more than one byte a letter', string(1, 'é'), '0a02c3a9'],
    ['no empty string', string(1, ''), undefined],
    ['a number', int64(1, 150), '089601'],
    ['a large number', int64(1, Number.MAX_SAFE_INTEGER), '08ffffffffffffff0f'],
    ['no zero', int64(1, 0), undefined],
    ['a double', double(9, 1), '49000000000000f03f'],
    ['true', bool(16, true), '800101'],
    ['no false', bool(16, false), undefined],
    ['false among alternatives', alternativeBool(2, false), '1000'],
    ['every one of several strings, empty ones too', strings(3, ['a', '']), '1a01611a00'],
    ['an empty message', nested(3, message([])), '1a00'],
    ['a long message', nested(1, Buffer.alloc(200)), `0ac801${'00'.repeat(200)}`],
  ])('write %s', (_, field, hex) => {
    expect(field?.toString('hex')).toBe(hex);
  });
});
