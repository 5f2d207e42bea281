/** What is kept of one stream of a command: its first bytes, cut between characters, and how many there were. */
import { setTimeout as delay } from 'node:timers/promises';

/**
 * Of output that is only counted. A command that writes without end waits for its reader, as in any pipe, instead of keeping the daemon
 * busy with what nobody sees.
 */
const COUNTED_BYTES_PER_MS = 8 * 1024;

export interface KeptOutput {
  /** With the mark of truncation where it was cut. */
  readonly text: string;
  readonly isTruncated: boolean;
}

/** Reads until the stream ends or breaks: how the call ended is said by its result. */
export async function keepOutput(
  stream: AsyncIterable<Buffer>,
  { maxBytes, onChunk }: { readonly maxBytes: number; readonly onChunk?: ((chunk: Buffer) => void) | undefined },
): Promise<KeptOutput> {
  const kept: Buffer[] = [];
  let keptBytes = 0;
  let totalBytes = 0;
  try {
    for await (const chunk of stream) {
      const head = chunk.subarray(0, maxBytes - keptBytes);
      if (head.length > 0) kept.push(head);
      keptBytes += head.length;
      totalBytes += chunk.length;
      onChunk?.(chunk);
      if (head.length < chunk.length) await delay((chunk.length - head.length) / COUNTED_BYTES_PER_MS);
    }
  } catch {
    // Broken off: what came is what there is.
  }
  return toKept(Buffer.concat(kept), totalBytes);
}

export function toKept(bytes: Buffer, totalBytes: number): KeptOutput {
  if (totalBytes <= bytes.length) return { text: bytes.toString(), isTruncated: false };
  const shown = wholeCharacters(bytes);
  return {
    text: `${bytes.toString('utf8', 0, shown)}\n[TRUNCATED: ${totalBytes} bytes total, showing first ${shown} bytes]`,
    isTruncated: true,
  };
}

/** Of UTF-8. */
const LONGEST_CHARACTER_BYTES = 4;

/** How many of the bytes are whole characters. What is no UTF-8 is cut anywhere. */
export function wholeCharacters(bytes: Uint8Array): number {
  for (let back = 1; back < LONGEST_CHARACTER_BYTES && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    const isContinuation = (byte & 0b1100_0000) === 0b1000_0000;
    if (!isContinuation) return back < characterBytes(byte) ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

function characterBytes(first: number): number {
  if (first >= 0xf0) return 4;
  if (first >= 0xe0) return 3;
  return first >= 0xc0 ? 2 : 1;
}
