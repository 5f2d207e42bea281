/**
 * Addresses by template, the part of RFC 6570 that we use: `{name}` is one name, `{+path}` names with slashes between them, `{?a,b}` a
 * query that may be left out. A value is decoded once, and only after the address was cut at its slashes: nothing that is encoded can
 * become a slash, a dot that climbs, or the end of a text. Pure.
 */
import { InvalidError } from '#lib/errors.ts';

export type UriValues = Readonly<Record<string, string>>;

interface Part {
  readonly operator: '' | '+' | '?';
  readonly names: readonly string[];
}

const EXPRESSION = /\{([+?]?)([\w,]+)\}/;
/** Longer than any address that we make: a path of the vault has at most 4,096 bytes, each of which may be encoded as three. */
const MOST_CHARACTERS = 16_384;

/** Undefined: the address is not of this template. */
export function matchUri(template: string, uri: string): UriValues | undefined {
  if (uri.length > MOST_CHARACTERS) return undefined;
  const pieces = piecesOf(template);
  const found = new RegExp(`^${pieces.map(patternOf).join('')}$`).exec(uri);
  if (!found) return undefined;
  const values: Record<string, string> = {};
  const parts = pieces.filter((piece) => typeof piece !== 'string');
  for (const [index, part] of parts.entries()) {
    const taken = takenBy(part, found[index + 1]);
    if (taken === undefined) return undefined;
    Object.assign(values, taken);
  }
  return values;
}

/** The address that `matchUri` would take apart into these values. */
export function fillUri(template: string, values: UriValues): string {
  return piecesOf(template)
    .map((piece) => (typeof piece === 'string' ? piece : filled(piece, values)))
    .join('');
}

export function namesIn(template: string): readonly string[] {
  return piecesOf(template).flatMap((piece) => (typeof piece === 'string' ? [] : piece.names));
}

function piecesOf(template: string): readonly (string | Part)[] {
  const pieces: (string | Part)[] = [];
  let rest = template;
  for (let found = EXPRESSION.exec(rest); found; found = EXPRESSION.exec(rest)) {
    const [whole, operator = '', names = ''] = found;
    pieces.push(rest.slice(0, found.index), { operator: operator as Part['operator'], names: names.split(',') });
    rest = rest.slice(found.index + whole.length);
  }
  return [...pieces, rest].filter((piece) => piece !== '');
}

function patternOf(piece: string | Part): string {
  if (typeof piece === 'string') return piece.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  if (piece.operator === '?') return '(?:\\?([^#]*))?';
  return piece.operator === '+' ? '([^?#]+)' : '([^/?#]+)';
}

function takenBy({ operator, names }: Part, text: string | undefined): UriValues | undefined {
  if (operator === '?') return text === undefined ? {} : queryValues(names, text);
  const decoded = (text ?? '').split('/').map(decodedName);
  const [name = ''] = names;
  return decoded.includes(undefined) ? undefined : { [name]: decoded.join('/') };
}

/** What nobody asked for is a mistake of whoever wrote it, and so is the same thing twice. */
function queryValues(names: readonly string[], text: string): UriValues | undefined {
  const values: Record<string, string> = {};
  for (const pair of text.split('&')) {
    const at = pair.indexOf('=');
    const name = pair.slice(0, at);
    const value = decodedName(pair.slice(at + 1));
    if (at < 0 || !names.includes(name) || Object.hasOwn(values, name) || value === undefined) return undefined;
    values[name] = value;
  }
  return values;
}

/** One name, or undefined for what is none. */
function decodedName(text: string): string | undefined {
  try {
    const name = decodeURIComponent(text);
    return isName(name) ? name : undefined;
  } catch {
    return undefined;
  }
}

function isName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !/[/\\\p{Cc}]/u.test(name);
}

function filled({ operator, names }: Part, values: UriValues): string {
  if (operator === '?') {
    const pairs = names.flatMap((name) => (values[name] === undefined ? [] : [`${name}=${encoded(values[name])}`]));
    return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
  }
  const value = values[names[0] ?? ''] ?? '';
  return operator === '+' ? value.split('/').map(encoded).join('/') : encoded(value);
}

function encoded(name: string): string {
  if (!isName(name)) throw new InvalidError(`${JSON.stringify(name)} cannot be part of an address`);
  return encodeURIComponent(name);
}
