/** One step of a field path in its wire form: `f:name`, `k:{"name":"p"}`, `v:"sh"`, `i:3`. Equal steps are equal texts. */
import { definedKeys, isObject, type JsonObject } from '#lib/json.ts';
import { goJson } from './go-text.ts';
import { ownOf } from './own.ts';

export function fieldElement(name: string): string {
  return `f:${name}`;
}

export function keyElement(keys: JsonObject): string {
  return `k:${goJson(keys)}`;
}

export function valueElement(value: unknown): string {
  return `v:${goJson(value)}`;
}

/** Items of most lists are told apart by few names (types of conditions), over and over: reading them once is enough. */
const known = new Set<string>();
const MAX_KNOWN = 2000;
const MAX_KNOWN_LENGTH = 100;

/** The one spelling of a step that a client wrote; undefined = of a sort we do not know. Throws SyntaxError if it is none. */
export function canonicalElement(text: string): string | undefined {
  if (known.has(text)) return text;
  const canonical = readElement(text);
  if (canonical !== text || text.length > MAX_KNOWN_LENGTH) return canonical;
  if (known.size >= MAX_KNOWN) known.clear();
  known.add(text);
  return canonical;
}

function readElement(text: string): string | undefined {
  if (text.length < 2 || text[1] !== ':') throw new SyntaxError(`not a path element: ${text}`);
  const rest = text.slice(2);
  switch (text[0]) {
    case 'f':
      return text;
    case 'v':
      return valueElement(JSON.parse(rest));
    case 'k': {
      const keys: unknown = JSON.parse(rest);
      if (!isObject(keys)) throw new SyntaxError(`not the keys of a list item: ${text}`);
      return keyElement(keys);
    }
    case 'i':
      if (!/^[+-]?\d{1,15}$/.test(rest)) throw new SyntaxError(`not an index: ${text}`);
      return `i:${Number(rest)}`;
    default:
      return undefined;
  }
}

const RANKS = '.fkvi';

/** Upstream's order: fields, items by key, items by value, indexes. */
export function compareElements(a: string, b: string): number {
  const rank = RANKS.indexOf(a[0] ?? '') - RANKS.indexOf(b[0] ?? '');
  if (rank !== 0) return rank;
  const kind = a[0];
  if (kind === 'k' || kind === 'v') return compareValues(JSON.parse(a.slice(2)), JSON.parse(b.slice(2)));
  if (kind === 'i') return Number(a.slice(2)) - Number(b.slice(2));
  return compareTexts(a, b);
}

function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function compareValues(a: unknown, b: unknown): number {
  const rank = valueRank(a) - valueRank(b);
  if (rank !== 0) return rank;
  if (typeof a === 'string') return compareTexts(a, String(b));
  if (Array.isArray(a) && Array.isArray(b)) return compareLists(a, b);
  if (isObject(a) && isObject(b)) return compareLists(pairsOf(a), pairsOf(b));
  return Number(a) - Number(b);
}

function valueRank(value: unknown): number {
  if (Array.isArray(value)) return 3;
  if (isObject(value)) return 4;
  return ['number', 'string', 'boolean'].indexOf(value === null ? 'null' : typeof value) + (value === null ? 6 : 0);
}

function compareLists(a: readonly unknown[], b: readonly unknown[]): number {
  for (let index = 0; index < a.length && index < b.length; index++) {
    const order = compareValues(a[index], b[index]);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function pairsOf(map: JsonObject): unknown[] {
  return definedKeys(map)
    .sort()
    .flatMap((key) => [key, ownOf(map, key)]);
}

/** `.spec.members[name="p"].weight`, as messages show a path. */
export function printPath(path: readonly string[]): string {
  return path.map(printElement).join('');
}

export function printElement(element: string): string {
  const rest = element.slice(2);
  if (element[0] === 'f') return `.${rest}`;
  if (element[0] === 'i') return `[${rest}]`;
  const value: unknown = JSON.parse(rest);
  if (element[0] === 'v') return `[=${printValue(value)}]`;
  const keys = isObject(value) ? value : {};
  return `[${definedKeys(keys)
    .sort()
    .map((key) => `${key}=${printValue(ownOf(keys, key))}`)
    .join(',')}]`;
}

function printValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(printValue).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? 'null';
  return definedKeys(value)
    .sort()
    .map((key) => `${key}=${printValue(ownOf(value, key))}`)
    .join('');
}
