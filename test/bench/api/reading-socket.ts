/** A connection whose bytes are read into one place, where node makes a new one of 64 KiB for each: what the client costs is in every measured value. */
import { createConnection, type Socket } from 'node:net';

const PLACE = Buffer.allocUnsafeSlow(64 * 1024);

/** What `onBytes` is given is overwritten as soon as it returns. */
export function readingSocket(path: string, onBytes: (bytes: Buffer) => void): Socket {
  const callback = (length: number): boolean => {
    onBytes(PLACE.subarray(0, length));
    return true;
  };
  return createConnection({ path, onread: { buffer: PLACE, callback } });
}
