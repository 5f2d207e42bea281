/** Standard input, output and error as streams, for commands that pass bytes on; and the terminal they may be. */
import type { Readable, Writable } from 'node:stream';

export interface StandardStreams {
  readonly stdin: Readable & { readonly isTTY?: boolean; setRawMode?(isRaw: boolean): unknown };
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number };
  readonly stderr: Writable;
}

export function standardStreams(): StandardStreams {
  return process;
}

/** Resolves when more may be written, or nothing more can be. */
export function written(stream: Writable, bytes: Uint8Array | string): Promise<void> {
  if (!stream.writable || stream.write(bytes)) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      stream.off('drain', done);
      stream.off('close', done);
      resolve();
    };
    stream.on('drain', done);
    stream.on('close', done);
  });
}

/** Every key goes to the other side, Ctrl-C included, until what is given back is called; whatever ends the program calls it too. */
export function rawTerminal({ stdin }: StandardStreams): () => void {
  if (!stdin.isTTY || !stdin.setRawMode) return () => {};
  stdin.setRawMode(true);
  let isRaw = true;
  const restore = () => {
    if (isRaw) stdin.setRawMode?.(false);
    isRaw = false;
  };
  process.once('exit', restore);
  return () => {
    process.off('exit', restore);
    restore();
  };
}
