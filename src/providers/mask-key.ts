/** A stream with a key made unreadable in it, in the same number of bytes. What may be the beginning of one is held back until that is clear. */
import { Transform } from 'node:stream';

export function maskKey(key: string): Transform {
  const wanted = Buffer.from(key);
  const put = Buffer.alloc(wanted.length, '*');
  let held: Buffer = Buffer.alloc(0);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      const masked = replaceAll(bytes, wanted, put);
      const keep = openEnd(masked, wanted);
      held = masked.subarray(masked.length - keep);
      done(null, masked.subarray(0, masked.length - keep));
    },
    flush(done) {
      done(null, held);
    },
  });
}

function replaceAll(bytes: Buffer, wanted: Buffer, put: Buffer): Buffer {
  let at = bytes.indexOf(wanted);
  if (at < 0) return bytes;
  const copy = Buffer.from(bytes);
  for (; at >= 0; at = bytes.indexOf(wanted, at + wanted.length)) put.copy(copy, at);
  return copy;
}

/** How many of the last bytes begin the key. */
function openEnd(bytes: Buffer, wanted: Buffer): number {
  for (let length = Math.min(wanted.length - 1, bytes.length); length > 0; length--) {
    if (bytes.subarray(bytes.length - length).equals(wanted.subarray(0, length))) return length;
  }
  return 0;
}
