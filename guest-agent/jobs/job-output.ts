/** What is kept of one stream of a job: its first bytes, readable from any offset while the job runs. */
import { Buffer } from 'node:buffer';
import { MAX_FRAME_BYTES } from '#protocol/framing.ts';
import { jsonBytes, MAX_KEPT_BYTES, TRUNCATION_MARK } from '../output.ts';

/** Room in the frame for everything but the two texts, shared by both. */
const MAX_JSON_BYTES = (MAX_FRAME_BYTES - 4096) / 2;
/** The longest character of UTF-8. */
const MAX_CHARACTER_BYTES = 4;

/** Bounds what all jobs together hold in memory. */
export interface Budget {
  bytes: number;
}

export interface OutputPiece {
  readonly text: string;
  /** Where the next piece begins. */
  readonly next: number;
}

export class JobOutput {
  readonly #budget: Budget;
  #kept: Buffer = Buffer.alloc(0);
  #keptBytes = 0;
  #totalBytes = 0;
  #isComplete = false;

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  get totalBytes(): number {
    return this.#totalBytes;
  }

  add(chunk: Buffer): void {
    const isFull = this.#totalBytes > this.#keptBytes;
    this.#totalBytes += chunk.length;
    const room = Math.min(MAX_KEPT_BYTES - this.#keptBytes, this.#budget.bytes);
    if (isFull || room <= 0) return;
    const kept = chunk.subarray(0, room);
    this.#reserve(this.#keptBytes + kept.length);
    this.#kept.set(kept, this.#keptBytes);
    this.#keptBytes += kept.length;
    this.#budget.bytes -= kept.length;
  }

  /** Nothing more will come: half a character at the end is all there will ever be. */
  complete(): void {
    this.#isComplete = true;
    this.#kept = Buffer.from(this.#kept.subarray(0, this.#keptBytes));
  }

  forget(): void {
    this.#budget.bytes += this.#keptBytes;
  }

  /** Cut between characters. Behind what was kept stands the mark of truncation, and then only the count goes on. */
  read(offset: number, maxBytes: number): OutputPiece {
    const isTruncated = this.#totalBytes > this.#keptBytes;
    if (offset > this.#keptBytes || (offset === this.#keptBytes && !isTruncated))
      return { text: '', next: Math.max(offset, this.#totalBytes) };
    const { text, next } = this.#readKept(offset, maxBytes);
    return isTruncated && next === this.#keptBytes ? { text: text + TRUNCATION_MARK, next: this.#totalBytes } : { text, next };
  }

  #readKept(offset: number, maxBytes: number): OutputPiece {
    const rest = this.#kept.subarray(offset, this.#keptBytes);
    const isFinal = this.#isComplete || this.#totalBytes > this.#keptBytes;
    // Not less than a character: a reader must always come to the end.
    for (let size = Math.min(rest.length, Math.max(maxBytes, MAX_CHARACTER_BYTES)); ; size = Math.floor(size / 2)) {
      const taken = size === rest.length && isFinal ? size : wholeCharacters(rest.subarray(0, size));
      const text = rest.toString('utf8', 0, taken);
      if (jsonBytes(text) <= MAX_JSON_BYTES) return { text, next: offset + taken };
    }
  }

  #reserve(bytes: number): void {
    if (bytes <= this.#kept.length) return;
    const larger = Buffer.alloc(Math.min(MAX_KEPT_BYTES, Math.max(bytes, this.#kept.length * 2)));
    larger.set(this.#kept.subarray(0, this.#keptBytes));
    this.#kept = larger;
  }
}

/** How many of the bytes are whole characters; an unfinished one can only be among the last three bytes. */
export function wholeCharacters(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(MAX_CHARACTER_BYTES - 1, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) break;
    if (byte >= 0xc0) return characterBytes(byte) > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

function characterBytes(first: number): number {
  if (first >= 0xf0) return 4;
  return first >= 0xe0 ? 3 : 2;
}
