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
