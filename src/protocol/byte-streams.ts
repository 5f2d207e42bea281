/** The two ends of one stream of a call. Credit bounds what may be under way: a reader that stalls holds back this stream and no other. */
import type { Buffer } from 'node:buffer';
import { Readable, Writable } from 'node:stream';
import { ProtocolError } from './protocol-error.ts';

/** How much of a stream may be sent and not yet read. */
export const WINDOW_BYTES = 256 * 1024;
/** Of one frame, before base64. */
export const PIECE_BYTES = 64 * 1024;

export interface SendPort {
  /** Resolves when the connection takes more. */
  data(bytes: Buffer): Promise<void>;
  eof(): void;
}

type Done = (error?: Error | null) => void;

/** Where this side writes. Writing after the call has ended is no error: there is nobody left to read it. */
export class SendStream extends Writable {
  readonly #port: SendPort;
  #creditBytes = WINDOW_BYTES;
  #onCredit: (() => void) | undefined;

  constructor(port: SendPort) {
    super({ highWaterMark: PIECE_BYTES, decodeStrings: true });
    this.#port = port;
    this.on('error', () => {});
  }

  grant(bytes: number): void {
    this.#creditBytes += bytes;
    if (this.#creditBytes > WINDOW_BYTES) throw new ProtocolError('Invalid', 'more credit than was ever used');
    this.#onCredit?.();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: Done): void {
    this.#send(chunk).then(() => done(), done);
  }

  override _final(done: Done): void {
    this.#port.eof();
    done();
  }

  override _destroy(error: Error | null, done: Done): void {
    this.#onCredit?.();
    done(error);
  }

  async #send(chunk: Buffer): Promise<void> {
    for (let rest = chunk; rest.length > 0 && !this.destroyed; ) {
      while (this.#creditBytes === 0 && !this.destroyed) await this.#credit();
      if (this.destroyed) return;
      const piece = rest.subarray(0, Math.min(PIECE_BYTES, this.#creditBytes));
      this.#creditBytes -= piece.length;
      rest = rest.subarray(piece.length);
      await this.#port.data(piece);
    }
  }

  #credit(): Promise<void> {
    return new Promise((resolve) => {
      this.#onCredit = () => {
        this.#onCredit = undefined;
        resolve();
      };
    });
  }
}

/** Where this side reads. Credit goes back as the bytes are taken, in portions worth a frame. */
export class ReceiveStream extends Readable {
  readonly #grant: (bytes: number) => void;
  readonly #waiting: Buffer[] = [];
  #outstandingBytes = 0;
  #takenBytes = 0;
  #isEnded = false;
  #wantsMore = false;

  constructor(grant: (bytes: number) => void) {
    super({ highWaterMark: PIECE_BYTES });
    this.#grant = grant;
    this.on('error', () => {});
  }

  receive(bytes: Buffer): void {
    if (this.#isEnded) throw new ProtocolError('Invalid', 'data after the end of its stream');
    this.#outstandingBytes += bytes.length;
    if (this.#outstandingBytes > WINDOW_BYTES) throw new ProtocolError('Invalid', 'more data than there was credit for');
    if (this.destroyed) {
      this.#taken(bytes.length);
      return;
    }
    this.#waiting.push(bytes);
    this.#hand();
  }

  end(): void {
    if (this.#isEnded) throw new ProtocolError('Invalid', 'a second end of the same stream');
    this.#isEnded = true;
    this.#hand();
  }

  /** The call is over without this stream having ended: what is missing must not look complete. */
  cut(): void {
    if (!this.#isEnded) this.destroy();
  }

  override _read(): void {
    this.#wantsMore = true;
    this.#hand();
  }

  #hand(): void {
    while (this.#wantsMore && this.#waiting.length > 0) {
      const bytes = this.#waiting.shift() as Buffer;
      this.#wantsMore = this.push(bytes);
      this.#taken(bytes.length);
    }
    if (this.#isEnded && this.#waiting.length === 0 && !this.readableEnded && !this.destroyed) this.push(null);
  }

  #taken(bytes: number): void {
    this.#takenBytes += bytes;
    if (this.#isEnded || this.#takenBytes < PIECE_BYTES) return;
    const credit = this.#takenBytes;
    this.#takenBytes = 0;
    this.#outstandingBytes -= credit;
    this.#grant(credit);
  }
}
