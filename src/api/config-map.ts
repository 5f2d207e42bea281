/** What is special about config maps: which keys they may have, how large they may be, and that some never change. Pure. */
import type { FieldProblem } from '#lib/errors.ts';
import { equalJson, isObject, type JsonObject } from '#lib/json.ts';
import type { KindObject } from './meta.ts';

const KEY = /^[-._a-zA-Z0-9]+$/;
const KEY_TEXT =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
const MAX_KEY = 253;
const MAX_BYTES = 1024 * 1024;
const FIELDS = ['data', 'binaryData'] as const;

/** No text is an empty one. */
export function completeConfigMap(map: KindObject): KindObject {
  const texts = membersOf(map, 'data');
  if (!Object.values(texts).includes(null)) return map;
  const data = Object.fromEntries(Object.entries(texts).map(([key, value]) => [key, value ?? '']));
  return { ...map, data } as KindObject;
}

export function configMapProblems(map: KindObject, old: KindObject | undefined): FieldProblem[] {
  const isChanged = FIELDS.some((field) => memberOf(map, field) !== memberOf(old, field));
  const problems = old && memberOf(old, 'immutable') === true ? immutableProblems(map, old) : [];
  return isChanged ? [...problems, ...dataProblems(map)] : problems;
}

function dataProblems(map: KindObject): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const [texts, bytes] = [membersOf(map, 'data'), membersOf(map, 'binaryData')];
  let size = 0;
  for (const [key, value] of Object.entries(texts)) {
    problems.push(...keyProblems('data', key));
    if (Object.hasOwn(bytes, key)) problems.push(problem('data', key, 'duplicate of key present in binaryData'));
    size += Buffer.byteLength(String(value));
  }
  for (const [key, value] of Object.entries(bytes)) {
    problems.push(...keyProblems('binaryData', key));
    size += Buffer.byteLength(String(value), 'base64');
  }
  // Kubernetes has this name for a field without one.
  if (size > MAX_BYTES)
    problems.push({ path: '[]', segments: [], kind: 'TooLong', message: `Too long: may not be more than ${MAX_BYTES} bytes` });
  return problems;
}

function keyProblems(field: string, key: string): FieldProblem[] {
  const texts = [
    ...(key.length > MAX_KEY ? [`must be no more than ${MAX_KEY} characters`] : []),
    ...(KEY.test(key) ? [] : [KEY_TEXT]),
    ...(key === '.' || key === '..' ? [`must not be '${key}'`] : key.startsWith('..') ? ["must not start with '..'"] : []),
  ];
  return texts.map((text) => problem(field, key, text));
}

function problem(field: string, key: string, text: string): FieldProblem {
  return { path: `${field}[${key}]`, segments: [field, key], kind: 'Invalid', message: `Invalid value: ${JSON.stringify(key)}: ${text}` };
}

function immutableProblems(map: KindObject, old: KindObject): FieldProblem[] {
  const changed = [
    ...(memberOf(map, 'immutable') === true ? [] : ['immutable']),
    ...FIELDS.filter((field) => !equalJson(membersOf(map, field), membersOf(old, field))),
  ];
  const message = 'Forbidden: field is immutable when `immutable` is set';
  return changed.map((field) => ({ path: field, segments: [field], kind: 'Forbidden', message }));
}

function memberOf(map: KindObject | undefined, field: string): unknown {
  return (map as unknown as JsonObject | undefined)?.[field];
}

function membersOf(map: KindObject, field: string): JsonObject {
  const members = memberOf(map, field);
  return isObject(members) ? members : {};
}
