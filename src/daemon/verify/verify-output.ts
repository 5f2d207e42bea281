/** The end of what a command prints, both streams as they come, cut between characters. */
import type { Readable } from 'node:stream';

export class OutputTail {
  readonly #maxBytes: number;
  #kept: Buffer = Buffer.alloc(0);
  #isCut = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Resolves when the stream has ended; one that breaks has ended too. */
  read(stream: Readable): Promise<void> {
    stream.on('data', (chunk: Buffer) => this.add(chunk));
    return new Promise((resolve) => stream.once('close', resolve));
  }

  add(chunk: Buffer): void {
    const all = Buffer.concat([this.#kept, chunk.subarray(-this.#maxBytes)]);
    this.#isCut ||= this.#kept.length + chunk.length > this.#maxBytes;
    this.#kept = Buffer.from(all.subarray(-this.#maxBytes));
  }

  get text(): string {
    if (!this.#isCut) return this.#kept.toString();
    // The bytes of a character whose beginning is gone: they begin with the bits 10.
    const start = this.#kept.findIndex((byte) => (byte & 0b1100_0000) !== 0b1000_0000);
    return `... ${this.#kept.subarray(Math.max(0, start))}`;
  }
}
