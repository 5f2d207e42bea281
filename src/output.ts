/**
 * Standard output and standard error as the program uses them. What is no terminal is written straight to its descriptor: node's own
 * streams do the same in the end, but to set one up takes as long as a small command does for all the rest.
 */
import { fstatSync, writeSync } from 'node:fs';

export interface Output {
  readonly isTerminal: boolean;
  readonly columns: number | undefined;
  /** Bytes are the caller's again when it returns. */
  write(text: string | Uint8Array): void;
}

/** `onLost` hears that nothing can be written any more: the reader has gone, or the disk is full. */
export function openOutput(descriptor: 1 | 2, onLost: (error: NodeJS.ErrnoException) => void): Output {
  return isTerminalAt(descriptor) ? terminalOutput(descriptor, onLost) : plainOutput(descriptor, onLost);
}

/** A pipe or a file is none, and that is known without the module that knows terminals, which brings half of node's streams along. */
export function isTerminalAt(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isCharacterDevice() && process.getBuiltinModule('node:tty').isatty(descriptor);
  } catch {
    // It is closed.
    return false;
  }
}

function terminalOutput(descriptor: 1 | 2, onLost: (error: NodeJS.ErrnoException) => void): Output {
  const stream = descriptor === 1 ? process.stdout : process.stderr;
  stream.on('error', onLost);
  return {
    isTerminal: true,
    columns: stream.columns,
    write: (text) => void stream.write(typeof text === 'string' ? text : Buffer.from(text)),
  };
}

function plainOutput(descriptor: 1 | 2, onLost: (error: NodeJS.ErrnoException) => void): Output {
  let isLost = false;
  return {
    isTerminal: false,
    columns: undefined,
    write(text) {
      if (isLost) return;
      try {
        writeAll(descriptor, typeof text === 'string' ? Buffer.from(text) : text);
      } catch (error) {
        isLost = true;
        onLost(error as NodeJS.ErrnoException);
      }
    },
  };
}

function writeAll(descriptor: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(descriptor, bytes, at);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      // Somebody made the pipe non-blocking and it is full: give its reader a moment.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}
