/** JSON as kubectl prints it: keys sorted, four spaces. */
import { isObject } from '#lib/json.ts';
import { byCodePoint } from '#lib/to-yaml.ts';

export function toJson(value: unknown): string {
  return `${JSON.stringify(sortKeys(value), null, 4)}\n`;
}

/** Also for one-line JSON inside other output. */
export function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (!isObject(value)) return value;
  const keys = Object.keys(value).sort(byCodePoint);
  return Object.fromEntries(keys.map((key) => [key, sortKeys(value[key])]));
}
