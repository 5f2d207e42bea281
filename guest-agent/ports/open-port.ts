/**
 * A virtio port as a stream. Node has no public way to wait for a character device: its file functions would keep one thread of few busy
 * for ever, and net.Socket takes no such descriptor. The handle that pipes have does it. Where a Node lacks it, the threads it is.
 */
import { close, closeSync, constants, openSync, read, write } from 'node:fs';
import { Socket } from 'node:net';
import { Duplex } from 'node:stream';

export interface PipeHandle {
  open(descriptor: number): number | undefined;
  /** Called by Node with what was read; with nothing when there is no more. */
  onread: (this: PipeHandle, bytes?: ArrayBuffer) => void;
  readStart(): number;
  /** Of the stream: whether it wants to be told of bytes. */
  reading?: boolean;
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
  keepReading(socket, handle);
  socket.resume();
  return socket;
}

/** Without a host every look costs a little; with one that has just gone, the next is usually near. */
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 250;

/**
 * The end of a host is not that of the port: another one comes, and may have come when the end is noticed. Whoever closed the port then would
 * throw away what the new one has said. So it stays open and is looked at again; `hangup` says that nobody was there, twice in a row.
 */
export function keepReading(socket: Socket, handle: PipeHandle): void {
  const pass = handle.onread;
  let pauseMs = FIRST_PAUSE_MS;
  let ends = 0;
  handle.onread = function (bytes) {
    if (bytes !== undefined) {
      ends = 0;
      pauseMs = FIRST_PAUSE_MS;
      pass.call(this, bytes);
      return;
    }
    ends += 1;
    if (ends === 2) socket.emit('hangup');
    setTimeout(() => {
      if (!socket.destroyed && handle.reading) handle.readStart();
    }, pauseMs);
    if (ends > 1) pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
  };
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
