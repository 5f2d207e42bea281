/** kubectl's JSONPath, for printer columns, `-o jsonpath`, `--sort-by` and `wait --for=jsonpath`: parsed once, evaluated often. */

import { isObject, type JsonObject } from './json.ts';
import { type FindOptions, findAll } from './jsonpath/evaluate.ts';
import { printJson, printValue } from './jsonpath/print.ts';
import { JsonPathError, type JsonPathTemplate } from './jsonpath/template.ts';

export { findAll } from './jsonpath/evaluate.ts';
export { parseJsonPath, parseJsonPathTemplate } from './jsonpath/parse.ts';
export { printValue } from './jsonpath/print.ts';
export { JsonPathError, type JsonPathTemplate } from './jsonpath/template.ts';

export interface RenderOptions extends FindOptions {
  /** `-o jsonpath-as-json`: every path gives an indented list. */
  readonly asJson?: boolean;
}

/** Several results of one path are separated by a space; one path is not separated from the next. */
export function renderJsonPath(template: JsonPathTemplate, value: unknown, { asJson = false, ...options }: RenderOptions = {}): string {
  const groups = findAll(template, value, options);
  return groups.map((group) => (asJson ? `${printJson(group, 4)}\n` : group.map(printValue).join(' '))).join('');
}

/** The first result of the first path. Undefined when there is none or the template does not fit the value. */
export function firstMatch(template: JsonPathTemplate, value: unknown): unknown {
  if (template.fields) return memberAt(template.fields, value);
  try {
    return findAll(template, value, { allowMissingKeys: true })[0]?.[0];
  } catch (error) {
    if (error instanceof JsonPathError) return undefined;
    throw error;
  }
}

function memberAt(fields: readonly string[], value: unknown): unknown {
  let at = value;
  for (const name of fields) {
    if (!isObject(at) || !Object.hasOwn(at, name)) return undefined;
    at = (at as JsonObject)[name];
  }
  return at;
}
