/** One connection over a port, as the streams that channels are made of. The same at both ends. */
import { Duplex } from 'node:stream';
import { encodeMark } from './port-marks.ts';

export interface PortConnectionOptions {
  readonly name: string;
  /** What carries it, and others after it. */
  readonly carrier: Duplex;
  /** It is over, whoever ended it. */
  onClose(connection: PortConnection): void;
}

export class PortConnection extends Duplex {
  readonly #options: PortConnectionOptions;
  #isEndSent = false;
  #isCut = false;

  constructor(options: PortConnectionOptions) {
    super({ allowHalfOpen: true });
    this.#options = options;
  }

  get name(): string {
    return this.#options.name;
  }

  /** Bytes that came for it. */
  receive(bytes: Uint8Array): void {
    if (this.destroyed || this.readableEnded) return;
    if (!this.push(bytes)) this.#options.carrier.pause();
  }

  /** The other side says no more. */
  receiveEnd(): void {
    if (this.destroyed || this.#isCut) return;
    this.push(null);
  }

  /** What carried it is gone, or carries another now: nothing may be written any more. */
  cut(): void {
    if (this.#isCut) return;
    this.#isCut = true;
    this.push(null);
    this.destroy();
  }

  override _read(): void {
    this.#options.carrier.resume();
  }

  override _write(chunk: Uint8Array, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    if (this.#isCut) done(new Error('the connection was cut'));
    else this.#options.carrier.write(chunk, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#sendEnd();
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#sendEnd();
    this.#options.carrier.resume();
    this.#options.onClose(this);
    done(error);
  }

  #sendEnd(): void {
    if (this.#isEndSent || this.#isCut) return;
    this.#isEndSent = true;
    if (this.#options.carrier.writable) this.#options.carrier.write(encodeMark({ kind: 'end', connection: this.name }));
  }
}
