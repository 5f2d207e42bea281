/**
 * Columns of text as Go's tabwriter makes them, which is what kubectl's tables are: a cell ends with a tab, a column is as wide as the widest
 * of the lines next to each other that have it, and the last cell of a line is not padded.
 */

export type Line = readonly string[];

export interface AlignStyle {
  /** Of a cell with its padding. */
  readonly minWidth: number;
  readonly padding: number;
  /** Least width of each column, and where the widths that came out are kept: rows that come later stay in line. */
  readonly remembered?: number[];
  /** Changes how a cell looks without changing its width. */
  readonly paint?: (cell: string, column: number, line: number) => string;
}

/** kubectl get, api-resources, config get-contexts. */
export const TABLE_STYLE: AlignStyle = { minWidth: 6, padding: 3 };
/** kubectl describe. */
export const DESCRIBE_STYLE: AlignStyle = { minWidth: 0, padding: 2 };

export function alignText(text: string, style: AlignStyle): string {
  return alignLines(
    text.split('\n').map((line) => line.split('\t')),
    style,
  ).slice(0, -1);
}

/** Every line ends with a line end. */
export function alignLines(lines: readonly Line[], style: AlignStyle): string {
  const widths = lines.map((): number[] => []);
  measure({ lines, widths, style }, { column: 0, from: 0, to: lines.length });
  const { paint = (cell) => cell } = style;
  return lines
    .map((line, at) => {
      const cells = line.map(
        (cell, column) => paint(cell, column, at) + ' '.repeat(Math.max(0, (widths[at]?.[column] ?? 0) - widthOf(cell))),
      );
      return `${cells.join('')}\n`;
    })
    .join('');
}

interface Measured {
  readonly lines: readonly Line[];
  readonly widths: number[][];
  readonly style: AlignStyle;
}

interface Block {
  readonly column: number;
  readonly from: number;
  readonly to: number;
}

/** The widths of one column in every run of lines that have it, and of the columns after it within each run. */
function measure(measured: Measured, { column, from, to }: Block): void {
  const { lines, widths, style } = measured;
  const has = (at: number) => at < to && column < (lines[at]?.length ?? 0) - 1;
  for (let start = from; start < to; start++) {
    if (!has(start)) continue;
    let end = start;
    let width = Math.max(style.minWidth, style.remembered?.[column] ?? 0);
    for (; has(end); end++) width = Math.max(width, widthOf(lines[end]?.[column] ?? '') + style.padding);
    if (style.remembered) style.remembered[column] = width;
    for (let at = start; at < end; at++) widths[at]?.push(width);
    measure(measured, { column: column + 1, from: start, to: end });
    start = end;
  }
}

/** In characters, not in UTF-16 units. */
function widthOf(text: string): number {
  let width = 0;
  for (const _ of text) width++;
  return width;
}
