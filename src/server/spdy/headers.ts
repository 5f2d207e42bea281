/** Header blocks of SPDY/3: names and values, compressed with one context per direction for the life of a session. */
import { constants, createDeflate, createInflate, type Deflate, type Inflate } from 'node:zlib';
import { DICTIONARY } from './dictionary.ts';

export type SpdyHeaders = Readonly<Record<string, string>>;

/** A small block may unpack to very much. */
const MAX_BLOCK_BYTES = 64 * 1024;
const MAX_HEADERS = 64;

export class HeaderReader {
  readonly #inflate: Inflate = createInflate({ dictionary: DICTIONARY, flush: constants.Z_SYNC_FLUSH });
  #pieces: Buffer[] = [];
  #size = 0;
  #problem: Error | undefined;

  constructor() {
    this.#inflate.on('data', (piece: Buffer) => {
      this.#size += piece.length;
      if (this.#size > MAX_BLOCK_BYTES) this.#inflate.destroy(tooLarge());
      else this.#pieces.push(piece);
    });
    this.#inflate.on('error', (error) => {
      this.#problem = error;
    });
  }

  /** One after the other: each block needs what was in those before. */
  async read(block: Buffer): Promise<SpdyHeaders> {
    this.#pieces = [];
    this.#size = 0;
    await new Promise<void>((resolve, reject) => {
      if (this.#problem) reject(this.#problem);
      const fail = (error?: Error) => reject(error ?? this.#problem ?? new Error('the headers cannot be read'));
      this.#inflate.once('close', fail);
      this.#inflate.write(block, (error) => {
        this.#inflate.off('close', fail);
        if (this.#size > MAX_BLOCK_BYTES) reject(tooLarge());
        else if (error) reject(error);
        else resolve();
      });
    });
    return parseHeaders(Buffer.concat(this.#pieces));
  }

  close(): void {
    this.#inflate.destroy();
  }
}

function tooLarge(): Error {
  return new Error(`a header block has more than ${MAX_BLOCK_BYTES} bytes`);
}

export class HeaderWriter {
  readonly #deflate: Deflate = createDeflate({ dictionary: DICTIONARY });
  #pieces: Buffer[] = [];

  constructor() {
    this.#deflate.on('data', (piece: Buffer) => this.#pieces.push(piece));
  }

  async write(headers: SpdyHeaders): Promise<Buffer> {
    this.#pieces = [];
    this.#deflate.write(formatHeaders(headers));
    await new Promise<void>((resolve) => this.#deflate.flush(constants.Z_SYNC_FLUSH, resolve));
    return Buffer.concat(this.#pieces);
  }

  close(): void {
    this.#deflate.destroy();
  }
}

export function parseHeaders(block: Buffer): SpdyHeaders {
  let at = 0;
  const number = () => {
    if (at + 4 > block.length) throw new Error('a header block is too short');
    at += 4;
    return block.readUInt32BE(at - 4);
  };
  const word = () => {
    const length = number();
    if (at + length > block.length) throw new Error('a header block is too short');
    at += length;
    return block.toString('latin1', at - length, at);
  };
  const count = number();
  if (count > MAX_HEADERS) throw new Error(`a header block has more than ${MAX_HEADERS} headers`);
  const headers: Record<string, string> = Object.create(null);
  for (let index = 0; index < count; index++) {
    const name = word().toLowerCase();
    headers[name] = word();
  }
  return headers;
}

export function formatHeaders(headers: SpdyHeaders): Buffer {
  const entries = Object.entries(headers);
  return Buffer.concat([number(entries.length), ...entries.flatMap((entry) => entry.flatMap(prefixed))]);
}

function prefixed(word: string): Buffer[] {
  const bytes = Buffer.from(word, 'latin1');
  return [number(bytes.length), bytes];
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
