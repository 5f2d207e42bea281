/** A small table inside a description: headers underlined, in line with itself and with nothing around it. */
import { alignLines, DESCRIBE_STYLE, type Line } from './align.ts';

export function listing(headers: readonly string[], rows: readonly Line[], indent = '  '): string[] {
  const text = alignLines([headers, headers.map((header) => '-'.repeat(header.length)), ...rows], DESCRIBE_STYLE);
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => `${indent}${line}`);
}
