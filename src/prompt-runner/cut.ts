/** Texts that have become too long, cut between characters. Pure. */

const MARK = '\n... (truncated)';

export function cutText(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  return `${head(text, maxBytes - Buffer.byteLength(MARK))}${MARK}`;
}

/** The end is what counts: an agent says last what it has come to. */
export function keepEnd(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  let start = bytes.length - maxBytes;
  while (start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return bytes.toString('utf8', start);
}

function head(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  let end = Math.max(0, maxBytes);
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}
