/** Printer columns compiled once: the headers of a Table and how to make the cells of a row. */
import type { PrinterColumn } from '#api/schema.ts';
import { ageOf } from '#lib/age.ts';
import { isObject } from '#lib/json.ts';
import { firstMatch, type JsonPathTemplate, parseJsonPath, printValue } from '#lib/jsonpath.ts';
import type { WithMetadata } from './partial.ts';

export interface ColumnDefinition {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
}

export interface TableFormat {
  readonly headers: readonly ColumnDefinition[];
  /** As many as there are headers. */
  readonly cellsOf: (object: WithMetadata, now: Date) => unknown[];
}

type Column = PrinterColumn & { readonly format?: string };

export const NAME_HEADER: ColumnDefinition = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: 'The name of the object; it identifies the object within its namespace.',
  priority: 0,
};

/** Kinds that declare no column get this one. */
const AGE: Column = {
  name: 'Age',
  type: 'date',
  jsonPath: '.metadata.creationTimestamp',
  description: 'How long the object has existed.',
};

const compiled = new WeakMap<readonly Column[], TableFormat>();

export function tableFormatOf(columns: readonly Column[]): TableFormat {
  const known = compiled.get(columns);
  if (known) return known;
  const format = compile(columns.length > 0 ? columns : [AGE]);
  compiled.set(columns, format);
  return format;
}

function compile(columns: readonly Column[]): TableFormat {
  const sources = columns.map(({ jsonPath, type }) => ({ path: parseJsonPath(jsonPath), cell: CELLS[type] ?? noCell }));
  return {
    headers: [NAME_HEADER, ...columns.map(headerOf)],
    cellsOf(object, now) {
      const cells: unknown[] = [nameOf(object)];
      for (const { path, cell } of sources) cells.push(cellOf(path, cell, { object, now }));
      return cells;
    },
  };
}

function headerOf({ name, type, format = '', description, priority = 0, jsonPath }: Column): ColumnDefinition {
  const text = description || `Custom resource definition column (in JSONPath format): ${jsonPath}`;
  return { name, type, format, description: text, priority };
}

export function nameOf({ metadata }: WithMetadata): string {
  const name = isObject(metadata) ? metadata['name'] : undefined;
  return typeof name === 'string' ? name : '';
}

interface Row {
  readonly object: WithMetadata;
  readonly now: Date;
}

type Cell = (value: unknown, now: Date) => unknown;

function cellOf(path: JsonPathTemplate, cell: Cell, { object, now }: Row): unknown {
  const value = firstMatch(path, object);
  return value === undefined || value === null ? null : cell(value, now);
}

/** A value of another type than the column's is left out, except that anything can be text. */
const CELLS: Readonly<Record<string, Cell>> = {
  string: printValue,
  integer: (value) => (typeof value === 'number' ? Math.trunc(value) : null),
  number: (value) => (typeof value === 'number' ? value : null),
  boolean: (value) => (typeof value === 'boolean' ? value : null),
  date: (value, now) => (typeof value === 'string' ? ageOf(value, now) : null),
};

const noCell: Cell = () => null;
