/** Reads a template character by character and knows where it is, so that every complaint can say where. */
import { JsonPathError } from './template.ts';

const ESCAPES: Readonly<Record<string, string>> = { a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' };
/** Of the template in messages. */
const MAX_SHOWN = 200;
const HEX_DIGITS: Readonly<Record<string, number>> = { x: 2, u: 4 };

export class Scanner {
  readonly source: string;
  #at = 0;

  constructor(source: string) {
    this.source = source;
  }

  get atEnd(): boolean {
    return this.#at >= this.source.length;
  }

  peek(): string {
    return this.source[this.#at] ?? '';
  }

  next(): string {
    return this.source[this.#at++] ?? '';
  }

  startsWith(text: string): boolean {
    return this.source.startsWith(text, this.#at);
  }

  /** Moves past `text` if it comes next. */
  accept(text: string): boolean {
    if (!this.startsWith(text)) return false;
    this.#at += text.length;
    return true;
  }

  expect(text: string): void {
    if (!this.accept(text)) throw this.error(`expected ${text}`);
  }

  skipBlanks(): boolean {
    const start = this.#at;
    while (this.peek() === ' ' || this.peek() === '\t') this.#at++;
    return this.#at > start;
  }

  /** Everything up to the next of these characters or the end; a backslash takes the character after it as it is. */
  until(stops: string): string {
    let text = '';
    while (!this.atEnd && !stops.includes(this.peek())) {
      const character = this.next();
      text += character === '\\' ? this.next() : character;
    }
    return text;
  }

  digits(): string {
    const start = this.#at;
    while (/[\d.]/.test(this.peek())) this.#at++;
    return this.source.slice(start, this.#at);
  }

  /** A text in quotes, the opening one being next; `\n` and the like are understood. */
  quoted(): string {
    const start = this.#at;
    const quote = this.next();
    let text = '';
    while (this.peek() !== quote) {
      if (this.atEnd || this.peek() === '\n') throw this.error(`expected ${quote} at the end of the quoted text`, start);
      const character = this.next();
      text += character === '\\' ? this.#escape() : character;
    }
    this.#at++;
    return text;
  }

  /** A key in quotes: a backslash only takes the next character as it is, so that escaped dots mean the same as outside. */
  quotedKey(): string {
    const start = this.#at;
    const quote = this.next();
    const key = this.until(`${quote}\n`);
    if (!this.accept(quote)) throw this.error(`expected ${quote} at the end of the key`, start);
    return key;
  }

  #escape(): string {
    const letter = this.next();
    if (letter !== '' && '\\\'"/'.includes(letter)) return letter;
    const known = ESCAPES[letter];
    if (known !== undefined) return known;
    const length = HEX_DIGITS[letter] ?? 0;
    const hex = this.source.slice(this.#at, this.#at + length);
    if (length === 0 || !/^[\da-f]+$/i.test(hex) || hex.length < length) {
      throw this.error(`expected one of \\\\ \\' \\" \\n \\t \\r \\xHH \\uHHHH`, this.#at - 2);
    }
    this.#at += length;
    return String.fromCharCode(Number.parseInt(hex, 16));
  }

  error(problem: string, at = this.#at): JsonPathError {
    const found = at < this.source.length ? `found ${JSON.stringify(this.source[at])}` : 'found the end';
    const shown = this.source.length > MAX_SHOWN ? `${this.source.slice(0, MAX_SHOWN)}...` : this.source;
    return new JsonPathError(`jsonpath ${JSON.stringify(shown)}: at position ${at + 1}: ${problem}, ${found}`, at + 1);
  }
}
