/** Bytes as text, or where they stop being UTF-8: read on regardless, a file would be stored with other letters than it has. Pure. */
import { isUtf8 } from 'node:buffer';

export interface BadByte {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

export function decodeUtf8(bytes: Buffer): string | BadByte {
  const text = bytes.toString('utf8');
  return isUtf8(bytes) ? text : badByte(bytes, text);
}

/** What was read instead of a bad byte is written differently: the first difference is where it stood. */
function badByte(bytes: Buffer, text: string): BadByte {
  const again = Buffer.from(text);
  let at = 0;
  while (at < bytes.length && bytes[at] === again[at]) at++;
  const lines = bytes.toString('utf8', 0, at).split('\n');
  const found = `0x${(bytes[at] ?? 0).toString(16).padStart(2, '0')}`;
  return { line: lines.length, column: (lines.at(-1) ?? '').length + 1, message: `not UTF-8 text (byte ${found}); save the file as UTF-8` };
}
