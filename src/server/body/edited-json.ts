/**
 * Most updates are the last answer with one value changed. What such a text says is known without reading all of it again: the known
 * value with that one replaced. Pure.
 */
import type { JsonObject } from '#lib/json.ts';

export interface KnownJson {
  /** As JSON.stringify writes it. */
  readonly text: string;
  readonly value: JsonObject;
}

type Scalar = string | number | boolean;
type Path = (string | number)[];

/** Beyond this it is not worth looking. */
const MAX_LENGTH = 64 * 1024;

/**
 * The known value with what the text changes, which shares the rest with it; undefined where more than a text, a number or a truth
 * below one of its members, not of `except`, has become another one. It would be the same if it were parsed.
 */
export function editedJson(text: string, { text: known, value }: KnownJson, except: readonly string[] = []): JsonObject | undefined {
  if (text.length > MAX_LENGTH || known.length > MAX_LENGTH) return undefined;
  if (text === known) return value;
  const place = placeOf(known, firstDifference(text, known));
  if (!place || except.includes(String(place.path[0])) || place.path.some(isEscaped)) return undefined;
  const rest = known.length - place.end;
  if (text.length - rest <= place.start || !text.endsWith(known.slice(place.end))) return undefined;
  const scalar = scalarOf(text.slice(place.start, text.length - rest));
  return scalar === undefined ? undefined : (replaced(value, place.path, 0, scalar) as JsonObject);
}

function firstDifference(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) if (a.charCodeAt(at) !== b.charCodeAt(at)) return at;
  return length;
}

/** A key that reads otherwise than it is written. */
function isEscaped(step: string | number): boolean {
  return typeof step === 'string' && step.includes('\\');
}

interface Place {
  readonly path: Path;
  /** Of the value in the text. */
  readonly start: number;
  readonly end: number;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_MAP = 0x7b;
const CLOSE_MAP = 0x7d;

/** The value that stands at this place of the text, or ends right before it; undefined when that is none, or a key, or not a scalar. */
function placeOf(text: string, wanted: number): Place | undefined {
  const trail = new Trail();
  for (let at = 0; at <= wanted && at < text.length; ) {
    if (trail.follows(text.charCodeAt(at))) at++;
    else {
      const word = wordAt(text, at, trail.isAtKey);
      if (wanted <= word.last) return trail.placeOf(word);
      at = trail.pass(text, word);
    }
  }
  return undefined;
}

interface Word {
  readonly start: number;
  readonly end: number;
  /** The last place where a difference would be one of this word: a number may go on where it ends, a text may not. */
  readonly last: number;
  readonly next: number;
}

/** Of a key the colon is a part. */
function wordAt(text: string, start: number, isKey: boolean): Word {
  const isText = text.charCodeAt(start) === QUOTE;
  const end = isText ? endOfString(text, start) : endOfWord(text, start);
  return { start, end, last: isText && !isKey ? end - 1 : end, next: isKey ? end + 1 : end };
}

/** The way from the root to where a walk over a text is. */
class Trail {
  readonly path: Path = [];
  /** For each object or list that is open, whether it is an object and its next word a key. */
  readonly #expectsKey: boolean[] = [];

  get isAtKey(): boolean {
    return this.#expectsKey[this.#expectsKey.length - 1] === true;
  }

  /** False for what belongs to a key or a value. */
  follows(code: number): boolean {
    if (code === OPEN_MAP || code === OPEN_LIST) {
      this.path.push(code === OPEN_MAP ? '' : 0);
      this.#expectsKey.push(code === OPEN_MAP);
    } else if (code === CLOSE_MAP || code === CLOSE_LIST) {
      this.path.pop();
      this.#expectsKey.pop();
    } else if (code === COMMA) this.#advance();
    else return false;
    return true;
  }

  /** Undefined for a key. */
  placeOf({ start, end }: Word): Place | undefined {
    return this.isAtKey ? undefined : { path: this.path, start, end };
  }

  pass(text: string, { start, end, next }: Word): number {
    if (this.isAtKey) {
      this.path[this.path.length - 1] = text.slice(start + 1, end - 1);
      this.#expectsKey[this.#expectsKey.length - 1] = false;
    }
    return next;
  }

  #advance(): void {
    const index = this.path[this.path.length - 1];
    if (typeof index === 'number') this.path[this.path.length - 1] = index + 1;
    else this.#expectsKey[this.#expectsKey.length - 1] = true;
  }
}

/** After the quote that ends it: one with an even number of backslashes before it. */
function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let before = quote;
    while (text.charCodeAt(before - 1) === BACKSLASH) before--;
    if ((quote - before) % 2 === 0) return quote + 1;
  }
  return text.length;
}

function endOfWord(text: string, start: number): number {
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === COMMA || code === CLOSE_LIST || code === CLOSE_MAP) return at;
  }
  return text.length;
}

const PLAIN_STRING = /^"[^"\\\p{Cc}]*"$/u;
const NUMBER = /^-?(?:0|[1-9][0-9]{0,15})(?:\.[0-9]{1,15})?$/;

function scalarOf(text: string): Scalar | undefined {
  if (PLAIN_STRING.test(text)) return text.slice(1, -1);
  if (NUMBER.test(text)) return Number(text);
  return text === 'true' || text === 'false' ? text === 'true' : undefined;
}

function replaced(value: unknown, path: Path, depth: number, scalar: Scalar): unknown {
  const step = path[depth];
  if (step === undefined) return scalar;
  if (typeof step === 'number') {
    const list = (value as readonly unknown[]).slice();
    list[step] = replaced(list[step], path, depth + 1, scalar);
    return list;
  }
  const map = value as JsonObject;
  return { ...map, [step]: replaced(map[step], path, depth + 1, scalar) };
}
