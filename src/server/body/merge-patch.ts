/** JSON merge patches (RFC 7396): objects are merged, null removes, everything else replaces. */
import { isObject, type JsonObject } from '#lib/json.ts';
import { RequestError } from './request-error.ts';

/** The patched object. Neither argument is changed; what the patch does not touch is shared with the target. */
export function applyMergePatch(target: JsonObject, patch: unknown): JsonObject {
  if (!isObject(patch)) throw new RequestError(400, `error decoding patch: json: cannot unmarshal ${kindOf(patch)} into an object`);
  return merge(target, patch);
}

function merge(target: JsonObject, patch: JsonObject): JsonObject {
  const result: JsonObject = { ...target };
  for (const [key, value] of Object.entries(patch)) {
    if (key === '__proto__') throw new RequestError(400, 'error decoding patch: __proto__ cannot be a key');
    if (value === null || value === undefined) delete result[key];
    else result[key] = isObject(value) ? merge(ownObject(result, key), value) : value;
  }
  return result;
}

function ownObject(parent: JsonObject, key: string): JsonObject {
  const value = Object.hasOwn(parent, key) ? parent[key] : undefined;
  return isObject(value) ? value : {};
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
