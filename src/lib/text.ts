/** Cutting text by bytes without cutting a character. */

/** The beginning and the end of a text that is too long, with a line between them that says how much is missing. */
export function headAndTail(text: string, maxBytes: number): { readonly text: string; readonly isCut: boolean } {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return { text, isCut: false };
  const half = Math.floor(maxBytes / 2);
  const head = bytes.subarray(0, boundaryBefore(bytes, half));
  const tail = bytes.subarray(boundaryAfter(bytes, bytes.length - half));
  const missing = bytes.length - head.length - tail.length;
  return { text: `${head}\n... (${missing} of ${bytes.length} bytes left out)\n${tail}`, isCut: true };
}

function boundaryBefore(bytes: Buffer, at: number): number {
  let cut = at;
  while (cut > 0 && isContinuation(bytes[cut])) cut--;
  return cut;
}

function boundaryAfter(bytes: Buffer, at: number): number {
  let cut = at;
  while (cut < bytes.length && isContinuation(bytes[cut])) cut++;
  return cut;
}

/** The second and later bytes of a character in UTF-8 begin with the bits 10. */
function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0b1100_0000) === 0b1000_0000;
}
