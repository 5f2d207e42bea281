/** Here-documents of a shell: how they are announced, and where their bodies are. Pure. */

export interface HereDocument {
  readonly delimiter: string;
  /** Then nothing in its body is expanded. */
  readonly isQuoted: boolean;
  /** `<<-`: tabs before the delimiter do not count. */
  readonly isIndented: boolean;
}

/** Up to the end of the word: an expansion in it, or anything else that is no plain name, is left to the reader to be unsure about. */
const OPENING = /^<<(-?)[ \t]*((?:[\w.,:@%+/=-]|\\[\w.]|'[^'\n]*'|"[^"\n$`\\]*")+)(?=[\s;&|<>()]|$)/;
/** In a body these are expanded without a doubt where they end. */
const SIMPLE_EXPANSION = /\$\{\w+\}|\$\([^()'"`\\$\n]*\)/g;
const OTHER_EXPANSION = /`|\$[({]|(?<!\\)(?:\\\\)*\\\n/;

/** `text` begins with `<<`. Undefined: its delimiter cannot be told. */
export function parseOpening(text: string): (HereDocument & { readonly length: number }) | undefined {
  const [whole, dash, word = ''] = OPENING.exec(text) ?? [];
  const delimiter = word.replace(/['"\\]/g, '');
  if (whole === undefined || delimiter === '') return undefined;
  return { delimiter, isQuoted: delimiter !== word, isIndented: dash === '-', length: whole.length };
}

/** Where the body that begins at `start` ends, and where the text goes on behind the line with the delimiter. */
export function findBody(
  text: string,
  start: number,
  { delimiter, isIndented }: HereDocument,
): { readonly end: number; readonly next: number } {
  let at = start;
  while (at < text.length) {
    const newline = text.indexOf('\n', at);
    const next = newline < 0 ? text.length : newline + 1;
    const line = text.slice(at, newline < 0 ? undefined : newline);
    if ((isIndented ? line.replace(/^\t+/, '') : line) === delimiter) return { end: at, next };
    at = next;
  }
  return { end: text.length, next: text.length };
}

/** Whether all shells see the same in a body that is expanded. */
export function isPlainBody(body: string): boolean {
  return !OTHER_EXPANSION.test(body.replace(SIMPLE_EXPANSION, ''));
}
