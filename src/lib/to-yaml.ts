/** Plain data as the YAML that kubectl prints: keys sorted, lists not indented, quotes and blocks where Go's writer puts them. */
import { isObject, type JsonObject } from './json.ts';

export function toYaml(value: unknown): string {
  if (isObject(value) && keysOf(value).length > 0) return mapLines(value, '');
  if (Array.isArray(value) && value.length > 0) return listLines(value, '');
  return `${scalar(value, '')}\n`;
}

function keysOf(map: JsonObject): string[] {
  return Object.keys(map)
    .filter((key) => map[key] !== undefined)
    .sort(byCodePoint);
}

/** Go sorts bytes, and UTF-8 sorts as its code points do. */
export function byCodePoint(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function mapLines(map: JsonObject, indent: string): string {
  return keysOf(map)
    .map((key) => `${indent}${text(key, indent, true)}:${member(map[key], indent)}`)
    .join('');
}

function member(value: unknown, indent: string): string {
  if (isObject(value) && keysOf(value).length > 0) return `\n${mapLines(value, `${indent}  `)}`;
  if (Array.isArray(value) && value.length > 0) return `\n${listLines(value, indent)}`;
  return ` ${scalar(value, indent)}\n`;
}

function listLines(list: readonly unknown[], indent: string): string {
  return list.map((item) => `${indent}- ${itemText(item, `${indent}  `)}`).join('');
}

/** The first line shares its line with the dash. */
function itemText(item: unknown, indent: string): string {
  if (isObject(item) && keysOf(item).length > 0) return mapLines(item, indent).slice(indent.length);
  if (Array.isArray(item) && item.length > 0) return listLines(item, indent).slice(indent.length);
  return `${scalar(item, indent.slice(2))}\n`;
}

function scalar(value: unknown, indent: string): string {
  if (typeof value === 'string') return text(value, indent, false);
  if (isObject(value)) return '{}';
  if (Array.isArray(value)) return '[]';
  return typeof value === 'number' ? numberText(value) : String(value ?? null);
}

function numberText(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e21) return BigInt(value).toString();
  return String(value).replace(/e([+-])(\d)$/, 'e$10$2');
}

/** Plain words that a YAML 1.1 reader would not take as text. */
const RESERVED =
  /^(?:|~|null|Null|NULL|y|Y|yes|Yes|YES|on|On|ON|n|N|no|No|NO|off|Off|OFF|[tT]rue|TRUE|[fF]alse|FALSE|<<|\.(?:nan|NaN|NAN)|[-+]?\.(?:inf|Inf|INF))$/;
const NUMBER =
  /^[-+]?(?:0b[01_]+|0o?[0-7_]+|0x[\da-fA-F_]+|[\d_]*\.?[\d_]+(?:[eE][-+]?\d+)?|[\d_]+\.(?:[eE][-+]?\d+)?|\d[\d_]*(?::[0-5]?\d)+(?:\.[\d_]*)?)$/;
const TIMESTAMP = /^\d{4}-\d{1,2}-\d{1,2}(?:(?:[Tt]|[ \t]+)\d{1,2}:\d{1,2}:\d{1,2}(?:\.\d*)?[ \t]*(?:Z|[-+]\d\d?(?::\d\d)?)?)?$/;

function isPlainText(value: string): boolean {
  return !RESERVED.test(value) && !(NUMBER.test(value) && /\d/.test(value)) && !TIMESTAMP.test(value);
}

/** What Go's writer does not take as printable; a tab is among it. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this looks for.
const UNPRINTABLE = /[\x00-\x09\x0b-\x1f\x7f-\x9f\ufeff\ufffe\uffff\u{10000}-\u{10ffff}\ud800-\udfff]/u;
/** What would end or begin something else when it stands without quotes in a block. */
const INDICATOR = /^(?:[#,[\]{}&*!|>'"%@`]|[?:-](?:\s|$)|---|\.\.\.)|:(?:\s|$)|\s#/;

function text(value: string, indent: string, isKey: boolean): string {
  if (UNPRINTABLE.test(value)) return quoted(value);
  if (value.includes('\n')) return isKey || !isBlockSafe(value) ? quoted(value) : block(value, indent);
  if (!isPlainText(value)) return quoted(value);
  return INDICATOR.test(value) || /^ | $/.test(value) ? `'${value.replaceAll("'", "''")}'` : value;
}

/** Spaces before a line end would be lost to the eye, and to some readers. */
function isBlockSafe(value: string): boolean {
  return !/ \n| $|[\u0085\u2028\u2029]/.test(value);
}

function block(value: string, indent: string): string {
  const body = value.replace(/\n+$/, '');
  const ends = value.length - body.length;
  const keep = ends === 1 && body !== '' ? '' : '+';
  const hint = /^[ \n]/.test(value) ? '2' : '';
  const lines = body.split('\n').map((line) => (line === '' ? '' : `${indent}  ${line}`));
  return `|${hint}${ends === 0 ? '-' : keep}\n${lines.join('\n')}${'\n'.repeat(Math.max(0, ends - 1))}`;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '\0': '\\0',
  '\x07': '\\a',
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\v': '\\v',
  '\f': '\\f',
  '\r': '\\r',
  '\x1b': '\\e',
  '"': '\\"',
  '\\': '\\\\',
  '\u0085': '\\N',
  '\u2028': '\\L',
  '\u2029': '\\P',
  '\ufeff': '\\uFEFF',
};

function quoted(value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this looks for.
  const escaped = value.replace(/[\x00-\x1f"\\\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return ESCAPES[character] ?? (code < 0x100 ? `\\x${hex(code, 2)}` : `\\u${hex(code, 4)}`);
  });
  return `"${escaped}"`;
}

function hex(code: number, length: number): string {
  return code.toString(16).toUpperCase().padStart(length, '0');
}
