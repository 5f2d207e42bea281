/**
 * Most of what a client sends back it was given: the record of fields alone is half of an object's text, and nobody changes it. Where a
 * body has such a part letter for letter as we wrote it, the part is known and not parsed again, whatever the rest looks like.
 */
import type { KindObject } from '#api/meta.ts';
import { isObject, type JsonObject } from '#lib/json.ts';
import { PART_MARK, partText } from '#lib/part-text.ts';

export interface ParsedBody {
  readonly value: unknown;
  /** What was parsed. */
  readonly text: string;
  /** Parts of the value that are not in that text. */
  readonly known: readonly unknown[];
}

const MARKED = JSON.stringify(PART_MARK);

/** Undefined where nothing is known, or the text is anything but what it seems: it is then to be parsed as a whole. */
export function parseBesideKnown(text: string, old: KindObject): ParsedBody | undefined {
  const { managedFields } = old.metadata;
  const { status } = old;
  const withoutRecord = managedFields && cut(text, '"managedFields":', managedFields);
  const withoutStatus = isObject(status) ? cut(withoutRecord ?? text, '"status":', status) : undefined;
  const rest = withoutStatus ?? withoutRecord;
  if (rest === undefined) return undefined;
  const value = parsed(rest);
  if (value === undefined) return undefined;
  const known: unknown[] = [];
  if (withoutRecord !== undefined && !putBack(value['metadata'], 'managedFields', managedFields, known)) return undefined;
  if (withoutStatus !== undefined && !putBack(value, 'status', status, known)) return undefined;
  return { value, text: rest, known };
}

const BACKSLASH = 0x5c;

/**
 * The text with the mark in the place of that member's value. The quote before its key begins a string in every text that is JSON, unless
 * it is escaped; in any other text the rest is no JSON either.
 */
function cut(text: string, key: string, part: object): string | undefined {
  const known = partText(part);
  const at = text.indexOf(known);
  const start = at - key.length;
  if (start < 1 || !text.startsWith(key, start) || text.charCodeAt(start - 1) === BACKSLASH) return undefined;
  return text.slice(0, at) + MARKED + text.slice(at + known.length);
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    // What is wrong is said of the whole text.
    return undefined;
  }
}

/** False if the member is not there but elsewhere. */
function putBack(owner: unknown, key: string, part: unknown, known: unknown[]): boolean {
  if (!isObject(owner) || owner[key] !== PART_MARK) return false;
  owner[key] = part;
  known.push(part);
  return true;
}
