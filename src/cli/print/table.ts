/** A server's Table as lines: which columns are shown, what is added to them, and how they stand under each other. */
import type { TableColumn, TableRow } from '#client/table.ts';
import { toCell } from '#lib/escape.ts';
import { type AlignStyle, alignLines, type Line, TABLE_STYLE } from './align.ts';
import { paintCell } from './colour.ts';

export interface TableView {
  readonly isWide?: boolean;
  readonly withNamespace?: boolean;
  readonly withLabels?: boolean;
  /** -L: a column for each. */
  readonly labelColumns?: readonly string[];
  /** `team.agentiso.dev`, before each name. */
  readonly kindPrefix?: string | undefined;
  readonly withHeaders?: boolean;
  readonly hasColour?: boolean;
}

/** Prints rows as they come; those of one printer stay in line with each other. */
export function tablePrinter(view: TableView): (columns: readonly TableColumn[], rows: readonly TableRow[], event?: string) => string {
  const remembered: number[] = [];
  let isFirst = true;
  return (columns, rows, event) => {
    const headers = headerLine(columns, view, event);
    const lines = rows.map((row) => rowLine(row, columns, view, event));
    const withHeaders = isFirst && view.withHeaders !== false;
    isFirst = false;
    return alignLines(withHeaders ? [headers, ...lines] : lines, styleOf(view, headers, { remembered, withHeaders }));
  };
}

function styleOf(
  { hasColour }: TableView,
  headers: Line,
  { remembered, withHeaders }: { remembered: number[]; withHeaders: boolean },
): AlignStyle {
  if (!hasColour) return { ...TABLE_STYLE, remembered };
  const paint = (cell: string, column: number, line: number) => (withHeaders && line === 0 ? cell : paintCell(cell, headers[column] ?? ''));
  return { ...TABLE_STYLE, remembered, paint };
}

function headerLine(columns: readonly TableColumn[], view: TableView, event: string | undefined): Line {
  return [
    ...(event === undefined ? [] : ['EVENT']),
    ...(view.withNamespace ? ['NAMESPACE'] : []),
    ...columns.filter((column) => isShown(column, view)).map(({ name }) => name.toUpperCase()),
    ...(view.labelColumns ?? []).map((label) => (label.split('/').pop() ?? label).toUpperCase()),
    ...(view.withLabels ? ['LABELS'] : []),
  ];
}

function rowLine({ cells, object }: TableRow, columns: readonly TableColumn[], view: TableView, event: string | undefined): Line {
  const { namespace = '', labels = {} } = object?.metadata ?? {};
  const nameAt = Math.max(
    0,
    columns.findIndex(({ format }) => format === 'name'),
  );
  const shown = columns.flatMap((column, at) => {
    const cell = toCell(cells[at]);
    if (!isShown(column, view)) return [];
    return [at === nameAt && view.kindPrefix ? `${view.kindPrefix}/${cell}` : cell];
  });
  return [
    ...(event === undefined ? [] : [event]),
    ...(view.withNamespace ? [namespace] : []),
    ...shown,
    ...(view.labelColumns ?? []).map((label) => labels[label] ?? ''),
    ...(view.withLabels ? [labelsText(labels)] : []),
  ];
}

function isShown({ priority = 0 }: TableColumn, { isWide }: TableView): boolean {
  return priority === 0 || isWide === true;
}

export function labelsText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.keys(labels)
    .sort()
    .map((key) => `${key}=${labels[key]}`);
  return pairs.length === 0 ? '<none>' : pairs.join(',');
}
