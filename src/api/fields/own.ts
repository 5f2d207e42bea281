/** Reading and writing members by name when the name comes from a stranger: `__proto__` is a key like any other. */
import type { JsonObject } from '#lib/json.ts';

/** What the object itself says, never what it inherits. */
export function ownOf(map: JsonObject, key: string): unknown {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}

export function setOwn(map: JsonObject, key: string, value: unknown): void {
  if (key === '__proto__') Object.defineProperty(map, key, { value, enumerable: true, configurable: true, writable: true });
  else map[key] = value;
}
