/** JSON of parts that stay while the objects they belong to change, made once, and JSON of objects put together with it. */
import { randomUUID } from 'node:crypto';

/** About 16,000 parts of ordinary size; then all are forgotten, and made again when they are asked for. */
const MAX_CHARACTERS = 16 * 1024 * 1024;

let texts = new WeakMap<object, string>();
let characters = 0;

/** The part must never change. */
export function partText(part: object): string {
  const made = texts.get(part);
  if (made !== undefined) return made;
  const text = JSON.stringify(part);
  characters += text.length;
  if (characters > MAX_CHARACTERS) {
    texts = new WeakMap();
    characters = text.length;
  }
  texts.set(part, text);
  return text;
}

/** Stands for a part in a value, or in its text. Nobody else can know it; nothing in it needs an escape. */
export const PART_MARK = `~${randomUUID()}`;

/** The text of a value in which marks stand for these parts, with the parts themselves, in the order in which they come. */
export function withParts(text: string, parts: readonly object[]): string {
  let whole = '';
  let from = 0;
  for (const part of parts) {
    const at = text.indexOf(PART_MARK, from);
    whole += text.slice(from, at - 1) + partText(part);
    from = at + PART_MARK.length + 1;
  }
  return whole + text.slice(from);
}
