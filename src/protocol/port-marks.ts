/**
 * Connections over a port that knows none: bytes go in at one end and come out at the other, some may be lost when an end is closed and
 * opened again, and what one connection left on its way comes out in the next. Marks between the frames say where a connection begins,
 * and which. Pure.
 *
 * A mark begins with eight bytes that no frame can hold in a row: its length has at most three of them, and UTF-8 has none.
 */
import { Buffer } from 'node:buffer';

/** open: the host begins a connection. ready: the guest has heard of it. end: its sender says no more on it. */
export type MarkKind = 'open' | 'ready' | 'end';

export interface Mark {
  readonly kind: MarkKind;
  /** Of the connection, chosen by the host. */
  readonly connection: string;
}

const MARK_BYTE = 0xff;
const RUN_BYTES = 8;
const LETTERS = { open: 'O', ready: 'R', end: 'E' } as const;
const KINDS: Readonly<Record<string, MarkKind>> = { O: 'open', R: 'ready', E: 'end' };
const BODY = /^([ORE])([0-9a-f]{16})$/;
const BODY_BYTES = 17;

export function encodeMark({ kind, connection }: Mark): Buffer {
  const mark = Buffer.alloc(RUN_BYTES + BODY_BYTES, MARK_BYTE);
  mark.write(`${LETTERS[kind]}${connection}`, RUN_BYTES, 'latin1');
  return mark;
}

/** Takes the bytes of a port apart: marks, and what is between them as it came. A mark that is not whole is dropped. */
export class MarkReader {
  /** Bytes of a mark's beginning that came last, and may be no mark. */
  #run = 0;
  #body: number[] | undefined;

  *push(chunk: Uint8Array): Generator<Uint8Array | Mark, void> {
    for (let rest = chunk; rest.length > 0; ) {
      if (this.#body !== undefined) {
        const mark = this.#takeBody(this.#body, rest[0] ?? 0);
        rest = rest.subarray(1);
        if (mark !== undefined) yield mark;
        continue;
      }
      const run = runLength(rest);
      rest = rest.subarray(run);
      this.#run += run;
      if (rest.length > 0) rest = yield* this.#takeAfterRun(rest);
    }
  }

  /** Gives what is left of the bytes. */
  *#takeAfterRun(bytes: Uint8Array): Generator<Uint8Array, Uint8Array> {
    const held = this.#takeRun();
    if (held !== undefined) yield held;
    if (this.#body !== undefined) return bytes;
    const end = plainEnd(bytes);
    yield bytes.subarray(0, end);
    return bytes.subarray(end);
  }

  /** The run is over: a mark follows, or it was none and is given back. */
  #takeRun(): Uint8Array | undefined {
    const run = this.#run;
    this.#run = 0;
    if (run >= RUN_BYTES) this.#body = [];
    return run === 0 || run >= RUN_BYTES ? undefined : Buffer.alloc(run, MARK_BYTE);
  }

  #takeBody(body: number[], byte: number): Mark | undefined {
    if (byte === MARK_BYTE) {
      // The rest of this mark was lost, and here is the next.
      this.#body = undefined;
      this.#run = 1;
      return undefined;
    }
    body.push(byte);
    if (body.length < BODY_BYTES) return undefined;
    this.#body = undefined;
    const [, letter = '', connection = ''] = BODY.exec(Buffer.from(body).toString('latin1')) ?? [];
    const kind = KINDS[letter];
    return kind === undefined ? undefined : { kind, connection };
  }
}

/** How many bytes at its beginning are those of a mark's. */
function runLength(bytes: Uint8Array): number {
  let length = 0;
  while (bytes[length] === MARK_BYTE) length += 1;
  return length;
}

/** Up to where nothing can be of a mark; a few such bytes that are over within the chunk, as lengths have them, do not count. */
function plainEnd(bytes: Uint8Array): number {
  for (let at = bytes.indexOf(MARK_BYTE); at !== -1; ) {
    const end = at + runLength(bytes.subarray(at));
    if (end === bytes.length || end - at >= RUN_BYTES) return at;
    at = bytes.indexOf(MARK_BYTE, end);
  }
  return bytes.length;
}
