/** JSON pointers (RFC 6901) into lists and maps, with what Kubernetes adds: negative indices count from the end. */
import { isObject, type JsonObject } from '#lib/json.ts';

export type Container = JsonObject | unknown[];

/** Why a key leads nowhere; what was tried is added by whoever tried it. */
export class PointerError extends Error {}

export interface Place {
  readonly container: Container;
  readonly key: string;
}

/** Undefined when the way there does not exist. The first part of a pointer is before its first slash: nothing. */
export function placeOf(root: Container, pointer: string): Place | undefined {
  const keys = pointer.split('/').slice(1).map(unescapeKey);
  const key = keys.pop();
  if (key === undefined) return undefined;
  let container = root;
  for (const step of keys) {
    const next = memberOf(container, step);
    if (!isContainer(next)) return undefined;
    container = next;
  }
  return { container, key };
}

export function isContainer(value: unknown): value is Container {
  return Array.isArray(value) || isObject(value);
}

function unescapeKey(key: string): string {
  return key.replaceAll('~1', '/').replaceAll('~0', '~');
}

function memberOf(container: Container, key: string): unknown {
  try {
    return get({ container, key });
  } catch (error) {
    if (error instanceof PointerError) return undefined;
    throw error;
  }
}

/** Undefined for a key that a map does not have. */
export function get({ container, key }: Place): unknown {
  if (Array.isArray(container)) return container[existingIndex(container, key)];
  return Object.hasOwn(container, key) ? container[key] : undefined;
}

/** Puts a new item before what stands at an index, or at the end for `-`. */
export function add({ container, key }: Place, value: unknown): void {
  if (!Array.isArray(container)) setMember(container, key, value);
  else if (key === '-') container.push(value);
  else container.splice(indexIn(container.length + 1, toIndex(key, `value was not a proper array index: '${key}': `)), 0, value);
}

export function set({ container, key }: Place, value: unknown): void {
  if (Array.isArray(container)) container[existingIndex(container, key)] = value;
  else setMember(container, key, value);
}

export function remove({ container, key }: Place): void {
  if (Array.isArray(container)) container.splice(existingIndex(container, key), 1);
  else if (Object.hasOwn(container, key)) delete container[key];
  else throw new PointerError(`Unable to remove nonexistent key: ${key}: missing value`);
}

function setMember(container: JsonObject, key: string, value: unknown): void {
  if (key === '__proto__') throw new PointerError('__proto__ cannot be a key');
  container[key] = value;
}

function existingIndex({ length }: readonly unknown[], key: string): number {
  return indexIn(length, toIndex(key));
}

function toIndex(key: string, context = ''): number {
  const index = /^[+-]?\d{1,15}$/.test(key) ? Number(key) : Number.NaN;
  if (Number.isNaN(index)) throw new PointerError(`${context}strconv.Atoi: parsing ${JSON.stringify(key)}: invalid syntax`);
  return index;
}

function indexIn(length: number, index: number): number {
  const at = index < 0 ? index + length : index;
  if (at < 0 || at >= length) throw new PointerError(`Unable to access invalid index: ${index}: invalid index referenced`);
  return at;
}
