import { describe, expect, it } from 'vitest';
import { encodeFrame } from './framing.ts';
import { encodeMark, type Mark, MarkReader } from './port-marks.ts';

const OPEN: Mark = { kind: 'open', connection: '0123456789abcdef' };
const END: Mark = { kind: 'end', connection: 'fedcba9876543210' };

/** Neighbouring bytes are one text, wherever they were cut. */
function read(bytes: Uint8Array, pieceBytes: number): (Mark | string)[] {
  const reader = new MarkReader();
  const parts: (Mark | string)[] = [];
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    for (const part of reader.push(bytes.subarray(at, at + pieceBytes))) {
      const last = parts.at(-1);
      if ('kind' in part) parts.push(part);
      else if (typeof last === 'string') parts[parts.length - 1] = last + Buffer.from(part).toString('latin1');
      else parts.push(Buffer.from(part).toString('latin1'));
    }
  }
  return parts;
}

const text = (buffer: Buffer) => buffer.toString('latin1');
const PIECES = [1, 2, 3, 7, 8, 9, 16, 1000];

describe('MarkReader', () => {
  it.each(PIECES)('takes marks and frames apart that come in pieces of %i bytes', (pieceBytes) => {
    // Lengths of 255, 65535 and one that ends in such bytes.
    const frames = [255, 0xffff, 0x01ff].map((bytes) => encodeFrame({ a: 'x'.repeat(bytes - '{"a":""}'.length) }));
    const bytes = Buffer.concat([encodeMark(OPEN), ...frames, encodeMark(END), encodeFrame({ b: 1 })]);
    expect(read(bytes, pieceBytes)).toEqual([OPEN, text(Buffer.concat(frames)), END, text(encodeFrame({ b: 1 }))]);
  });

  it.each(PIECES)('finds a mark behind a length that was cut off, in pieces of %i bytes', (pieceBytes) => {
    const bytes = Buffer.concat([Buffer.from([0, 0x3f, 0xff, 0xff]), encodeMark(OPEN), encodeFrame({ b: 1 })]);
    expect(read(bytes, pieceBytes).slice(-2)).toEqual([OPEN, text(encodeFrame({ b: 1 }))]);
  });

  it.each([9, 12, 20, 24])('drops a mark of which only %i bytes came, and finds the next', (kept) => {
    const bytes = Buffer.concat([encodeMark(END).subarray(0, kept), encodeMark(OPEN)]);
    expect(read(bytes, 5)).toEqual([OPEN]);
  });

  it('drops what is like a mark and is none', () => {
    const other = Buffer.concat([Buffer.alloc(8, 0xff), Buffer.from('X0123456789abcdef')]);
    expect(read(Buffer.concat([other, Buffer.from('after')]), 4)).toEqual(['after']);
  });
});
