/** Values written the way the upstream server writes them, because clients read these texts: compact JSON, `%v`, `%#v` and `%T`. */
import { definedKeys, isObject } from '#lib/json.ts';
import { ownOf } from './own.ts';

const HTML = /[<>&\u2028\u2029]/;
const ALL_HTML = new RegExp(HTML, 'g');

/** Compact JSON with sorted keys, and with the characters escaped that HTML would misread. */
export function goJson(value: unknown): string {
  if (typeof value === 'string') return quote(value);
  if (Array.isArray(value)) return `[${value.map(goJson).join(',')}]`;
  if (isObject(value)) {
    const keys = definedKeys(value).sort();
    return `{${keys.map((key) => `${goJson(key)}:${goJson(ownOf(value, key))}`).join(',')}}`;
  }
  return JSON.stringify(value) ?? 'null';
}

function quote(value: string): string {
  const text = JSON.stringify(value);
  return HTML.test(text) ? text.replace(ALL_HTML, escapeCharacter) : text;
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** `%v` */
export function goPlain(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(goPlain).join(' ')}]`;
  if (isObject(value)) {
    const keys = definedKeys(value).sort();
    return `map[${keys.map((key) => `${key}:${goPlain(ownOf(value, key))}`).join(' ')}]`;
  }
  return value === null || value === undefined ? '<nil>' : String(value);
}

/** `%#v` */
export function goSyntax(value: unknown): string {
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`;
  if (isObject(value)) {
    const keys = definedKeys(value).sort();
    return `map[string]interface {}{${keys.map((key) => `${JSON.stringify(key)}:${goSyntax(ownOf(value, key))}`).join(', ')}}`;
  }
  if (value === null || value === undefined) return 'interface {}(nil)';
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}

/** `%T` */
export function goType(value: unknown): string {
  if (Array.isArray(value)) return '[]interface {}';
  if (isObject(value)) return 'map[string]interface {}';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  return typeof value === 'string' ? 'string' : '<nil>';
}
