/** `-o custom-columns=NAME:.metadata.name,…`: a table of the person's own. */
import type { ApiObject } from '#client/resource-api.ts';
import { toCell } from '#lib/escape.ts';
import { findAll, type JsonPathTemplate, parseJsonPath, printValue } from '#lib/jsonpath.ts';
import { UsageError } from '../usage-error.ts';
import { alignLines, TABLE_STYLE } from './align.ts';
import { parseGiven } from './parse-path.ts';
import type { PrinterOptions, PrintObjects } from './printer.ts';

interface CustomColumn {
  readonly header: string;
  readonly path: JsonPathTemplate;
}

export function columnsPrinter(spec: string, { withHeaders }: Pick<PrinterOptions, 'withHeaders'>): PrintObjects {
  const columns = splitColumns(spec).map(parseColumn);
  const remembered: number[] = [];
  let isFirst = withHeaders !== false;
  return ({ objects }) => {
    const headers = isFirst ? [columns.map(({ header }) => header)] : [];
    isFirst = false;
    return alignLines([...headers, ...objects.map((object) => columns.map(({ path }) => valueText(path, object)))], {
      ...TABLE_STYLE,
      remembered,
    });
  };
}

/** A comma inside brackets or quotes belongs to the path. */
function splitColumns(spec: string): string[] {
  const columns = spec.match(/(?:[^,[\]'"]|\[[^\]]*\]|'[^']*'|"[^"]*")+/g) ?? [];
  if (columns.join(',') !== spec) throw new UsageError(`unexpected custom-columns spec: ${spec}, expected <header>:<json-path-expr>,...`);
  return columns;
}

function parseColumn(text: string): CustomColumn {
  const at = text.indexOf(':');
  if (at < 0) throw new UsageError(`unexpected custom-columns spec: ${text}, expected <header>:<json-path-expr>`);
  return { header: text.slice(0, at), path: parseGiven(parseJsonPath, text.slice(at + 1)) };
}

function valueText(path: JsonPathTemplate, object: ApiObject): string {
  const values = findAll(path, object, { allowMissingKeys: true }).flat();
  return values.length === 0 ? '<none>' : values.map((value) => (value === null ? '<none>' : toCell(printValue(value)))).join(',');
}
