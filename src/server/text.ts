/** Objects as JSON text, made once per version of an object and kept while the object is. */
import type { KindObject } from '#api/meta.ts';

/** About 100,000 objects of ordinary size; then everything is forgotten, and what is still asked for is made again. */
const MAX_CHARACTERS = 128 * 1024 * 1024;

let texts = new WeakMap<KindObject, string>();
let characters = 0;

export function textOf(object: KindObject): string {
  const known = texts.get(object);
  if (known !== undefined) return known;
  const text = JSON.stringify(object);
  rememberText(object, text);
  return text;
}

/** For whoever has made the text already. */
export function rememberText(object: KindObject, text: string): void {
  characters += text.length;
  if (characters > MAX_CHARACTERS) {
    texts = new WeakMap();
    characters = text.length;
  }
  texts.set(object, text);
}
