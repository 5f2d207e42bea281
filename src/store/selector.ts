/** Label and field selectors as Kubernetes writes them: parsed once, matched often. */
import type { KindObject } from '#api/meta.ts';
import { InvalidError } from '#lib/errors.ts';
import { isObject } from '#lib/json.ts';

export interface Requirement {
  readonly key: string;
  readonly operator: 'in' | 'notin' | 'exists' | 'absent' | 'gt' | 'lt';
  readonly values: readonly string[];
}

export type Selector = readonly Requirement[];

const KEY = /^([a-z0-9A-Z]([-a-zA-Z0-9.]*[a-zA-Z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

/** `a=b,c!=d,e in (f,g),!h,i,j>3` */
export function parseLabelSelector(text: string): Selector {
  if (text.trim() === '') return [];
  return splitOutsideParentheses(text).map((part) => parseLabelRequirement(part.trim(), text));
}

/** `metadata.name=a,status.phase!=Failed`; only fields the kind declares. */
export function parseFieldSelector(text: string, fields: readonly string[]): Selector {
  if (text.trim() === '') return [];
  return splitUnescaped(text).map((part) => {
    const match = /^\s*([^=!\s]+)\s*(==|=|!=)((?:[^\\]|\\[\\,=])*)$/.exec(part);
    if (!match?.[1]) throw invalid(`invalid field selector: ${JSON.stringify(part)}; expected field=value, field==value or field!=value`);
    const key = match[1];
    if (!fields.includes(key)) throw invalid(`field label not supported: ${key}; supported: ${fields.join(', ')}`);
    const value = (match[3] ?? '').replace(/\\([\\,=])/g, '$1');
    return { key, operator: match[2] === '!=' ? 'notin' : 'in', values: [value] };
  });
}

export function matchesLabels(selector: Selector, object: KindObject): boolean {
  return selector.every((requirement) => matches(requirement, labelValue(object, requirement.key)));
}

export function matchesFields(selector: Selector, object: KindObject): boolean {
  return selector.every((requirement) => matches(requirement, fieldValue(object, requirement.key) ?? ''));
}

/** Only labels the object really has: `constructor` is a label like any other. */
export function labelValue({ metadata: { labels } }: KindObject, key: string): string | undefined {
  return labels && Object.hasOwn(labels, key) ? labels[key] : undefined;
}

/** A field as selectors see it: text, or undefined when it is absent. */
export function fieldValue(object: KindObject, path: string): string | undefined {
  let at: unknown = object;
  for (const segment of path.split('.')) at = isObject(at) ? at[segment] : undefined;
  return at === undefined || at === null || typeof at === 'object' ? undefined : String(at);
}

function matches({ operator, values }: Requirement, value: string | undefined): boolean {
  switch (operator) {
    case 'in':
      return isAmong(value, values);
    case 'notin':
      return !isAmong(value, values);
    case 'exists':
      return value !== undefined;
    case 'absent':
      return value === undefined;
    case 'gt':
      return asInteger(value) > Number(values[0]);
    case 'lt':
      return asInteger(value) < Number(values[0]);
  }
}

function isAmong(value: string | undefined, values: readonly string[]): boolean {
  return value !== undefined && values.includes(value);
}

/** NaN, which is neither more nor less than anything, for what is not an integer. */
function asInteger(value: string | undefined): number {
  return value !== undefined && /^-?\d+$/.test(value) ? Number(value) : Number.NaN;
}

function parseLabelRequirement(part: string, whole: string): Requirement {
  return parseSet(part, whole) ?? parseOrder(part, whole) ?? parsePair(part, whole) ?? parseExistence(part, whole);
}

function parseSet(part: string, whole: string): Requirement | undefined {
  const [, key, operator, list = ''] = /^(\S+)\s+(in|notin)\s*\(([^()]*)\)$/.exec(part) ?? [];
  if (key === undefined) return undefined;
  const values = new Set(list.split(',').map((value) => checkedValue(value.trim(), whole)));
  return { key: checkedKey(key, whole), operator: operator === 'in' ? 'in' : 'notin', values: [...values] };
}

function parseOrder(part: string, whole: string): Requirement | undefined {
  const [, key, operator, value = ''] = /^(\S+?)\s*([<>])\s*(-?\d+)$/.exec(part) ?? [];
  if (key === undefined) return undefined;
  return { key: checkedKey(key, whole), operator: operator === '>' ? 'gt' : 'lt', values: [value] };
}

function parsePair(part: string, whole: string): Requirement | undefined {
  const [, key, operator, value = ''] = /^([^=!\s]+)\s*(==|=|!=)\s*(\S*)$/.exec(part) ?? [];
  if (key === undefined) return undefined;
  return { key: checkedKey(key, whole), operator: operator === '!=' ? 'notin' : 'in', values: [checkedValue(value, whole)] };
}

function parseExistence(part: string, whole: string): Requirement {
  if (part.startsWith('!')) return { key: checkedKey(part.slice(1).trim(), whole), operator: 'absent', values: [] };
  return { key: checkedKey(part, whole), operator: 'exists', values: [] };
}

function checkedKey(key: string, whole: string): string {
  if (KEY.test(key)) return key;
  throw invalid(
    `unable to parse label selector ${JSON.stringify(whole)}: ${JSON.stringify(key)} is not a label key; expected for example team=a, team in (a,b), !team`,
  );
}

function checkedValue(value: string, whole: string): string {
  if (VALUE.test(value)) return value;
  throw invalid(
    `unable to parse label selector ${JSON.stringify(whole)}: ${JSON.stringify(value)} is not a label value; at most 63 letters, digits, - _ .`,
  );
}

function splitOutsideParentheses(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let part = '';
  for (const char of text) {
    if (char === '(') depth++;
    if (char === ')') depth--;
    if (char === ',' && depth === 0) {
      parts.push(part);
      part = '';
    } else part += char;
  }
  parts.push(part);
  if (depth !== 0) throw invalid(`unable to parse label selector ${JSON.stringify(text)}: the parentheses do not match`);
  return parts;
}

function splitUnescaped(text: string): string[] {
  return text.match(/(?:\\.|\\$|[^,\\])+/g) ?? [];
}

function invalid(message: string): InvalidError {
  return new InvalidError(message, [], { reason: 'BadRequest' });
}
