/** `-o`: objects as text, in kubectl's formats. Tables are the server's, see table.ts. */
import { readFileSync } from 'node:fs';
import type { ApiObject } from '#client/resource-api.ts';
import { InvalidError, messageOf } from '#lib/errors.ts';
import { parseJsonPathTemplate, renderJsonPath } from '#lib/jsonpath.ts';
import { nearest } from '#lib/suggest.ts';
import { toYaml } from '#lib/to-yaml.ts';
import { UsageError } from '../usage-error.ts';
import { columnsPrinter } from './custom-columns.ts';
import { toJson } from './json.ts';
import { parseGiven } from './parse-path.ts';
import type { Printed, PrinterOptions, PrintObjects } from './printer.ts';

export type Output =
  | { readonly kind: 'table'; readonly isWide: boolean }
  | { readonly kind: 'objects'; readonly format: ObjectFormat; readonly argument: string };

export type ObjectFormat = 'json' | 'yaml' | 'name' | 'jsonpath' | 'jsonpath-as-json' | 'custom-columns';

const FORMATS = [
  'custom-columns',
  'custom-columns-file',
  'json',
  'jsonpath',
  'jsonpath-as-json',
  'jsonpath-file',
  'name',
  'wide',
  'yaml',
] as const;

export function parseOutput(given: string | undefined): Output {
  const [name = '', ...rest] = (given ?? '').split('=');
  const argument = rest.join('=');
  if (name === '' || name === 'wide') return { kind: 'table', isWide: name === 'wide' };
  if (!(FORMATS as readonly string[]).includes(name)) throw unknownFormat(name);
  if (name === 'json' || name === 'yaml' || name === 'name') return { kind: 'objects', format: name, argument: '' };
  if (argument === '') throw new UsageError(`${name} format specified but no ${what(name)} given`);
  if (!name.endsWith('-file')) return { kind: 'objects', format: name as ObjectFormat, argument };
  const text = readTemplate(argument);
  return name === 'jsonpath-file'
    ? { kind: 'objects', format: 'jsonpath', argument: text }
    : { kind: 'objects', format: 'custom-columns', argument: columnsOfFile(text) };
}

export function objectPrinter({ format, argument }: Extract<Output, { kind: 'objects' }>, options: PrinterOptions): PrintObjects {
  switch (format) {
    case 'name':
      return ({ objects }) => objects.map((object) => `${options.typeName(object)}/${object.metadata.name}\n`).join('');
    case 'json':
      return (printed) => toJson(rooted(printed, options));
    case 'yaml':
      return (printed) => toYaml(rooted(printed, options));
    case 'custom-columns':
      return columnsPrinter(argument, options);
    case 'jsonpath':
    case 'jsonpath-as-json': {
      const template = parseGiven(parseJsonPathTemplate, argument);
      const render = { allowMissingKeys: true, asJson: format === 'jsonpath-as-json' };
      return (printed) => renderJsonPath(template, rooted(printed, { ...options, withManagedFields: true }), render);
    }
  }
}

function rooted({ objects, isList }: Printed, { withManagedFields }: PrinterOptions): unknown {
  const shown = withManagedFields ? objects : objects.map(withoutManagedFields);
  return isList ? { apiVersion: 'v1', items: shown, kind: 'List', metadata: { resourceVersion: '' } } : shown[0];
}

export function withoutManagedFields(object: ApiObject): ApiObject {
  if (object.metadata['managedFields'] === undefined) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

function unknownFormat(name: string): UsageError {
  const meant = nearest(name, FORMATS);
  const allowed = `allowed formats are: ${FORMATS.join(',')}`;
  const hint = meant ? `did you mean ${meant}?` : allowed;
  return new UsageError(`unable to match a printer suitable for the output format "${name}", ${hint}`);
}

function what(format: string): string {
  return format.startsWith('custom-columns') ? 'custom columns' : 'template';
}

function readTemplate(file: string): string {
  try {
    return readFileSync(file, 'utf8').replace(/\n$/, '');
  } catch (error) {
    throw new InvalidError(`error reading template ${file}: ${messageOf(error)}`, [], { cause: error });
  }
}

/** Two lines: the headers, and under each its path. */
function columnsOfFile(text: string): string {
  const [headers = [], paths = []] = text.split('\n').map((line) => line.split(/\s+/).filter((word) => word !== ''));
  if (headers.length === 0 || headers.length !== paths.length) {
    throw new InvalidError(
      `a custom-columns file has a line of headers and a line with as many paths; found ${headers.length} and ${paths.length}`,
    );
  }
  return headers.map((header, at) => `${header}:${paths[at]}`).join(',');
}
