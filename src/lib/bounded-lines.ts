/** Bytes as they arrive, cut into lines. A line that is too long is dropped, and its two ends are kept to say whose it was. */

export interface CutLine {
  readonly head: string;
  readonly tail: string;
}

export interface LineHandlers {
  /** With its newline; never nothing but that. */
  onLine(line: Buffer): void;
  onTooLong(line: CutLine): void;
}

const NEWLINE = 10;
const CARRIAGE_RETURN = 13;
const END_BYTES = 256;

export class BoundedLines {
  readonly #maxBytes: number;
  readonly #handlers: LineHandlers;
  #pieces: Buffer[] = [];
  #bytes = 0;
  /** Of a line that is being dropped. */
  #head: string | undefined;
  #tail: Buffer = Buffer.alloc(0);

  constructor(maxBytes: number, handlers: LineHandlers) {
    this.#maxBytes = maxBytes;
    this.#handlers = handlers;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.#append(start === 0 && end + 1 === chunk.length ? chunk : chunk.subarray(start, end + 1));
      this.#finish();
      start = end + 1;
    }
    if (start < chunk.length) this.#append(start === 0 ? chunk : chunk.subarray(start));
  }

  /** These bytes, coming now, would be given as they are: whole lines, none of which is too long. */
  isWhole(chunk: Buffer): boolean {
    return this.#bytes === 0 && chunk.length <= this.#maxBytes && chunk[chunk.length - 1] === NEWLINE;
  }

  /** What came after the last newline is no line, and is forgotten. */
  reset(): void {
    this.#pieces = [];
    this.#bytes = 0;
    this.#head = undefined;
  }

  #append(piece: Buffer): void {
    this.#bytes += piece.length;
    if (this.#head !== undefined) {
      this.#tail = lastBytes(this.#tail, piece);
      return;
    }
    this.#pieces.push(piece);
    if (this.#bytes <= this.#maxBytes) return;
    const whole = Buffer.concat(this.#pieces);
    this.#head = whole.toString('utf8', 0, END_BYTES);
    this.#tail = Buffer.from(whole.subarray(-END_BYTES));
    this.#pieces = [];
  }

  #finish(): void {
    const [head, pieces] = [this.#head, this.#pieces];
    this.reset();
    if (head !== undefined) this.#handlers.onTooLong({ head, tail: this.#tail.toString('utf8') });
    else this.#give(pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces));
  }

  #give(line: Buffer): void {
    const isEmpty = line.length === 1 || (line.length === 2 && line[0] === CARRIAGE_RETURN);
    if (!isEmpty) this.#handlers.onLine(line);
  }
}

/** Of bytes that are whole lines: each with its newline. */
export function eachLine(lines: Buffer): readonly Buffer[] {
  const found: Buffer[] = [];
  for (let start = 0; start < lines.length; ) {
    const end = lines.indexOf(NEWLINE, start) + 1;
    found.push(lines.subarray(start, end));
    start = end;
  }
  return found;
}

function lastBytes(before: Buffer, piece: Buffer): Buffer {
  return piece.length >= END_BYTES ? Buffer.from(piece.subarray(-END_BYTES)) : Buffer.concat([before, piece]).subarray(-END_BYTES);
}
