/** Keys that a JSON text has more than once in the same object: JSON.parse keeps the last and says nothing. */

export interface Duplicate {
  /** `spec.roles[0].count`. */
  readonly path: string;
  readonly key: string;
  readonly line: number;
}

/** As many as Kubernetes reports. */
export const MAX_DUPLICATES = 100;

/** An object or list that is open at some place of the text. */
interface Frame {
  /** Undefined in a list. */
  readonly keys: Set<string> | undefined;
  key: string;
  index: number;
  expectsKey: boolean;
}

/**
 * Whether any is there, without saying which: a text with as many colons as its value has keys repeats none. `value` is what it says;
 * of what is in it the text does not have `apart`.
 */
export function hasDuplicates(text: string, value: unknown, apart: readonly unknown[] = []): boolean {
  return colonsIn(text) !== keysIn(value, apart);
}

const QUOTE = 0x22;
const COLON = 0x3a;

function colonsIn(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === COLON) count++;
  }
  return count;
}

function keysIn(value: unknown, apart: readonly unknown[]): number {
  if (typeof value !== 'object' || value === null || apart.includes(value)) return 0;
  let count = 0;
  if (Array.isArray(value)) for (const item of value) count += keysIn(item, apart);
  else {
    const map = value as Readonly<Record<string, unknown>>;
    for (const key in map) count += 1 + keysIn(map[key], apart);
  }
  return count;
}

/** The text must be JSON. One pass over it, and as much memory as the objects that are open have keys. */
export function duplicatesInJson(text: string): readonly Duplicate[] {
  const open: Frame[] = [];
  const found = new Map<string, Duplicate>();
  for (let at = 0; at < text.length; at++) {
    if (text[at] !== '"') {
      follow(open, text[at]);
      continue;
    }
    const end = endOfString(text, at);
    const frame = open.at(-1);
    if (frame?.expectsKey && isRepeated(frame, keyAt(text, at, end))) add(found, { open, text, at });
    at = end;
  }
  return [...found.values()];
}

function follow(open: Frame[], character: string | undefined): void {
  if (character === ',') advance(open.at(-1));
  else if (character === '{' || character === '[') open.push(frameFor(character));
  else if (character === '}' || character === ']') open.pop();
}

function frameFor(bracket: '{' | '['): Frame {
  const isMap = bracket === '{';
  return { keys: isMap ? new Set() : undefined, key: '', index: 0, expectsKey: isMap };
}

function advance(frame: Frame | undefined): void {
  if (!frame) return;
  frame.index++;
  frame.expectsKey = frame.keys !== undefined;
}

function isRepeated(frame: Frame, key: string): boolean {
  frame.key = key;
  frame.expectsKey = false;
  const keys = frame.keys;
  const known = keys?.size;
  return keys?.add(key).size === known;
}

/** A quote ends the string unless an odd number of backslashes stands before it. */
function endOfString(text: string, start: number): number {
  let end = start;
  let backslashes: number;
  do {
    end = text.indexOf('"', end + 1);
    if (end < 0) return text.length;
    backslashes = 0;
    while (text[end - 1 - backslashes] === '\\') backslashes++;
  } while (backslashes % 2 === 1);
  return end;
}

function keyAt(text: string, start: number, end: number): string {
  const key = text.slice(start + 1, end);
  return key.includes('\\') ? String(JSON.parse(`"${key}"`)) : key;
}

interface Place {
  readonly open: readonly Frame[];
  readonly text: string;
  readonly at: number;
}

function add(found: Map<string, Duplicate>, { open, text, at }: Place): void {
  if (found.size >= MAX_DUPLICATES) return;
  const path = formatSteps(open.map(({ keys, key, index }) => (keys ? key : index)));
  if (!found.has(path)) found.set(path, { path, key: open.at(-1)?.key ?? '', line: lineOf(text, at) });
}

/** Without quotes around odd keys, as Kubernetes does it. */
export function formatSteps(steps: readonly (string | number)[]): string {
  let path = '';
  for (const step of steps) {
    if (typeof step === 'number') path += `[${step}]`;
    else path += path === '' ? step : `.${step}`;
  }
  return path;
}

function lineOf(text: string, at: number): number {
  let line = 1;
  for (let end = text.indexOf('\n'); end >= 0 && end < at; end = text.indexOf('\n', end + 1)) line++;
  return line;
}
