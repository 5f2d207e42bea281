/** The YAML at the head of a note. Written by anybody: it is data, never a program, and never more than a little. Pure. */
import matter from 'gray-matter';
import { isObject } from '#lib/json.ts';

const MAX_CHARACTERS = 16 * 1024;
const FENCE = /^\ufeff?---[ \t]*\r?\n/;
const CLOSING = /\r?\n---[ \t]*(?:\r?\n|$)/;
/** Aliases let a few lines stand for gigabytes, or for themselves. */
const MAX_VALUES = 10_000;
const MAX_DEPTH = 64;

const never = (): object => {
  throw new Error('frontmatter is YAML and nothing else');
};
/** The library would run a block that calls itself JavaScript. Its YAML knows data only. */
const engines = { js: never, javascript: never, json: never, coffee: never };

/** Empty for a note without one, and for one that cannot be read: it is the reader's text all the same. */
export function frontmatterOf(content: string): Record<string, unknown> {
  const length = frontmatterLength(content);
  if (length === 0) return {};
  try {
    const data: unknown = plain(matter(content.slice(0, length).replaceAll('\r\n', '\n'), { engines, language: 'yaml' }).data);
    return isObject(data) ? data : {};
  } catch {
    return {};
  }
}

/** A copy of what can be written as JSON, without anything twice. */
function plain(value: unknown, depth = 0, budget = { left: MAX_VALUES }): unknown {
  if (depth > MAX_DEPTH || budget.left-- <= 0) throw new Error('more than any frontmatter needs');
  if (Array.isArray(value)) return value.map((item) => plain(item, depth + 1, budget));
  if (value instanceof Date) return value.toISOString().replace('T00:00:00.000Z', '');
  if (!isObject(value)) return value;
  if (ArrayBuffer.isView(value)) return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64');
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item, depth + 1, budget)]));
}

/** How many characters of the note are its frontmatter, both fences included. A first line that names another language begins none. */
export function frontmatterLength(content: string): number {
  const fence = FENCE.exec(content)?.[0];
  if (fence === undefined) return 0;
  // From the end of the first fence's text, so that a block without lines is closed too.
  const from = fence.trimEnd().length;
  const closing = CLOSING.exec(content.slice(from, from + MAX_CHARACTERS));
  return closing ? from + closing.index + closing[0].length : 0;
}

/** `tags` as a list, or as words with commas or blanks between them. */
export function tagsOf(frontmatter: Readonly<Record<string, unknown>>): string[] {
  const { tags } = frontmatter;
  const words = typeof tags === 'string' ? tags.split(/[\s,]+/) : Array.isArray(tags) ? tags.map(String) : [];
  return words.map((word) => word.replace(/^#/, '')).filter((word) => word !== '');
}
