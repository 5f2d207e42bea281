import { describe, expect, it } from 'vitest';
import { frame, unframe } from './grpc.ts';

describe('gRPC framing', () => {
  const messages = [Buffer.from('one'), Buffer.alloc(0), Buffer.alloc(30, 7)];
  const bytes = Buffer.concat(messages.map(frame));

  it('takes apart what it put together', () => {
    expect(unframe(bytes)).toEqual({ messages, rest: Buffer.alloc(0) });
  });

  it('loses nothing wherever the bytes are cut', () => {
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      const first = unframe(bytes.subarray(0, cut));
      const second = unframe(Buffer.concat([first.rest, bytes.subarray(cut)]));
      expect([...first.messages, ...second.messages]).toEqual(messages);
    }
  });
});
