/** Reads the words behind a command. Pure. Options may stand anywhere; `--` ends them. */

/** `text` takes the word that follows, `list` too and may come again, `number` is a whole one. */
export type OptionKind = 'text' | 'flag' | 'list' | 'number';
export type OptionKinds = Readonly<Record<string, OptionKind>>;

export class UsageError extends Error {}

export class Arguments {
  readonly words: readonly string[];
  readonly #options: ReadonlyMap<string, readonly string[]>;

  constructor(words: readonly string[], options: ReadonlyMap<string, readonly string[]>) {
    this.words = words;
    this.#options = options;
  }

  flag(name: string): boolean {
    return this.#options.has(name);
  }

  text(name: string): string | undefined {
    return this.#options.get(name)?.at(-1);
  }

  list(name: string): readonly string[] {
    return this.#options.get(name) ?? [];
  }

  number(name: string): number | undefined {
    const text = this.text(name);
    return text === undefined ? undefined : Number(text);
  }

  /** The word at this place, which must be there. */
  word(at: number, what: string): string {
    return this.words[at] ?? this.misused(`${what} is missing`);
  }

  /** For commands that take no text: a word too many is a mistake. */
  only(count: number): this {
    const [extra] = this.words.slice(count);
    return extra === undefined ? this : this.misused(`${JSON.stringify(extra)} is too much`);
  }

  misused(problem: string): never {
    throw new UsageError(problem);
  }
}

export function parseArguments(argv: readonly string[], kinds: OptionKinds): Arguments {
  const words: string[] = [];
  const options = new Map<string, string[]>();
  const end = argv.indexOf('--');
  const before = end < 0 ? argv : argv.slice(0, end);
  for (let at = 0; at < before.length; at += 1) {
    const word = before[at] ?? '';
    if (!word.startsWith('--')) {
      words.push(word);
      continue;
    }
    const { name, value, isNextTaken } = readOption(word, before[at + 1], kinds);
    options.set(name, [...(options.get(name) ?? []), value]);
    if (isNextTaken) at += 1;
  }
  return new Arguments(end < 0 ? words : [...words, ...argv.slice(end + 1)], options);
}

interface ReadOption {
  readonly name: string;
  readonly value: string;
  readonly isNextTaken: boolean;
}

/** As `--name value` or `--name=value`. */
function readOption(word: string, next: string | undefined, kinds: OptionKinds): ReadOption {
  const equals = word.indexOf('=');
  const name = word.slice(2, equals < 0 ? undefined : equals);
  const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
  const given = equals < 0 ? undefined : word.slice(equals + 1);
  if (kind === undefined) {
    const known = Object.keys(kinds).map((each) => `--${each}`);
    throw new UsageError(`there is no option --${name}, but ${known.join(', ')}; text that begins with -- goes behind a word --`);
  }
  if (kind === 'flag') {
    if (given !== undefined) throw new UsageError(`--${name} takes no value`);
    return { name, value: '', isNextTaken: false };
  }
  const value = given ?? next;
  if (value === undefined) throw new UsageError(`--${name} needs a value`);
  if (kind === 'number' && !/^\d{1,9}$/.test(value)) throw new UsageError(`--${name} must be a whole number, not ${JSON.stringify(value)}`);
  return { name, value, isNextTaken: given === undefined };
}
