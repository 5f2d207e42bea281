/**
 * A virtio port as a stream. Node has no public way to wait for a character device: its file functions would keep one thread of few busy
 * for ever, and net.Socket takes no such descriptor. The handle that pipes have does it. Where a Node lacks it, the threads it is.
 */
import { close, closeSync, constants, openSync, read, write } from 'node:fs';
import { Socket } from 'node:net';
import { Duplex } from 'node:stream';

interface PipeHandle {
  open(descriptor: number): number | undefined;
}

interface PipeBinding {
  readonly Pipe: new (type: number) => PipeHandle;
  readonly constants: { readonly SOCKET: number };
}

/** A port can be open once: one descriptor for both directions. */
export function openPort(path: string): Duplex {
  const pipes = findPipes();
  if (pipes === undefined) return new ThreadedPort(openSync(path, constants.O_RDWR));
  const descriptor = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  const handle = new pipes.Pipe(pipes.constants.SOCKET);
  const problem = handle.open(descriptor);
  if (problem !== undefined && problem !== 0) {
    closeSync(descriptor);
    throw new Error(`cannot wait for ${path}: error ${problem}`);
  }
  // Not in Node's types: what a socket is made of.
  const options: object = { handle };
  const socket = new Socket(options);
  socket.resume();
  return socket;
}

function findPipes(): PipeBinding | undefined {
  const { binding } = process as unknown as { readonly binding?: (name: string) => unknown };
  try {
    const found = binding?.('pipe_wrap') as Partial<PipeBinding> | undefined;
    return found?.Pipe === undefined || found.constants === undefined ? undefined : (found as PipeBinding);
  } catch {
    // No such binding in this version.
    return undefined;
  }
}

const CHUNK_BYTES = 64 * 1024;

/** Keeps one thread of Node's pool waiting for bytes. */
export class ThreadedPort extends Duplex {
  readonly #descriptor: number;
  readonly #buffer = Buffer.alloc(CHUNK_BYTES);

  constructor(descriptor: number) {
    super({ allowHalfOpen: false });
    this.#descriptor = descriptor;
  }

  override _read(): void {
    read(this.#descriptor, this.#buffer, 0, CHUNK_BYTES, null, (error, bytes) => {
      if (error) this.destroy(error);
      else this.push(bytes === 0 ? null : Buffer.from(this.#buffer.subarray(0, bytes)));
    });
  }

  override _write(chunk: Uint8Array, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    write(this.#descriptor, chunk, 0, chunk.length, null, (error, bytes) => {
      if (error || bytes === chunk.length) done(error);
      else this._write(chunk.subarray(bytes), _encoding, done);
    });
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    close(this.#descriptor, (problem) => done(error ?? problem));
  }
}
