/** What a client says to the program that it started: over a pipe or a socket, as nearly all do, or from a file or a terminal. */
import { fstatSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { intoOneBuffer, type OnLent } from './lent-bytes.ts';

/** The bytes go to `onBytes`; the stream is for holding them back, and says when they end. */
export function openStandardInput(onBytes: OnLent): Readable {
  const kind = fstatSync(0);
  if (!kind.isFIFO() && !kind.isSocket()) return process.stdin.on('data', onBytes);
  // The types know `onread` with a connection only.
  const options = { fd: 0, readable: true, writable: false, onread: intoOneBuffer(onBytes) };
  return new Socket(options).resume();
}
