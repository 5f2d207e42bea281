/**
 * Where in a shell command a piece of text stands: between quotes, in a here-document, in an expansion. Knows as much of the grammar of
 * sh as both dash and bash agree on. Where they do not, or where a value would be calculated with, it says that it cannot tell. Pure.
 */
import { findBody, type HereDocument, isPlainBody, parseOpening } from './shell-document.ts';

/** A piece of the command that is to be replaced. */
export interface Mark {
  readonly start: number;
  readonly end: number;
}

/** bare: outside of quotes. text: where `$NAME` is expanded and quotes are ordinary characters. Else: why nothing can be put there. */
export type Place = 'bare' | 'double' | 'single' | 'text' | { readonly refusal: string };

type FrameKind = 'command' | 'double' | 'single' | 'comment' | 'backtick' | 'braces' | 'arithmetic';

interface Frame {
  readonly kind: FrameKind;
  /** Round brackets that were opened in it. */
  depth: number;
  /** The next character begins a word. */
  isWordStart: boolean;
  /** Where the present word began. */
  wordAt: number;
  /** Between [[ and ]], or in the index of an array: bash calculates there, and what it calculates with may be code. */
  isCalculated: 'test' | 'index' | undefined;
  readonly documents: HereDocument[];
}

const UNSURE = 'stands behind something that shells read in different ways';
const CALCULATED = { test: 'stands between [[ and ]]', index: 'stands in the index of an array' };
const REFUSALS: Partial<Record<FrameKind, string>> = {
  backtick: 'stands inside backticks',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's, not ours
  braces: 'stands inside ${...}',
  arithmetic: 'stands inside ((...))',
};
/** One place for each mark. Marks are in order and do not overlap. */
export function shellPlaces(command: string, marks: readonly Mark[]): readonly Place[] {
  return new ShellReader(command, marks).read();
}

class ShellReader {
  readonly #text: string;
  readonly #ends: ReadonlyMap<number, number>;
  /** By where the mark begins. */
  readonly #places = new Map<number, Place>();
  readonly #frames: Frame[] = [newFrame('command')];
  #at = 0;
  #isUnsure = false;

  constructor(text: string, marks: readonly Mark[]) {
    this.#text = text;
    this.#ends = new Map(marks.map(({ start, end }) => [start, end]));
  }

  read(): readonly Place[] {
    while (this.#at < this.#text.length) {
      const end = this.#ends.get(this.#at);
      if (end === undefined) this.#steps[this.#frame.kind]();
      else this.#pass(end);
    }
    // One that was never come to stands in the middle of something else, such as the name of a here-document.
    return [...this.#ends.keys()].map((start) => this.#places.get(start) ?? { refusal: UNSURE });
  }

  get #frame(): Frame {
    return this.#frames.at(-1) as Frame;
  }

  /** Over a mark. */
  #pass(end: number): void {
    this.#places.set(this.#at, this.#place());
    this.#beginWord();
    this.#at = end;
  }

  #place(): Place {
    const { kind, isCalculated } = this.#frame;
    if (this.#isUnsure) return { refusal: UNSURE };
    const refusal = REFUSALS[kind] ?? (isCalculated && CALCULATED[isCalculated]) ?? this.#refusedBefore();
    if (refusal !== undefined) return { refusal };
    if (kind === 'double' || kind === 'single') return kind;
    return kind === 'comment' ? 'text' : 'bare';
  }

  /** In single quotes and comments no character does anything to the next one. */
  #refusedBefore(): string | undefined {
    const { kind } = this.#frame;
    if (kind === 'single' || kind === 'comment') return undefined;
    return refusedBehind(this.#text, this.#at);
  }

  readonly #steps: Readonly<Record<FrameKind, () => void>> = {
    command: () => this.#inCommand(),
    double: () => this.#inDouble(),
    single: () => this.#until("'"),
    comment: () => this.#inComment(),
    backtick: () => this.#inBacktick(),
    braces: () => this.#inBraces(),
    arithmetic: () => this.#inArithmetic(),
  };

  #inCommand(): void {
    const char = this.#char;
    if (char === '\\') this.#escape();
    else if (char === '\n') this.#endLine();
    else if (char === '(' || char === ')') this.#bracket(char);
    else if (this.#has('<<')) this.#redirect();
    else if (' \t;&|<>'.includes(char)) this.#endWord();
    else if (char === '#' && this.#frame.isWordStart) this.#push('comment', 1);
    else this.#inWord();
  }

  #inWord(): void {
    this.#noteWord();
    this.#beginWord();
    if (!this.#quoteOrExpansion()) this.#at += 1;
  }

  /** What a word says by its first characters. */
  #noteWord(): void {
    const frame = this.#frame;
    const rest = this.#text.slice(this.#at, this.#at + 5);
    if (frame.isWordStart && /^\[\[\s/.test(rest)) frame.isCalculated = 'test';
    else if (frame.isWordStart && rest.startsWith(']]')) frame.isCalculated = undefined;
    // The bracket behind a pattern of `case` closes nothing: inside $(...) it cannot be told from the one that does.
    else if (frame.isWordStart && /^case\s/.test(rest) && this.#frames.length > 1) this.#isUnsure = true;
    else if (rest.startsWith('[') && /^[A-Za-z_]\w*$/.test(this.#text.slice(frame.wordAt, this.#at))) frame.isCalculated ??= 'index';
  }

  #bracket(char: '(' | ')'): void {
    const frame = this.#frame;
    if (frame.isWordStart && this.#has('((')) {
      this.#push('arithmetic', 2);
      return;
    }
    this.#endWord();
    if (char === '(') frame.depth += 1;
    else if (frame.depth > 0) frame.depth -= 1;
    else if (this.#frames.length > 1) this.#pop();
  }

  #endLine(): void {
    const { documents } = this.#frame;
    this.#endWord();
    for (const document of documents.splice(0)) this.#readDocument(document);
  }

  #redirect(): void {
    const isHereString = this.#has('<<<');
    const opening = isHereString ? undefined : parseOpening(this.#text.slice(this.#at));
    if (opening !== undefined) this.#frame.documents.push(opening);
    else if (!isHereString) this.#isUnsure = true;
    const start = this.#at;
    this.#endWord();
    this.#at = start + (opening?.length ?? (isHereString ? 3 : 2));
  }

  #readDocument(document: HereDocument): void {
    const start = this.#at;
    const { end, next } = findBody(this.#text, start, document);
    const marks = [...this.#ends].filter(([at]) => at >= start && at < end);
    const { isQuoted } = document;
    if (!isQuoted && !isPlainBody(withoutMarks(this.#text.slice(start, end), marks, start))) this.#isUnsure = true;
    for (const [at] of marks) this.#places.set(at, this.#bodyPlace(at, isQuoted));
    this.#at = next;
  }

  #bodyPlace(at: number, isQuoted: boolean): Place {
    if (this.#isUnsure) return { refusal: UNSURE };
    if (isQuoted) return { refusal: 'stands in a here-document whose delimiter is quoted, where nothing is replaced' };
    const refusal = refusedBehind(this.#text, at);
    return refusal === undefined ? 'text' : { refusal };
  }

  #inDouble(): void {
    this.#noteLine();
    if (this.#char === '"') this.#pop(1);
    else if (this.#char === '\\') this.#escape();
    else if (!this.#expansion()) this.#at += 1;
  }

  #inComment(): void {
    if (this.#char === '\n') this.#pop();
    else this.#at += 1;
  }

  /** The first backtick without a backslash ends it, whatever quotes there are. */
  #inBacktick(): void {
    if (this.#char === '\\') this.#escape();
    else this.#until('`');
  }

  #inBraces(): void {
    const char = this.#char;
    // Between double quotes, whether a single quote is one depends on the operator and on the shell.
    if (char === "'" && this.#frames.some(({ kind }) => kind === 'double')) this.#isUnsure = true;
    if (char === '}') this.#pop(1);
    else if (char === '\\') this.#escape();
    else if (!this.#quoteOrExpansion()) this.#at += 1;
  }

  #inArithmetic(): void {
    const frame = this.#frame;
    const char = this.#char;
    if ('\'"`\\'.includes(char)) this.#isUnsure = true;
    if (char === ')' && frame.depth === 0) this.#endArithmetic();
    else if (!this.#expansion()) {
      frame.depth += char === '(' ? 1 : char === ')' ? -1 : 0;
      this.#at += 1;
    }
  }

  /** One bracket alone: these were brackets of another kind, and what was read is not what it seemed. */
  #endArithmetic(): void {
    if (!this.#has('))')) this.#isUnsure = true;
    this.#pop(2);
  }

  #quoteOrExpansion(): boolean {
    const char = this.#char;
    if (char === "'") this.#push('single', 1);
    else if (char === '"') this.#push('double', 1);
    else if (this.#has("$'")) this.#pushEscapedQuotes();
    else return this.#expansion();
    return true;
  }

  /** True: it was one, and is being read. */
  #expansion(): boolean {
    if (this.#has('$((')) this.#push('arithmetic', 3);
    else if (this.#has('$(')) this.#push('command', 2);
    else if (this.#has('${') && !this.#ends.has(this.#at + 1)) this.#push('braces', 2);
    else if (this.#char === '`') this.#push('backtick', 1);
    else {
      if (this.#has('$[')) this.#isUnsure = true;
      return false;
    }
    return true;
  }

  /** $'...' has escapes in bash, and is a dollar sign before single quotes in dash. */
  #pushEscapedQuotes(): void {
    const end = this.#text.indexOf("'", this.#at + 2);
    if (this.#text.slice(this.#at, end < 0 ? undefined : end).includes('\\')) this.#isUnsure = true;
    this.#push('single', 2);
  }

  /** A mark behind it is not skipped: it is refused where it stands. A line that goes on does not end a word. */
  #escape(): void {
    if (this.#text[this.#at + 1] !== '\n') this.#beginWord();
    this.#at += this.#ends.has(this.#at + 1) ? 1 : 2;
  }

  #until(closing: string): void {
    this.#noteLine();
    if (this.#char === closing) this.#pop(1);
    else this.#at += 1;
  }

  /** Where the body of a here-document begins when its line ends between quotes is not worth relying on. */
  #noteLine(): void {
    if (this.#char === '\n' && this.#frames.some(({ documents }) => documents.length > 0)) this.#isUnsure = true;
  }

  #push(kind: FrameKind, length: number): void {
    this.#beginWord();
    this.#frames.push(newFrame(kind));
    this.#at += length;
  }

  #pop(length = 0): void {
    // A here-document that was announced and has not come.
    if (this.#frames.pop()?.documents.length) this.#isUnsure = true;
    this.#at += length;
  }

  #beginWord(): void {
    const frame = this.#frame;
    if (frame.isWordStart) frame.wordAt = this.#at;
    frame.isWordStart = false;
  }

  #endWord(): void {
    const frame = this.#frame;
    frame.isWordStart = true;
    if (frame.isCalculated === 'index') frame.isCalculated = undefined;
    this.#at += 1;
  }

  get #char(): string {
    return this.#text[this.#at] as string;
  }

  #has(text: string): boolean {
    return this.#text.startsWith(text, this.#at);
  }
}

function newFrame(kind: FrameKind): Frame {
  return { kind, depth: 0, isWordStart: true, wordAt: 0, isCalculated: undefined, documents: [] };
}

/** A backslash, or a dollar sign, would do something to what the piece is replaced with. */
function refusedBehind(text: string, at: number): string | undefined {
  const backslashes = /\\*$/.exec(text.slice(0, at))?.[0].length ?? 0;
  if (backslashes % 2 === 1) return 'stands directly behind a backslash';
  const isDollar = text[at - 1] === '$' && (/\\*$/.exec(text.slice(0, at - 1))?.[0].length ?? 0) % 2 === 0;
  return isDollar ? 'stands directly behind a $' : undefined;
}

function withoutMarks(text: string, marks: readonly (readonly [number, number])[], offset: number): string {
  return marks.reduceRight((rest, [start, end]) => rest.slice(0, start - offset) + rest.slice(end - offset), text);
}
