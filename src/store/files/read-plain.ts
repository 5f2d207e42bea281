/**
 * The reader for text exactly as emit.ts writes it, fifty times faster than a YAML parser. It need not be right about anything else:
 * a value counts only if writing it again gives the same text, byte for byte; for all other text there is the real parser.
 */

import { emitYaml } from '#lib/emit-yaml.ts';
import type { JsonObject } from '#lib/json.ts';

/** undefined when the text is not one that we would have written. */
export function readPlain(text: string): JsonObject | undefined {
  if (!text.endsWith('\n')) return undefined;
  try {
    const value = new Reader(text.slice(0, -1).split('\n')).map(0);
    return emitYaml(value) === text ? value : undefined;
  } catch {
    // Not our style: whatever it stumbled over, the YAML parser will name it.
    return undefined;
  }
}

const NUMBER = /^-?\d+(\.\d+)?([eE][-+]?\d+)?$/;
const KEY = /^(?:("(?:[^"\\]|\\.)*")|([^\s"'#[\]{}|>&*!%@`-][^:]*)):(?: (.*))?$/;

class Reader {
  readonly #lines: readonly string[];
  #at = 0;

  constructor(lines: readonly string[]) {
    this.#lines = lines;
  }

  map(indent: number, firstLine?: string): JsonObject {
    const map: JsonObject = {};
    for (let line = firstLine ?? this.#lineAt(indent); line !== undefined; line = this.#lineAt(indent)) {
      const match = KEY.exec(line);
      if (!match) throw new SyntaxError('no key');
      const [, quoted, plain, rest] = match;
      const key = quoted === undefined ? (plain ?? '') : (JSON.parse(quoted) as string);
      if (Object.hasOwn(map, key) || key === '__proto__') throw new SyntaxError('not a key of ours');
      this.#at++;
      map[key] = rest === undefined ? this.#nested(indent) : this.#scalar(rest, indent);
    }
    return map;
  }

  /** The line that begins at this indentation, without it; undefined when the block has ended. */
  #lineAt(indent: number): string | undefined {
    const line = this.#lines[this.#at];
    if (line === undefined || !line.startsWith(' '.repeat(indent)) || line[indent] === ' ') return undefined;
    return line.slice(indent);
  }

  #nested(indent: number): unknown {
    const first = this.#lineAt(indent + 2);
    if (first === undefined) throw new SyntaxError('nothing below a key');
    return first.startsWith('- ') ? this.#list(indent + 2) : this.map(indent + 2);
  }

  #list(indent: number): unknown[] {
    const list: unknown[] = [];
    for (let line = this.#lineAt(indent); line?.startsWith('- '); line = this.#lineAt(indent)) list.push(this.#item(line.slice(2), indent));
    return list;
  }

  #item(rest: string, indent: number): unknown {
    if (rest.startsWith('- ')) throw new SyntaxError('lists in lists are left to the parser');
    if (KEY.test(rest)) return this.map(indent + 2, rest);
    this.#at++;
    return this.#scalar(rest, indent);
  }

  #scalar(text: string, indent: number): unknown {
    if (text.startsWith('"')) return JSON.parse(text);
    if (text.startsWith('|')) return this.#literal(text.slice(1), indent + 2);
    if (NUMBER.test(text)) return Number(text);
    return Object.hasOwn(WORDS, text) ? structuredClone(WORDS[text]) : text;
  }

  #literal(ending: string, indent: number): string {
    const lines: string[] = [];
    const margin = ' '.repeat(indent);
    for (let line = this.#lines[this.#at]; line !== undefined && (line === '' || line.startsWith(margin)); line = this.#lines[this.#at]) {
      lines.push(line.slice(indent));
      this.#at++;
    }
    return ending === '-' ? lines.join('\n') : `${lines.join('\n')}\n`;
  }
}

const WORDS: Readonly<Record<string, unknown>> = { null: null, true: true, false: false, '{}': {}, '[]': [] };
