/** Values as kubectl prints them: text as it is, lists and maps as JSON in Go's manner (keys sorted, `<>&` escaped). */
import { isObject } from '../json.ts';

export function printValue(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return printNumber(value);
  if (typeof value === 'object' && value !== null) return printJson(value);
  return String(value);
}

export function printJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, sortKeys, indent).replace(/[<>&\u2028\u2029]/g, escapeCharacter);
}

function sortKeys(_key: string, value: unknown): unknown {
  if (!isObject(value)) return value;
  const keys = Object.keys(value);
  if (keys.every((key, at) => at === 0 || (keys[at - 1] ?? '') < key)) return value;
  return Object.fromEntries(keys.sort().map((key) => [key, value[key]]));
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Go changes to powers of ten earlier than JavaScript does, and writes two digits of them. */
function printNumber(value: number): string {
  if (Number.isInteger(value) || Math.abs(value) >= 1e-4) return String(value);
  return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
}
