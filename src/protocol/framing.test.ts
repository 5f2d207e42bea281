import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeFrame, FrameDecoder, MAX_FRAME_BYTES } from './framing.ts';
import { ProtocolError } from './protocol-error.ts';

function decode(chunks: readonly Uint8Array[]): unknown[] {
  const decoder = new FrameDecoder();
  return chunks.flatMap((chunk) => [...decoder.push(chunk)]);
}

function frame(body: Uint8Array): Buffer {
  const header = Buffer.alloc(4);
  header.writeUInt32BE(body.length);
  return Buffer.concat([header, body]);
}

function cut(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const chunks: Buffer[] = [];
  let offset = 0;
  for (let turn = 0; offset < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    chunks.push(bytes.subarray(offset, offset + size));
    offset += size;
  }
  return chunks;
}

describe('framing', () => {
  it('gives back every message, however the bytes are cut', () => {
    const message = fc
      .dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ maxDepth: 3 }))
      .map((value) => JSON.parse(JSON.stringify(value)) as object);
    const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 });
    fc.assert(
      fc.property(fc.array(message, { maxLength: 8 }), sizes, (messages, chunkSizes) => {
        const bytes = Buffer.concat(messages.map((each) => encodeFrame(each)));
        expect(decode(cut(bytes, chunkSizes))).toEqual(messages);
      }),
    );
  });

  it('takes and gives a message of exactly the limit', () => {
    const message = { text: 'x'.repeat(MAX_FRAME_BYTES - '{"text":""}'.length) };
    const bytes = encodeFrame(message);
    expect(bytes.readUInt32BE()).toBe(MAX_FRAME_BYTES);
    expect(decode([bytes])).toEqual([message]);
  });

  it('refuses to send one byte more', () => {
    const message = { text: 'x'.repeat(MAX_FRAME_BYTES - '{"text":""}'.length + 1) };
    expect(() => encodeFrame(message)).toThrowError(expect.objectContaining({ name: 'ProtocolError', code: 'TooLarge' }));
  });

  it.each([
    { name: 'length 0', bytes: Buffer.from([0, 0, 0, 0]) },
    { name: 'a length over the limit, before its body arrives', bytes: Buffer.from([0, 0x40, 0, 1]) },
    { name: 'a length that is not below 2^31', bytes: Buffer.from([0xff, 0xff, 0xff, 0xff]) },
    { name: 'bad JSON', bytes: frame(Buffer.from('{"id":1')) },
    { name: 'JSON behind a byte order mark', bytes: frame(Buffer.from('\ufeff{}')) },
    { name: 'bytes that are not UTF-8', bytes: frame(Buffer.from([0x22, 0xff, 0x22])) },
  ])('refuses $name', ({ bytes }) => {
    expect(() => decode([bytes])).toThrowError(ProtocolError);
  });

  it('gives out what came before a malformed frame', () => {
    const decoder = new FrameDecoder();
    const seen: unknown[] = [];
    const bytes = Buffer.concat([encodeFrame({ id: 1 }), Buffer.from([0, 0, 0, 0])]);
    expect(() => {
      for (const message of decoder.push(bytes)) seen.push(message);
    }).toThrowError(ProtocolError);
    expect(seen).toEqual([{ id: 1 }]);
  });

  it('knows that it is in the middle of a frame', () => {
    const decoder = new FrameDecoder();
    const bytes = encodeFrame({ id: 1 });
    expect([...decoder.push(bytes.subarray(0, 2))]).toEqual([]);
    expect(decoder.isMidFrame).toBe(true);
    expect([...decoder.push(bytes.subarray(2))]).toEqual([{ id: 1 }]);
    expect(decoder.isMidFrame).toBe(false);
  });
});
