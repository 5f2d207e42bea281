/** What is kept of a command's output: bounded in memory, cut between characters, small enough for one answer. */
import { Buffer } from 'node:buffer';
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { MAX_FRAME_BYTES } from '#protocol/framing.ts';

export const MAX_KEPT_BYTES = 2 * 1024 * 1024;
/** Ends the output of a task that was cut. */
export const TRUNCATION_MARK = '\n... (truncated)';

/** Room in the frame for everything but the two texts. */
const ENVELOPE_BYTES = 4096;

export interface OutputText {
  readonly text: string;
  readonly isTruncated: boolean;
  /** Of everything the command wrote. */
  readonly totalBytes: number;
}

/** What stands behind an output that was cut. */
export type Mark = (totalBytes: number, shownBytes: number) => string;

const taskMark: Mark = () => TRUNCATION_MARK;
export const execMark: Mark = (totalBytes, shownBytes) => `\n[TRUNCATED: ${totalBytes} bytes total, showing first ${shownBytes} bytes]`;

/** Reads to the end, so that the command never blocks on a full pipe, and keeps the first MAX_KEPT_BYTES. */
export class Output {
  readonly #chunks: Buffer[] = [];
  #keptBytes = 0;
  #totalBytes = 0;

  constructor(stream: Readable) {
    stream.on('data', (chunk: Buffer) => this.#keep(chunk));
  }

  /** Without the mark of truncation. */
  read(): OutputText {
    const decoder = new StringDecoder('utf8');
    const text = decoder.write(Buffer.concat(this.#chunks));
    // end() would make a replacement character of the half character at the cut.
    const isTruncated = this.#totalBytes > this.#keptBytes;
    return { text: isTruncated ? text : text + decoder.end(), isTruncated, totalBytes: this.#totalBytes };
  }

  #keep(chunk: Buffer): void {
    const room = MAX_KEPT_BYTES - this.#keptBytes;
    this.#totalBytes += chunk.length;
    if (room === 0) return;
    const kept = chunk.length > room ? Buffer.from(chunk.subarray(0, room)) : chunk;
    this.#chunks.push(kept);
    this.#keptBytes += kept.length;
  }
}

export interface Outputs {
  readonly stdout: OutputText;
  readonly stderr: OutputText;
}

/**
 * Cuts the larger stream first: JSON needs up to six bytes for one byte of output, so that even one stream may be more than a frame.
 * Adds the mark of truncation.
 */
export function fitIntoAnswer({ stdout, stderr }: Outputs, mark = taskMark): Outputs {
  const budget = MAX_FRAME_BYTES - ENVELOPE_BYTES;
  const stdoutBytes = jsonBytes(stdout.text);
  const stderrBytes = jsonBytes(stderr.text);
  return {
    stdout: fitTo(stdout, Math.max(budget / 2, budget - stderrBytes), mark),
    stderr: fitTo(stderr, Math.max(budget / 2, budget - stdoutBytes), mark),
  };
}

function fitTo(output: OutputText, budgetBytes: number, mark: Mark): OutputText {
  const { text, isTruncated, totalBytes } = output;
  const kept = jsonBytes(text) <= budgetBytes ? text : cutToJsonBytes(text, budgetBytes);
  if (!isTruncated && kept.length === text.length) return output;
  return { text: kept + mark(totalBytes, Buffer.byteLength(kept)), isTruncated: true, totalBytes };
}

/** In steps, because measuring character by character takes a second for 2 MiB. A step may split a pair of surrogates: it counts more then. */
function cutToJsonBytes(text: string, budgetBytes: number): string {
  let room = budgetBytes;
  let end = 0;
  for (const step of [65_536, 256, 1]) {
    for (
      let bytes = jsonBytes(text.slice(end, end + step));
      bytes <= room && end < text.length;
      bytes = jsonBytes(text.slice(end, end + step))
    ) {
      room -= bytes;
      end += step;
    }
  }
  return text.slice(0, isHighSurrogate(text.charCodeAt(end - 1)) ? end - 1 : end);
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

export function jsonBytes(text: string): number {
  const quotes = 2;
  return Buffer.byteLength(JSON.stringify(text)) - quotes;
}
