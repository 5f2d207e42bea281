/** Reads a tar archive as it comes: entries, and the bytes of files. It keeps no more than one header and one piece. */
import { BLOCK, parseHeader, type RawHeader, type TarEntry } from './tar-header.ts';

export interface TarSink {
  /** What is given back takes the bytes of the file; undefined: they are not wanted. */
  entry(entry: TarEntry): Promise<((bytes: Buffer) => Promise<void>) | undefined>;
  /** All of the present entry was there. */
  end(): Promise<void>;
}

/** Of a name that is told by itself, or of a pax header. */
const MAX_TOLD_BYTES = 64 * 1024;

export async function readTar(chunks: AsyncIterable<Buffer>, sink: TarSink): Promise<void> {
  const source = new Pieces(chunks);
  let told: Partial<TarEntry> = {};
  for (let block = await source.exactly(BLOCK); block; block = await source.exactly(BLOCK)) {
    const header = parseHeader(block);
    if (!header) continue;
    if (['L', 'x'].includes(header.flag)) {
      told = { ...told, ...toldBy(header, await source.whole(header.size, MAX_TOLD_BYTES)) };
      continue;
    }
    const entry = { ...header, ...told };
    told = {};
    const take = ['K', 'g'].includes(header.flag) ? undefined : await sink.entry(entry);
    await source.each(entry.type === 'folder' ? 0 : entry.size, take);
    await sink.end();
  }
}

/** GNU's long name, or a pax header: lines of `LENGTH KEY=VALUE`. */
function toldBy({ flag }: RawHeader, bytes: Buffer): Partial<TarEntry> {
  if (flag === 'L') return { name: bytes.toString('utf8').replace(/\0.*$/s, '') };
  let told: { name?: string; size?: number } = {};
  for (let at = 0; at < bytes.length; ) {
    const length = Number.parseInt(bytes.toString('latin1', at, at + 12), 10);
    if (!(length > 0)) break;
    const [, key, value = ''] = /^\d+ ([^=]+)=(.*)\n$/s.exec(bytes.toString('utf8', at, at + length)) ?? [];
    if (key === 'path') told = { ...told, name: value };
    if (key === 'size' && /^\d{1,15}$/.test(value)) told = { ...told, size: Number(value) };
    at += length;
  }
  return told;
}

/** Bytes in the portions that are asked for, wherever they were cut. */
class Pieces {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(chunks: AsyncIterable<Buffer>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** Undefined at the end. */
  async exactly(size: number): Promise<Buffer | undefined> {
    const pieces: Buffer[] = [];
    let missing = size;
    while (missing > 0) {
      const piece = await this.#upTo(missing);
      if (!piece && pieces.length === 0) return undefined;
      if (!piece) throw new Error('the archive breaks off');
      pieces.push(piece);
      missing -= piece.length;
    }
    return Buffer.concat(pieces);
  }

  async whole(size: number, most: number): Promise<Buffer> {
    if (size > most) throw new Error('the archive has a name that is too long');
    const bytes = (await this.exactly(Math.ceil(size / BLOCK) * BLOCK)) ?? Buffer.alloc(0);
    return bytes.subarray(0, size);
  }

  /** With the padding behind them, which nobody gets. */
  async each(size: number, take: ((bytes: Buffer) => Promise<void>) | undefined): Promise<void> {
    for (let left = size; left > 0; ) {
      const piece = await this.#upTo(left);
      if (!piece) throw new Error('the archive breaks off');
      await take?.(piece);
      left -= piece.length;
    }
    await this.exactly((BLOCK - (size % BLOCK)) % BLOCK);
  }

  async #upTo(size: number): Promise<Buffer | undefined> {
    while (this.#rest.length === 0) {
      const { value, done } = await this.#chunks.next();
      if (done) return undefined;
      this.#rest = value;
    }
    const piece = this.#rest.subarray(0, size);
    this.#rest = this.#rest.subarray(piece.length);
    return piece;
  }
}
