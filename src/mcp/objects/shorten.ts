/** Answers that stay small: texts are cut on a character boundary, and it is said. Pure. */
import { isObject } from '#lib/json.ts';

/** Of one answer; what a model can be expected to read at once. */
export const MAX_ANSWER_BYTES = 64 * 1024;
const MAX_TEXT_BYTES = 8 * 1024;
/** UTF-8 of one unit of a JavaScript string. */
const MAX_BYTES_PER_UNIT = 3;

export interface Shortened<T> {
  readonly value: T;
  readonly isCut: boolean;
}

/** Every text in it at most so long. What has no long ones, as nearly everything, is given back as it is. */
export function shorten<T>(value: T, maxBytes = MAX_TEXT_BYTES): Shortened<T> {
  if (!mayBeLong(value, maxBytes)) return { value, isCut: false };
  let isCut = false;
  const visit = (each: unknown): unknown => {
    if (typeof each === 'string') {
      const text = cutText(each, maxBytes);
      isCut ||= text !== each;
      return text;
    }
    if (Array.isArray(each)) return each.map(visit);
    if (isObject(each)) return Object.fromEntries(Object.entries(each).map(([key, inner]) => [key, visit(inner)]));
    return each;
  };
  return { value: visit(value) as T, isCut };
}

/** Without counting bytes: nothing is made of what is read. */
function mayBeLong(value: unknown, maxBytes: number): boolean {
  if (typeof value === 'string') return value.length * MAX_BYTES_PER_UNIT > maxBytes;
  if (typeof value !== 'object' || value === null) return false;
  const inner: Readonly<Record<string, unknown>> = value as Record<string, unknown>;
  for (const key in inner) if (mayBeLong(inner[key], maxBytes)) return true;
  return false;
}

export function cutText(text: string, maxBytes: number): string {
  if (text.length * MAX_BYTES_PER_UNIT <= maxBytes) return text;
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes;
  // A byte that goes on with a character is not the beginning of one.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return `${bytes.toString('utf8', 0, end)}… (${bytes.length - end} bytes more)`;
}

/** As many from the beginning as fit; at least one. */
export function fitting<T>(items: readonly T[], maxBytes = MAX_ANSWER_BYTES): readonly T[] {
  let bytes = 0;
  const end = items.findIndex((item) => {
    bytes += Buffer.byteLength(JSON.stringify(item)) + 1;
    return bytes > maxBytes;
  });
  return end === -1 ? items : items.slice(0, Math.max(1, end));
}
