/** Reads one answer of HTTP/1.1 from bytes as they arrive, wherever they are cut. No input or output of its own. */
import { type ParsedHead, parseHead, type ResponseHead } from './http-response-head.ts';

/** Of a head, of a chunk's size, of the trailers: nobody sends more who means well. */
const MAX_LINES_BYTES = 64 * 1024;
const NEWLINE = 10;

/** What the next byte belongs to. */
type Phase = 'head' | 'bytes' | 'until-close' | 'chunk-size' | 'chunk' | 'chunk-end' | 'trailers' | 'done';

export class ResponseReader {
  readonly #method: string;
  #phase: Phase = 'head';
  #head: ParsedHead | undefined;
  #headLines: string[] = [];
  /** The beginning of a line whose end has not come. */
  #line = '';
  #lineBytesLeft = MAX_LINES_BYTES;
  /** Of the body, or of its chunk. */
  #bytesLeft = 0;
  #isSurplus = false;

  constructor(method: string) {
    this.#method = method;
  }

  get head(): ResponseHead | undefined {
    return this.#head;
  }

  get isDone(): boolean {
    return this.#phase === 'done';
  }

  /** Another request may follow on the same connection. */
  get isReusable(): boolean {
    return this.isDone && !this.#isSurplus && this.#head?.isKept === true && this.#head.body.kind !== 'until-close';
  }

  /** Throws on what is not HTTP; what came before that has been handed out. */
  push(bytes: Buffer, onBody: (piece: Buffer) => void): void {
    for (let at = 0; at < bytes.length; ) {
      if (this.#phase === 'done') {
        this.#isSurplus = true;
        return;
      }
      const isBody = this.#phase === 'bytes' || this.#phase === 'chunk' || this.#phase === 'until-close';
      at = isBody ? this.#takeBody(bytes, at, onBody) : this.#takeLine(bytes, at);
    }
  }

  /** No more bytes will come. Whether that is the end of the answer or cuts it off, isDone says. */
  end(): void {
    if (this.#phase === 'until-close') this.#phase = 'done';
  }

  #takeBody(bytes: Buffer, at: number, onBody: (piece: Buffer) => void): number {
    const end = this.#phase === 'until-close' ? bytes.length : Math.min(bytes.length, at + this.#bytesLeft);
    this.#bytesLeft -= end - at;
    onBody(bytes.subarray(at, end));
    if (this.#bytesLeft === 0 && this.#phase === 'bytes') this.#phase = 'done';
    if (this.#bytesLeft === 0 && this.#phase === 'chunk') this.#phase = 'chunk-end';
    return end;
  }

  #takeLine(bytes: Buffer, at: number): number {
    const newline = bytes.indexOf(NEWLINE, at);
    const end = newline < 0 ? bytes.length : newline + 1;
    this.#lineBytesLeft -= end - at;
    if (this.#lineBytesLeft < 0) throw new Error('the answer has too long a head');
    this.#line += bytes.toString('latin1', at, end);
    if (newline < 0) return end;
    const line = this.#line;
    this.#line = '';
    if (!line.endsWith('\r\n')) throw new Error('the answer has a line that does not end as it should');
    this.#onLine(line.slice(0, -2));
    return end;
  }

  #onLine(line: string): void {
    if (this.#phase === 'head') this.#onHeadLine(line);
    else if (this.#phase === 'chunk-size') this.#onChunkSize(line);
    else if (this.#phase === 'chunk-end') this.#onChunkEnd(line);
    else if (line === '') this.#phase = 'done';
  }

  #onHeadLine(line: string): void {
    if (line !== '') {
      this.#headLines.push(line);
      return;
    }
    const head = parseHead(this.#headLines, this.#method);
    this.#headLines = [];
    if (head.status === 101) throw new Error('the answer changes the protocol');
    // Something to read while the real answer is on its way; it counts as part of its head.
    if (head.status < 200) return;
    this.#head = head;
    this.#beginBody(head);
  }

  #beginBody({ body }: ParsedHead): void {
    this.#lineBytesLeft = MAX_LINES_BYTES;
    if (body.kind === 'bytes') {
      this.#bytesLeft = body.count;
      this.#phase = body.count === 0 ? 'done' : 'bytes';
    } else this.#phase = body.kind === 'chunked' ? 'chunk-size' : 'until-close';
  }

  #onChunkSize(line: string): void {
    const [, size] = /^([0-9a-fA-F]{1,12})(?:[\t ]*;[\t -~\x80-\xff]*)?$/.exec(line) ?? [];
    if (size === undefined) throw new Error('the answer has a chunk without a size');
    this.#lineBytesLeft = MAX_LINES_BYTES;
    this.#bytesLeft = Number.parseInt(size, 16);
    this.#phase = this.#bytesLeft === 0 ? 'trailers' : 'chunk';
  }

  #onChunkEnd(line: string): void {
    if (line !== '') throw new Error('the answer has a chunk that is longer than it says');
    this.#phase = 'chunk-size';
  }
}
