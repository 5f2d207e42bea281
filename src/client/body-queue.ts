/** A body between the connection that it comes from and whoever reads it: holds the connection back while the reader is slow. */

export interface BodySource {
  pause(): void;
  resume(): void;
  destroy(): void;
}

const HIGH_WATER_BYTES = 256 * 1024;

export class BodyQueue {
  readonly #source: BodySource;
  #pieces: Buffer[] = [];
  #bytes = 0;
  /** Nothing more comes; the source may belong to someone else. */
  #isOver = false;
  #failure: Error | undefined;
  #wake: (() => void) | undefined;

  constructor(source: BodySource) {
    this.#source = source;
  }

  push(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    if (this.#bytes > HIGH_WATER_BYTES) this.#source.pause();
    this.#wake?.();
  }

  /** The whole body is here, or ends early with a failure: what is here is read first. */
  end(failure?: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#failure = failure;
    this.#source.resume();
    this.#wake?.();
  }

  /** Nobody wants the rest. */
  drop(): void {
    this.#pieces = [];
    this.#bytes = 0;
    this.end();
  }

  async *read(): AsyncIterable<Buffer> {
    try {
      while (this.#pieces.length > 0 || !this.#isOver) {
        const piece = this.#pieces.shift();
        if (piece) yield this.#taken(piece);
        else await this.#more();
      }
    } finally {
      // A reader that leaves early leaves a connection that nobody can use any more.
      if (!this.#isOver) this.#source.destroy();
    }
    if (this.#failure) throw this.#failure;
  }

  #taken(piece: Buffer): Buffer {
    this.#bytes -= piece.length;
    if (this.#bytes === 0 && !this.#isOver) this.#source.resume();
    return piece;
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}
