/**
 * Bytes that are read into one buffer, over and over: to make a new one for every read takes longer than to pass on what is in it.
 * Whoever gets them is done with them when it returns, or has a copy.
 */
import type { OnReadOpts } from 'node:net';

export type OnLent = (bytes: Buffer) => void;

/** As much as node reads at once. */
const BUFFER_BYTES = 64 * 1024;

/** For `onread` of a socket. */
export function intoOneBuffer(onBytes: OnLent): OnReadOpts {
  const buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  return {
    buffer,
    callback(count) {
      onBytes(buffer.subarray(0, count));
      return true;
    },
  };
}
