/** One stream of a SPDY session as a Duplex: each side ends for itself. */
import { Duplex } from 'node:stream';
import type { SpdyHeaders } from './headers.ts';

/** What the session does for its streams. */
export interface StreamPort {
  /** Resolves when more may be sent. */
  data(stream: number, bytes: Buffer, isFin: boolean): Promise<void>;
  /** Once, when it is over for us. */
  closed(stream: number, isClean: boolean): void;
}

/** What may wait in one stream before it holds back the others: kubectl knows no windows, so nothing else can hold it back. */
const WAITING_BYTES = 256 * 1024;

export class SpdyStream extends Duplex {
  readonly id: number;
  readonly headers: SpdyHeaders;
  readonly #port: StreamPort;
  #resume: (() => void) | undefined;
  #isReset = false;

  constructor(id: number, headers: SpdyHeaders, port: StreamPort) {
    super({ readableHighWaterMark: WAITING_BYTES, writableHighWaterMark: 64 * 1024 });
    this.id = id;
    this.headers = headers;
    this.#port = port;
    // A stream that the client resets has nobody else to tell.
    this.on('error', () => {});
  }

  /** Resolves when the stream takes more. */
  receive(bytes: Buffer): Promise<void> {
    if (this.destroyed || this.readableEnded || bytes.length === 0 || this.push(bytes)) return Promise.resolve();
    return new Promise((resolve) => {
      this.#resume = resolve;
    });
  }

  receiveEnd(): void {
    if (!this.destroyed) this.push(null);
  }

  reset(): void {
    this.#isReset = true;
    this.destroy();
  }

  override _read(): void {
    this.#resume?.();
    this.#resume = undefined;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#port.data(this.id, chunk, false).then(() => done(), done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#port.data(this.id, Buffer.alloc(0), true).then(() => done(), done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this._read();
    const isClean = this.#isReset || (error === null && this.writableFinished);
    this.#port.closed(this.id, isClean);
    done(error);
  }
}
