/** Arguments against the data of a command: what it gets to run with, or a UsageError that says what is wrong and what would be right. */
import { shellWord } from '#client/shell-word.ts';
import type { Command, Option, OptionValues } from './command.ts';
import { UsageError, unknownWord } from './usage-error.ts';

export interface ParsedArguments {
  readonly args: readonly string[];
  readonly options: OptionValues;
  readonly isHelp: boolean;
}

/** An option's flags, read: `-f, --filename <file>`. */
export interface Flag {
  readonly option: Option;
  readonly short: string | undefined;
  readonly long: string;
  /** `filename`; for `--no-headers`, `headers`. */
  readonly key: string;
  readonly takesValue: boolean;
  readonly isValueOptional: boolean;
  readonly isNegated: boolean;
}

type Values = Record<string, string | boolean | readonly string[]>;

export function parseArguments(command: Command, argv: readonly string[]): ParsedArguments {
  const flags = (command.options ?? []).map(parseFlag);
  const values: Values = {};
  const args: string[] = [];
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length;
  const rest = argv.slice(0, end);
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === '--help' || word === '-h') return { args, options: values, isHelp: true };
    if (word.startsWith('--')) takeLong(word, rest, flags, values);
    else if (word.startsWith('-') && word !== '-') takeShort(word, rest, flags, values);
    else args.push(word);
  }
  args.push(...argv.slice(end + 1));
  checkFiles(command, flags, args);
  complete(flags, values);
  checkCount(command, args);
  return { args, options: values, isHelp: false };
}

export function parseFlag(option: Option): Flag {
  const [, short, long = '', value] = /^(?:(-\w), )?(--[\w-]+)(?: ([<[].+))?$/.exec(option.flags) ?? [];
  const isNegated = long.startsWith('--no-');
  const key = long.slice(isNegated ? 5 : 2).replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
  return { option, short, long, key, takesValue: value !== undefined, isValueOptional: value?.startsWith('[') === true, isNegated };
}

function takeLong(word: string, rest: string[], flags: readonly Flag[], values: Values): void {
  const at = word.indexOf('=');
  const name = at < 0 ? word : word.slice(0, at);
  const flag = flags.find(({ long }) => long === name);
  if (!flag) throw unknownFlag(name, flags);
  if (at >= 0) setGiven(flag, word.slice(at + 1), values);
  else setNext(flag, rest, values);
}

/** `-A`, `-o json`, `-ojson`, `-o=json`, `-Aw`. */
function takeShort(word: string, rest: string[], flags: readonly Flag[], values: Values): void {
  for (let at = 1; at < word.length; at++) {
    const flag = flags.find(({ short }) => short === `-${word[at]}`);
    if (!flag) throw unknownFlag(word.length === 2 ? word : `-${word[at]}' in '${word}`, flags);
    const attached = word.slice(at + 1);
    if (attached.startsWith('=') || (flag.takesValue && attached !== '')) {
      setGiven(flag, attached.replace(/^=/, ''), values);
      return;
    }
    setNext(flag, rest, values);
  }
}

function setNext(flag: Flag, rest: string[], values: Values): void {
  if (!flag.takesValue) {
    values[flag.key] = !flag.isNegated;
    return;
  }
  if (flag.isValueOptional) {
    values[flag.key] = true;
    return;
  }
  const value = rest.shift();
  if (value === undefined) throw new UsageError(`option '${flag.option.flags}' argument missing`);
  setGiven(flag, value, values);
}

/** As help names what the option takes. */
const A_PLACE = /<(?:dir|file)>/;

function setGiven(flag: Flag, value: string, values: Values): void {
  const { option, key } = flag;
  if (!flag.takesValue) {
    values[key] = (readBoolean(flag, value) as boolean) !== flag.isNegated;
    return;
  }
  // Of `--home "$UNSET"`: an empty path is the folder one happens to be in, and nobody means that.
  if (value === '' && A_PLACE.test(option.flags)) throw new UsageError(`option '${option.flags}' is empty; give a path, or leave it out`);
  if (option.choices && !option.choices.includes(value)) {
    const allowed = `Allowed choices are ${option.choices.join(', ')}.`;
    throw new UsageError(`option '${option.flags}' argument '${value}' is invalid. ${allowed}`);
  }
  values[key] = option.isRepeatable ? [...((values[key] as readonly string[] | undefined) ?? []), value] : value;
}

function readBoolean({ long }: Flag, value: string): boolean {
  if (value === 'true' || value === '1') return true;
  if (value === 'false' || value === '0') return false;
  throw new UsageError(`option '${long}' argument '${value}' is invalid. Allowed choices are true, false.`);
}

function complete(flags: readonly Flag[], values: Values): void {
  for (const { option, key, isNegated } of flags) {
    if (values[key] !== undefined) continue;
    if (option.isRequired) throw new UsageError(`required option '${option.flags}' not specified`);
    if (isNegated) values[key] = true;
    else if (option.default !== undefined) values[key] = option.default;
  }
}

/** Whoever names a file without -f means one all the same. */
function checkFiles({ name, args: usage = '' }: Command, flags: readonly Flag[], args: readonly string[]): void {
  const [file] = args;
  if (usage !== '' || file === undefined || !flags.some(({ key }) => key === 'filename')) return;
  throw new UsageError(`unexpected argument '${file}'; files are named with -f`, { hint: `use: agentiso ${name} -f ${shellWord(file)}` });
}

function checkCount({ name, args: usage = '' }: Command, args: readonly string[]): void {
  const wanted = usage.split(' ').filter((word) => word !== '');
  const missing = wanted.filter((word) => word.startsWith('<'))[args.length];
  if (missing) throw new UsageError(`missing required argument '${missing.replace(/[<>.]/g, '')}'`);
  if (args.length <= wanted.length || usage.includes('...')) return;
  const plural = wanted.length === 1 ? '' : 's';
  throw new UsageError(`too many arguments for '${name}'. Expected ${wanted.length} argument${plural} but got ${args.length}.`);
}

function unknownFlag(name: string, flags: readonly Flag[]): UsageError {
  const known = name.startsWith('--') ? flags.map(({ long }) => long) : [];
  return unknownWord(`unknown option '${name}'`, name, known);
}
