/** Waiting for the reader of a stream, and for nobody once there is none. */
import type { Writable } from 'node:stream';

/** Streams that are being waited for. Many may wait for one, as all that a session carries do for its socket, and it is listened to once. */
const waits = new WeakMap<Writable, Promise<void>>();

/** Resolves when the next write need not wait, or when no write makes sense any more. */
export function drained(stream: Writable): Promise<void> {
  if (stream.destroyed || !stream.writableNeedDrain) return Promise.resolve();
  const wait = waits.get(stream) ?? drainOrClose(stream);
  waits.set(stream, wait);
  return wait;
}

function drainOrClose(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      stream.off('drain', done);
      stream.off('close', done);
      waits.delete(stream);
      resolve();
    };
    stream.on('drain', done);
    stream.on('close', done);
  });
}

export function written(stream: Writable, bytes: Uint8Array | string): Promise<void> {
  if (stream.writable) stream.write(bytes);
  return drained(stream);
}
