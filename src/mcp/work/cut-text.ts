/** The beginning of a text that is too long, never half a character. Pure. */

const MARK = '... (truncated)';

export function cutText(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes;
  // The second and later bytes of a character in UTF-8 begin with the bits 10.
  while (end > 0 && ((bytes[end] ?? 0) & 0b1100_0000) === 0b1000_0000) end--;
  return `${bytes.subarray(0, end)}\n${MARK}`;
}
