/** Bytes to messages and back: u32 big-endian length (without itself) + UTF-8 JSON. Pure. */
import { Buffer } from 'node:buffer';
import { ProtocolError } from './protocol-error.ts';

/** Fixed: both sides check it, the sender before writing, the receiver before buffering. */
export const MAX_FRAME_BYTES = 4_194_304;

const HEADER_BYTES = 4;

/** Of one character in UTF-8, as strings count them. */
const MAX_CHARACTER_BYTES = 3;

export function encodeFrame(message: object): Buffer {
  return encodeFrames([toBody(message)]);
}

/** The text of one frame. Throws TooLarge. */
export function toBody(message: object): string {
  return checkedBody(JSON.stringify(message));
}

/** Throws TooLarge. */
export function checkedBody(text: string): string {
  if (text.length * MAX_CHARACTER_BYTES <= MAX_FRAME_BYTES) return text;
  const bodyBytes = Buffer.byteLength(text);
  if (bodyBytes <= MAX_FRAME_BYTES) return text;
  throw new ProtocolError('TooLarge', `a message of ${bodyBytes} bytes is over the limit of ${MAX_FRAME_BYTES}`);
}

/** Frames one behind the other, in one piece of memory. */
export function encodeFrames(bodies: readonly string[]): Buffer {
  let bytes = 0;
  const lengths = bodies.map((body) => {
    const length = Buffer.byteLength(body);
    bytes += HEADER_BYTES + length;
    return length;
  });
  const frames = Buffer.allocUnsafe(bytes);
  let end = 0;
  for (const [index, body] of bodies.entries()) {
    end = frames.writeUInt32BE(lengths[index] ?? 0, end);
    end += frames.write(body, end);
  }
  return frames;
}

export class FrameDecoder {
  readonly #header = Buffer.alloc(HEADER_BYTES);
  #headerBytes = 0;
  #body: Buffer | undefined;
  #bodyBytes = 0;

  /** True when the stream must not end here. */
  get isMidFrame(): boolean {
    return this.#headerBytes > 0;
  }

  /** Lazy, so that messages before a malformed frame still come out: iterate to the end before the next push. */
  *push(chunk: Uint8Array): Generator<unknown, void> {
    let rest = chunk;
    while (rest.length > 0) {
      const whole = this.isMidFrame ? undefined : wholeBody(rest);
      if (whole !== undefined) {
        rest = rest.subarray(HEADER_BYTES + whole.length);
        yield parseBody(whole);
        continue;
      }
      rest = rest.subarray(this.#body === undefined ? this.#fillHeader(rest) : this.#fillBody(this.#body, rest));
      if (this.#body !== undefined && this.#bodyBytes === this.#body.length) yield this.#takeMessage(this.#body);
    }
  }

  #fillHeader(bytes: Uint8Array): number {
    const taken = bytes.subarray(0, HEADER_BYTES - this.#headerBytes);
    this.#header.set(taken, this.#headerBytes);
    this.#headerBytes += taken.length;
    if (this.#headerBytes === HEADER_BYTES) this.#body = Buffer.allocUnsafe(checkLength(this.#header.readUInt32BE()));
    return taken.length;
  }

  #fillBody(body: Buffer, bytes: Uint8Array): number {
    const taken = bytes.subarray(0, body.length - this.#bodyBytes);
    body.set(taken, this.#bodyBytes);
    this.#bodyBytes += taken.length;
    return taken.length;
  }

  #takeMessage(body: Buffer): unknown {
    this.#headerBytes = 0;
    this.#body = undefined;
    this.#bodyBytes = 0;
    return parseBody(body);
  }
}

/** Most frames arrive in one piece: such a one is read where it lies. */
function wholeBody(bytes: Uint8Array): Uint8Array | undefined {
  if (bytes.length < HEADER_BYTES) return undefined;
  const [a = 0, b = 0, c = 0, d = 0] = bytes;
  const bodyBytes = checkLength(((a << 24) | (b << 16) | (c << 8) | d) >>> 0);
  return bytes.length < HEADER_BYTES + bodyBytes ? undefined : bytes.subarray(HEADER_BYTES, HEADER_BYTES + bodyBytes);
}

function checkLength(bodyBytes: number): number {
  if (bodyBytes === 0) throw new ProtocolError('Invalid', 'a frame of length 0');
  if (bodyBytes > MAX_FRAME_BYTES)
    throw new ProtocolError('Invalid', `a frame of ${bodyBytes} bytes is over the limit of ${MAX_FRAME_BYTES}`);
  return bodyBytes;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function parseBody(body: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(body));
  } catch (cause) {
    throw new ProtocolError('Invalid', 'a frame that is not UTF-8 JSON', cause);
  }
}
