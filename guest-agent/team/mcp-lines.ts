/** Lines of a stream of bytes, each of a bounded length. */

/** What the guest takes at once. */
export const MAX_LINE_BYTES = 4 * 1024 * 1024;
const NEWLINE = 10;

export type Line = 'too long' | { readonly text: string };

/** Empty ones are left out, and so is a last one without its end. One that is too long is told once, and not kept. */
export async function* linesOf(input: AsyncIterable<Buffer>): AsyncGenerator<Line> {
  let parts: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of input) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const line = toLine([...parts, chunk.subarray(start, end)], bytes + end - start);
      if (line !== undefined) yield line;
      parts = [];
      bytes = 0;
      start = end + 1;
    }
    bytes += chunk.length - start;
    parts = bytes > MAX_LINE_BYTES ? [] : [...parts, chunk.subarray(start)];
  }
}

function toLine(parts: readonly Buffer[], bytes: number): Line | undefined {
  if (bytes > MAX_LINE_BYTES) return 'too long';
  const text = Buffer.concat(parts).toString('utf8').trim();
  return text === '' ? undefined : { text };
}
