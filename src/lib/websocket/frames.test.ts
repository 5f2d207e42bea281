import { describe, expect, it } from 'vitest';
import { clientFrame, numbersFrom } from '../../server/websocket/client.fixture.ts';
import { FrameError, FrameReader } from './frame-reader.ts';
import { type Frame, frameHead, maskedFrame, OPCODE } from './frames.ts';

const MAX_FRAME_BYTES = 1024 * 1024;
const newReader = (from: 'client' | 'server' = 'client') => new FrameReader({ from, maxFrameBytes: MAX_FRAME_BYTES });

function read(reader: FrameReader, bytes: Buffer): Frame[] {
  return [...reader.push(bytes)].map(({ opcode, isLast, payload }) => ({ opcode, isLast, payload: Buffer.from(payload) }));
}

describe('reading frames of a client', () => {
  it('finds the same frames wherever the bytes are cut', () => {
    const seed = Date.now() % 1_000_000;
    console.info(`seed ${seed}`);
    const random = numbersFrom(seed);
    for (let round = 0; round < 100; round++) {
      const sizes = Array.from({ length: 5 }, () => [0, 1, 125, 126, 127, 65_535, 65_536, 70_000][random(8)] as number);
      const payloads = sizes.map((size) => Buffer.alloc(size, random(256)));
      const bytes = Buffer.concat(payloads.map((payload) => clientFrame(OPCODE.binary, payload)));
      const reader = newReader();
      const found: Frame[] = [];
      for (let at = 0; at < bytes.length; ) {
        const end = at + 1 + random(round % 2 ? 20_000 : 100_000);
        found.push(...read(reader, bytes.subarray(at, end)));
        at = end;
      }
      expect(found.map(({ payload }) => payload.length)).toEqual(sizes);
      expect(found.every(({ payload }, at) => payload.equals(payloads[at] as Buffer))).toBe(true);
    }
  });

  it.each([
    ['an extension nobody agreed on', Buffer.from([0xc2, 0x80, 0, 0, 0, 0]), 1002],
    ['an opcode that is none', Buffer.from([0x83, 0x80, 0, 0, 0, 0]), 1002],
    ['a control frame in pieces', Buffer.from([0x09, 0x80, 0, 0, 0, 0]), 1002],
    ['a control frame that is too long', Buffer.from([0x89, 0xfe, 0, 126, 0, 0, 0, 0]), 1002],
    ['a frame without a mask', Buffer.from([0x82, 0x01, 0]), 1002],
    ['more than a frame may have', Buffer.from([0x82, 0xff, 0, 0, 0, 0, 0, 0x10, 0, 1, 0, 0, 0, 0]), 1009],
    ['more than any number can say', Buffer.from([0x82, 0xff, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0]), 1009],
  ])('refuses %s', (_, bytes, code) => {
    expect(() => read(newReader(), bytes)).toThrow(FrameError);
    try {
      read(newReader(), bytes);
    } catch (error) {
      expect((error as FrameError).code).toBe(code);
    }
  });

  it('survives any bytes with an error or a frame, and keeps little', () => {
    const seed = Date.now() % 1_000_000;
    console.info(`seed ${seed}`);
    const random = numbersFrom(seed);
    for (let round = 0; round < 2_000; round++) {
      const reader = newReader();
      const bytes = Buffer.from(Array.from({ length: random(64) }, () => random(256)));
      try {
        for (const { payload } of reader.push(bytes)) expect(payload.length).toBeLessThanOrEqual(MAX_FRAME_BYTES);
      } catch (error) {
        expect(error).toBeInstanceOf(FrameError);
      }
    }
  });
});

describe('writing frames of a server', () => {
  it.each([
    [0, '8200'],
    [125, '827d'],
    [126, '827e007e'],
    [65_535, '827effff'],
    [65_536, '827f0000000000010000'],
  ])('says a length of %i', (length, hex) => {
    expect(frameHead(OPCODE.binary, length).toString('hex')).toBe(hex);
  });
});

/** What a server would read. */
function unmasked(frame: Buffer): { head: string; payload: Buffer } {
  const short = frame.readUInt8(1) & 0x7f;
  const extra = short < 126 ? 0 : short === 126 ? 2 : 8;
  const mask = frame.subarray(2 + extra, 6 + extra);
  const payload = Buffer.from(frame.subarray(6 + extra).map((byte, at) => byte ^ (mask[at & 3] as number)));
  return { head: frame.subarray(0, 2 + extra).toString('hex'), payload };
}

describe('writing frames of a client', () => {
  it.each([
    [0, '8280'],
    [125, '82fd'],
    [126, '82fe007e'],
    [65_535, '82feffff'],
    [65_536, '82ff0000000000010000'],
  ])('of %i bytes are masked, in one piece', (length, head) => {
    const payload = Buffer.from(Array.from({ length }, (_, at) => at & 0xff));
    const frame = maskedFrame(OPCODE.binary, payload.subarray(0, 3), payload.subarray(3));
    const read = unmasked(frame);
    expect([read.head, read.payload.equals(payload)]).toEqual([head, true]);
  });
});

describe('reading frames of a server', () => {
  it('finds the same frames wherever the bytes are cut', () => {
    const sizes = [0, 1, 125, 126, 65_535, 65_536];
    const bytes = Buffer.concat(
      sizes.map((size) => {
        const head = size < 126 ? Buffer.from([0x82, size]) : size < 65_536 ? Buffer.from([0x82, 126, size >> 8, size & 0xff]) : undefined;
        return Buffer.concat([head ?? Buffer.from('827f0000000000010000', 'hex'), Buffer.alloc(size, size & 0xff)]);
      }),
    );
    for (const step of [1_000, 7_777, bytes.length]) {
      const reader = newReader('server');
      const found: Frame[] = [];
      for (let at = 0; at < bytes.length; at += step) found.push(...reader.push(bytes.subarray(at, at + step)));
      expect(found.map(({ payload }) => payload.length)).toEqual(sizes);
    }
  });

  it.each([
    ['8281', 'must not be masked'],
    ['c200', 'extension'],
    ['82ff', 'must not be masked'],
    ['8300', 'unknown opcode 3'],
    ['827f00000000ffffffff', 'more than 1048576 bytes'],
  ])('refuses those that begin with %s', (hex, why) => {
    expect(() => read(newReader('server'), Buffer.from(hex, 'hex'))).toThrow(why);
  });

  it('keeps them for as long as somebody holds them, whatever comes next', () => {
    const reader = newReader('server');
    const bytes = Buffer.from('820161', 'hex');
    const [first] = [...reader.push(bytes)];
    bytes.fill(0);
    expect(String(first?.payload)).toBe('a');
  });
});
