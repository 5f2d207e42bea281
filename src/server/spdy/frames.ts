/** Frames of SPDY/3.1 to and from bytes. Data is handed out as it comes; only control frames, which are small, are put together. */

export const TYPE = { synStream: 1, synReply: 2, rstStream: 3, settings: 4, ping: 6, goAway: 7, headers: 8, windowUpdate: 9 } as const;
export const FLAG_FIN = 1;
export const RST = { protocolError: 1, invalidStream: 2, refusedStream: 3, cancel: 5, internalError: 6 } as const;

const HEAD_BYTES = 8;
const MAX_CONTROL_BYTES = 16 * 1024;
const VERSION = 3;

export type SpdyFrame =
  | { readonly kind: 'control'; readonly type: number; readonly flags: number; readonly payload: Buffer }
  /** A piece of a data frame; `isFin` with the last one only. */
  | { readonly kind: 'data'; readonly stream: number; readonly bytes: Buffer; readonly isFin: boolean };

interface Head {
  readonly stream: number;
  /** 0 for data. */
  readonly type: number;
  readonly flags: number;
  readonly isData: boolean;
  left: number;
}

export class SpdyFrameReader {
  #rest: Buffer = Buffer.alloc(0);
  #head: Head | undefined;

  /** Throws on what is not SPDY/3. */
  *push(bytes: Buffer): Generator<SpdyFrame> {
    let left = this.#rest.length > 0 ? Buffer.concat([this.#rest, bytes]) : bytes;
    this.#rest = Buffer.alloc(0);
    while (this.#head || left.length >= HEAD_BYTES) {
      if (!this.#head) {
        this.#head = readHead(left);
        left = left.subarray(HEAD_BYTES);
      }
      const count = countOf(this.#head, left.length);
      if (count === undefined) break;
      const head = this.#head;
      head.left -= count;
      if (head.left === 0) this.#head = undefined;
      yield frameOf(head, left.subarray(0, count));
      left = left.subarray(count);
    }
    // A copy: a slice would keep everything that came with it.
    this.#rest = Buffer.from(left);
  }
}

/** How much of what is there belongs to the frame; undefined to wait for more. */
function countOf({ isData, left }: Head, available: number): number | undefined {
  if (available >= left) return left;
  return isData && available > 0 ? available : undefined;
}

function frameOf({ isData, type, flags, stream, left }: Head, bytes: Buffer): SpdyFrame {
  if (!isData) return { kind: 'control', type, flags, payload: bytes };
  return { kind: 'data', stream, bytes, isFin: left === 0 && (flags & FLAG_FIN) !== 0 };
}

function readHead(bytes: Buffer): Head {
  const first = bytes.readUInt32BE(0);
  const second = bytes.readUInt32BE(4);
  const flags = second >>> 24;
  const left = second & 0xffffff;
  if (first >>> 31 === 0) return { stream: first, type: 0, flags, isData: true, left };
  const version = (first >>> 16) & 0x7fff;
  if (version !== VERSION) throw new Error(`a frame is of SPDY/${version}; 3 is understood`);
  if (left > MAX_CONTROL_BYTES) throw new Error(`a control frame has more than ${MAX_CONTROL_BYTES} bytes`);
  return { stream: 0, type: first & 0xffff, flags, isData: false, left };
}

/** Whole frames only; the payload may be in parts. */
export function controlFrame(type: number, ...payload: readonly Buffer[]): Buffer {
  const length = payload.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([words(((0x8000 | VERSION) << 16) | type, length), ...payload]);
}

export function dataHead(stream: number, length: number, isFin: boolean): Buffer {
  return words(stream, ((isFin ? FLAG_FIN : 0) << 24) | length);
}

export function words(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  values.forEach((value, index) => {
    bytes.writeUInt32BE(value >>> 0, 4 * index);
  });
  return bytes;
}
