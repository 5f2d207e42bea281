/** The fields in which two objects differ, as paths with their values. Pure. */
import { equalJson, formatPath, isObject, type JsonPath } from '#lib/json.ts';
import { cutText } from './shorten.ts';

export interface ChangedField {
  readonly path: string;
  /** As JSON; absent: it was not there. */
  readonly from?: string;
  /** As JSON; absent: it goes. */
  readonly to?: string;
}

const MAX_VALUE_BYTES = 500;

export function changedFields(before: unknown, after: unknown): readonly ChangedField[] {
  return between(before, after, []);
}

function between(before: unknown, after: unknown, path: JsonPath): ChangedField[] {
  if (equalJson(before, after)) return [];
  if (isObject(before) && isObject(after)) {
    return keysOf(before, after).flatMap((key) => between(before[key], after[key], [...path, key]));
  }
  if (Array.isArray(before) && Array.isArray(after)) {
    const length = Math.max(before.length, after.length);
    return Array.from({ length }, (_, at) => between(before[at], after[at], [...path, at])).flat();
  }
  const shown = (value: unknown) => cutText(JSON.stringify(value), MAX_VALUE_BYTES);
  return [
    {
      path: formatPath(path),
      ...(before === undefined ? {} : { from: shown(before) }),
      ...(after === undefined ? {} : { to: shown(after) }),
    },
  ];
}

function keysOf(...values: readonly Record<string, unknown>[]): string[] {
  return [...new Set(values.flatMap((value) => Object.keys(value)))].sort();
}
