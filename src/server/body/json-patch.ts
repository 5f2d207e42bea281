/** JSON patches (RFC 6902), with the messages and the leniency of Kubernetes' implementation. */
import { copyJson, equalJson, isObject, type JsonObject } from '#lib/json.ts';
import { goKind } from '../metadata-types.ts';
import { problemIn } from './limits.ts';
import { add, type Container, get, isContainer, type Place, PointerError, placeOf, remove, set } from './pointer.ts';
import { RequestError } from './request-error.ts';

export const MAX_OPERATIONS = 10_000;
/** Copies of copies double with every operation. */
const MAX_COPIED_CHARACTERS = 3 * 1024 * 1024;

/** A patch that is one, but does not fit the object. */
class MisfitError extends Error {}

interface Patching {
  root: Container;
  copiedCharacters: number;
}

/** The patched object; the target is not changed. */
export function applyJsonPatch(target: JsonObject, patch: unknown): JsonObject {
  const operations = operationsOf(patch);
  const patching: Patching = { root: copyJson(target), copiedCharacters: 0 };
  try {
    for (const operation of operations) apply(patching, operation);
  } catch (error) {
    if (error instanceof MisfitError) throw new RequestError(422, error.message, { cause: error });
    throw error;
  }
  if (!isObject(patching.root)) throw new RequestError(422, 'the patch leaves no object');
  const problem = problemIn(patching.root);
  if (problem) throw new RequestError(422, problem);
  return patching.root;
}

const TEXTS = ['op', 'path', 'from'];
const FIELDS = [...TEXTS, 'value'];

/** What strict decoding has to say about a patch, operation by operation; `duplicates` as the reader of JSON says them. */
export function strangePatchFields(patch: unknown, duplicates: readonly string[]): readonly string[] {
  if (!Array.isArray(patch)) return duplicates;
  const unknown = patch.flatMap((operation: unknown, at) =>
    isObject(operation)
      ? Object.keys(operation)
          .filter((field) => !FIELDS.includes(field))
          .map((field) => `unknown field ${JSON.stringify(`[${at}].${field}`)}`)
      : [],
  );
  const inOrder = [...unknown, ...duplicates].sort((one, other) => operationIn(one) - operationIn(other));
  return inOrder.map((problem) => `json patch ${problem}`);
}

function operationIn(problem: string): number {
  return Number(/\[(\d+)\]/.exec(problem)?.[1] ?? 0);
}

/** Null is no operations, and an operation that is null is one that nobody knows: so Go reads them. */
function operationsOf(patch: unknown): readonly JsonObject[] {
  if (patch === null) return [];
  if (!Array.isArray(patch)) throw unreadable(patch, 'value of type []handlers.jsonPatchOp');
  if (patch.length > MAX_OPERATIONS) {
    const limit = `The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${patch.length}`;
    throw new RequestError(413, `Request entity too large: ${limit}`);
  }
  return patch.map((operation: unknown) => {
    if (operation === null) return {};
    if (!isObject(operation)) throw unreadable(operation, 'value of type handlers.jsonPatchOp');
    for (const field of TEXTS) {
      const value = operation[field];
      if (value !== undefined && value !== null && typeof value !== 'string') {
        throw unreadable(value, `struct field jsonPatchOp.${field} of type string`);
      }
    }
    return operation;
  });
}

function unreadable(value: unknown, place: string): RequestError {
  return new RequestError(400, `error decoding patch: json: cannot unmarshal ${goKind(value)} into Go ${place}`);
}

function apply(patching: Patching, operation: JsonObject): void {
  const op = typeof operation['op'] === 'string' ? operation['op'] : 'unknown';
  const work = Object.hasOwn(OPERATIONS, op) ? OPERATIONS[op] : undefined;
  if (!work) throw new MisfitError(`Unexpected kind: ${op}`);
  work(patching, operation);
}

const OPERATIONS: Readonly<Record<string, (patching: Patching, operation: JsonObject) => void>> = {
  add(patching, operation) {
    const path = pointerIn(operation, 'path', 'add operation failed to decode path');
    const place = found(patching, path, `add operation does not apply: doc is missing path: "${path}"`);
    trying(`error in add for path: '${path}'`, () => add(place, valueIn(operation)));
  },

  remove(patching, operation) {
    const path = pointerIn(operation, 'path', 'remove operation failed to decode path');
    const place = found(patching, path, `remove operation does not apply: doc is missing path: "${path}"`);
    trying(`error in remove for path: '${path}'`, () => remove(place));
  },

  /** On a map it also adds: stricter than Kubernetes would refuse what works there. */
  replace(patching, operation) {
    const path = pointerIn(operation, 'path', 'replace operation failed to decode path: operation missing path field');
    if (path === '') return replaceAll(patching, valueIn(operation));
    const place = found(patching, path, `replace operation does not apply: doc is missing path: ${path}`);
    const missing = `replace operation does not apply: doc is missing key: ${path}: missing value`;
    trying(missing, () => set(place, valueIn(operation)), { isWholeMessage: true });
  },

  move(patching, operation) {
    const from = pointerIn(operation, 'from', 'move operation failed to decode from: operation, missing from field');
    const source = found(patching, from, `move operation does not apply: doc is missing from path: ${from}`);
    const value = trying(`error in move for path: '${source.key}'`, () => taken(source));
    const path = pointerIn(operation, 'path', 'move operation failed to decode path: operation missing path field');
    const place = found(patching, path, `move operation does not apply: doc is missing destination path: ${path}`);
    trying(`error in move for path: '${path}'`, () => add(place, value));
  },

  copy(patching, operation) {
    const from = pointerIn(operation, 'from', 'copy operation failed to decode from: operation, missing from field');
    const source = found(patching, from, `copy operation does not apply: doc is missing from path: ${from}`);
    const value = trying(`error in copy for from: '${from}'`, () => get(source)) ?? null;
    const path = pointerIn(operation, 'path', 'copy operation failed to decode path');
    const place = found(patching, path, `copy operation does not apply: doc is missing destination path: ${path}`);
    trying('error while adding value during copy', () => add(place, measuredCopy(patching, value)));
  },

  test(patching, operation) {
    const path = pointerIn(operation, 'path', 'test operation failed to decode path: operation missing path field');
    const actual = path === '' ? patching.root : testedValue(patching, path);
    if (!equalJson(actual ?? null, operation['value'] ?? null)) throw new MisfitError(`testing value ${path} failed: test failed`);
  },
};

function testedValue(patching: Patching, path: string): unknown {
  const place = found(patching, path, `test operation does not apply: is missing path: ${path}`);
  return trying(`error in test for path: '${path}'`, () => get(place));
}

function pointerIn(operation: JsonObject, field: 'path' | 'from', complaint: string): string {
  const pointer = operation[field];
  if (typeof pointer !== 'string') throw new MisfitError(`${complaint}: missing value`);
  return pointer;
}

/** Copied, as two operations may bring the same value and a third change one of them. */
function valueIn(operation: JsonObject): unknown {
  return copyJson(operation['value'] ?? null);
}

function found({ root }: Patching, pointer: string, complaint: string): Place {
  const place = placeOf(root, pointer);
  if (!place) throw new MisfitError(`${complaint}: missing value`);
  return place;
}

function taken(place: Place): unknown {
  const value = get(place);
  remove(place);
  return value;
}

function replaceAll(patching: Patching, value: unknown): void {
  if (!isContainer(value)) throw new MisfitError('replace operation value must be object or array');
  patching.root = value;
}

function measuredCopy(patching: Patching, value: unknown): unknown {
  const problem = problemIn(value);
  if (problem) throw new MisfitError(problem);
  const text = JSON.stringify(value);
  patching.copiedCharacters += text.length;
  if (patching.copiedCharacters > MAX_COPIED_CHARACTERS) {
    const sizes = `is ${patching.copiedCharacters}, exceeding the limit ${MAX_COPIED_CHARACTERS}`;
    throw new MisfitError(`Unable to complete the copy, the accumulated size increase of copy ${sizes}`);
  }
  return JSON.parse(text);
}

function trying<T>(complaint: string, work: () => T, { isWholeMessage = false } = {}): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof PointerError)) throw error;
    throw new MisfitError(isWholeMessage ? complaint : `${complaint}: ${error.message}`, { cause: error });
  }
}
