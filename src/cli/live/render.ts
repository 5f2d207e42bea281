/** The board as lines for a terminal of a given size: cut, never wrapped, and with the least telling rows left out when there are too many. */
import type { Board } from '../follow-board.ts';
import { paintCell } from '../print/colour.ts';
import { type Row, rowsOf } from './rows.ts';
import { cut, padded, widthOf } from './width.ts';

export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

export interface RenderOptions extends TerminalSize {
  readonly now: Date;
  readonly hasColour: boolean;
}

export function renderBoard(board: Board, { now, hasColour, columns, rows: height }: RenderOptions): readonly string[] {
  const rows = rowsOf(board, now);
  // One line stays free for the cursor, and one column: some terminals wrap as soon as the last one is filled.
  const { shown, hidden } = choose(rows, Math.max(1, height - 1));
  const widths = widthsOf(shown);
  const lines = shown.map((row) => toLine(row, { widths, columns: columns - 1, hasColour }));
  return hidden.length === 0 ? lines : [...lines, cut(`… and ${hidden.length} more (${countsOf(hidden)})`, columns - 1)];
}

/** What a person would miss least goes first. */
const LEAST_TELLING = ['Succeeded', 'Ready', 'Blocked', 'Pending', 'Claimed'];

function choose(rows: readonly Row[], height: number): { shown: readonly Row[]; hidden: readonly Row[] } {
  if (rows.length <= height) return { shown: rows, hidden: [] };
  const rank = ({ kind, phase }: Row) => {
    const at = kind === 'team' ? -1 : LEAST_TELLING.indexOf(phase);
    return at < 0 ? LEAST_TELLING.length + Number(kind === 'team') : at;
  };
  // Of equals the later ones go.
  const byWorth = [...rows].sort((a, b) => rank(b) - rank(a));
  const kept = new Set(byWorth.slice(0, height - 1));
  return { shown: rows.filter((row) => kept.has(row)), hidden: rows.filter((row) => !kept.has(row)) };
}

function countsOf(rows: readonly Row[]): string {
  const counts = new Map<string, number>();
  for (const { phase } of rows) counts.set(phase, (counts.get(phase) ?? 0) + 1);
  return [...counts].map(([phase, count]) => `${count} ${phase}`).join(', ');
}

const CELLS = ['kind', 'name', 'phase', 'time', 'with'] as const;
type Widths = Readonly<Record<(typeof CELLS)[number], number>>;

function widthsOf(rows: readonly Row[]): Widths {
  const widest = (cell: (typeof CELLS)[number]) => Math.max(0, ...rows.map((row) => widthOf(row[cell])));
  return { kind: 5, name: widest('name'), phase: widest('phase'), time: widest('time'), with: widest('with') };
}

interface LineOptions {
  readonly widths: Widths;
  readonly columns: number;
  readonly hasColour: boolean;
}

function toLine(row: Row, { widths, columns, hasColour }: LineOptions): string {
  // What a team says stands next to its phase, where a narrow terminal still shows it.
  const columnsOf = row.kind === 'team' ? CELLS.slice(0, 3) : CELLS;
  const cells = columnsOf.map((cell) => (widths[cell] === 0 ? '' : `${padded(row[cell], widths[cell])}  `));
  const plain = cut(`${cells.join('')}${row.note}`.trimEnd(), columns);
  if (!hasColour) return plain;
  const start = cells.slice(0, 2).join('').length;
  const phase = plain.slice(start, start + row.phase.length);
  // A word that was cut has no meaning to colour.
  return phase === row.phase ? plain.slice(0, start) + paintCell(phase, 'phase') + plain.slice(start + phase.length) : plain;
}
