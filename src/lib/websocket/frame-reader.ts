/** Frames of a WebSocket out of bytes as they come, wherever they are cut. No input or output of its own. */
import { applyMask, type Frame, MASK_BYTES, MAX_CONTROL_BYTES, OPCODE } from './frames.ts';

/** What a peer must not send; `code` is how that is said when hanging up. */
export class FrameError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.name = 'FrameError';
    this.code = code;
  }
}

export interface FrameReaderOptions {
  /** Frames of a client are masked, those of a server are not. */
  readonly from: 'client' | 'server';
  /** What says that it is larger gets refused. */
  readonly maxFrameBytes: number;
}

interface Head {
  readonly opcode: number;
  readonly isLast: boolean;
  readonly mask: Buffer | undefined;
  readonly payload: Buffer;
}

/** It keeps no more than one frame that is not whole. */
export class FrameReader {
  readonly #from: 'client' | 'server';
  readonly #maxFrameBytes: number;
  #rest: Buffer = Buffer.alloc(0);
  #head: Head | undefined;
  #filled = 0;

  constructor({ from, maxFrameBytes }: FrameReaderOptions) {
    this.#from = from;
    this.#maxFrameBytes = maxFrameBytes;
  }

  /** Throws FrameError on what no such peer may send. */
  *push(bytes: Buffer): Generator<Frame> {
    let left = this.#rest.length > 0 ? Buffer.concat([this.#rest, bytes]) : bytes;
    this.#rest = Buffer.alloc(0);
    for (;;) {
      if (!this.#head) {
        const taken = this.#takeHead(left);
        if (taken === 0) break;
        left = left.subarray(taken);
      }
      left = left.subarray(this.#fill(left));
      const frame = this.#whole();
      if (!frame) return;
      yield frame;
    }
    // A copy: a slice would keep everything that came with it.
    this.#rest = Buffer.from(left);
  }

  /** How many bytes the head has; 0 while it is not there as a whole. */
  #takeHead(bytes: Buffer): number {
    if (bytes.length < 2) return 0;
    const first = bytes.readUInt8(0);
    const second = bytes.readUInt8(1);
    checkFirst(first);
    const isMasked = this.#checkMask(second);
    const short = second & 0x7f;
    const maskAt = 2 + (short === 126 ? 2 : short === 127 ? 8 : 0);
    const size = maskAt + (isMasked ? MASK_BYTES : 0);
    if (bytes.length < size) return 0;
    const length = lengthOf(bytes, short);
    this.#checkLength(first & 0x0f, length);
    this.#head = {
      opcode: first & 0x0f,
      isLast: (first & 0x80) !== 0,
      mask: isMasked ? Buffer.from(bytes.subarray(maskAt, size)) : undefined,
      payload: Buffer.allocUnsafe(length),
    };
    this.#filled = 0;
    return size;
  }

  #checkMask(second: number): boolean {
    const isMasked = (second & 0x80) !== 0;
    if (isMasked === (this.#from === 'client')) return isMasked;
    throw new FrameError(1002, isMasked ? 'a frame of a server must not be masked' : 'a frame of a client must be masked');
  }

  #checkLength(opcode: number, length: number): void {
    if (opcode >= OPCODE.close && length > MAX_CONTROL_BYTES) throw new FrameError(1002, 'a control frame is too long');
    if (length > this.#maxFrameBytes) throw new FrameError(1009, `a frame has more than ${this.#maxFrameBytes} bytes`);
  }

  #fill(bytes: Buffer): number {
    if (!this.#head) return 0;
    const { payload, mask } = this.#head;
    const count = bytes.copy(payload, this.#filled);
    if (mask) applyMask(payload, mask, { from: this.#filled, to: this.#filled + count });
    this.#filled += count;
    return count;
  }

  #whole(): Frame | undefined {
    const head = this.#head;
    if (!head || this.#filled < head.payload.length) return undefined;
    this.#head = undefined;
    return head;
  }
}

const KNOWN: readonly number[] = Object.values(OPCODE);

function checkFirst(first: number): void {
  if ((first & 0x70) !== 0) throw new FrameError(1002, 'a frame uses an extension that was not agreed on');
  const opcode = first & 0x0f;
  if (!KNOWN.includes(opcode)) throw new FrameError(1002, `a frame has the unknown opcode ${opcode}`);
  if (opcode >= OPCODE.close && (first & 0x80) === 0) throw new FrameError(1002, 'a control frame is in pieces');
}

function lengthOf(bytes: Buffer, short: number): number {
  if (short < 126) return short;
  return short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
}
