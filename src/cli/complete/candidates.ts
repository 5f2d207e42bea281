/** Which words fit at the end of a command line. Nothing is said about mistakes: a shell that completes must not complain. */
import { parseFlag } from '../arguments.ts';
import type { Command, CommandContext, Option, OptionValues } from '../command.ts';
import { contextNames, namesOf, namespaces, types } from './from-server.ts';

/** All commands, and where on a line the command stands: whoever runs them knows. */
export interface CommandTable {
  readonly commands: Readonly<Record<string, () => Promise<Command>>>;
  readonly indexOf: (words: readonly string[]) => number;
}

export interface Candidate {
  readonly word: string;
  readonly meaning?: string;
}

/** What stands after commands that take no types. */
const FIXED: Readonly<Record<string, readonly string[]>> = {
  completion: ['bash', 'zsh', 'fish'],
  config: ['view', 'get-contexts', 'current-context', 'use-context', 'get-clusters', 'get-users'],
  auth: ['can-i', 'whoami'],
  vault: ['ls', 'cat', 'write', 'search', 'rm'],
  top: ['agents', 'pods'],
};
const TYPED = ['get', 'describe', 'delete', 'edit', 'label', 'annotate', 'patch', 'wait', 'scale', 'explain', 'why'];
/** Commands whose words are names of one type, and how many there may be. */
const NAMES_OF: Readonly<Record<string, { readonly type: string; readonly most: number }>> = {
  logs: { type: 'pods', most: 1 },
  exec: { type: 'pods', most: 1 },
  attach: { type: 'pods', most: 1 },
  'port-forward': { type: 'pods', most: 1 },
  board: { type: 'teams', most: 1 },
  message: { type: 'teams', most: 1 },
  messages: { type: 'teams', most: 1 },
  inbox: { type: 'teams', most: 1 },
  approve: { type: 'tasks', most: 1 },
  refuse: { type: 'tasks', most: 1 },
  assign: { type: 'tasks', most: 1 },
  output: { type: 'tasks', most: 1 },
  retry: { type: 'tasks', most: Number.POSITIVE_INFINITY },
  cancel: { type: 'tasks', most: Number.POSITIVE_INFINITY },
  stop: { type: 'agents', most: Number.POSITIVE_INFINITY },
  start: { type: 'agents', most: Number.POSITIVE_INFINITY },
};
const OUTPUTS = [
  'wide',
  'yaml',
  'json',
  'name',
  'jsonpath=',
  'jsonpath-as-json=',
  'jsonpath-file=',
  'custom-columns=',
  'custom-columns-file=',
];

export async function candidates(table: CommandTable, words: readonly string[], context: CommandContext): Promise<readonly Candidate[]> {
  const current = words.at(-1) ?? '';
  const before = words.slice(0, -1);
  const at = table.indexOf(before);
  const name = before[at];
  const found =
    name === undefined
      ? await commandNames(table)
      : await afterCommand(Object.hasOwn(table.commands, name) ? table.commands[name] : undefined, { current, before, at, context });
  return found.filter(({ word }) => word.startsWith(current));
}

async function commandNames({ commands: table }: CommandTable): Promise<readonly Candidate[]> {
  const commands = await Promise.all(Object.values(table).map((load) => load()));
  return commands.filter(({ isHidden }) => !isHidden).map(({ name, summary }) => ({ word: name, meaning: summary }));
}

interface Typing {
  readonly current: string;
  readonly before: readonly string[];
  readonly at: number;
  readonly context: CommandContext;
}

async function afterCommand(load: (() => Promise<Command>) | undefined, typing: Typing): Promise<readonly Candidate[]> {
  if (!load) return [];
  const command = await load();
  const { current, before, at, context } = typing;
  const given = [...before.slice(0, at), ...before.slice(at + 1)];
  const { positionals, values, open } = readSoFar(command, given);
  if (open) return valuesOf(open, values, context);
  const attached = /^(-\w|--[\w-]+)=/.exec(current);
  if (attached) {
    const option = optionNamed(command, attached[1] ?? '');
    const found = option ? await valuesOf(option, values, context) : [];
    return found.map((each) => ({ ...each, word: `${attached[0]}${each.word}` }));
  }
  if (current.startsWith('-')) return flagsOf(command);
  return positionalWords(command.name, positionals, { current, values, context });
}

function flagsOf({ options = [] }: Command): readonly Candidate[] {
  return options.map((option) => ({ word: parseFlag(option).long, meaning: option.description }));
}

function optionNamed({ options = [] }: Command, word: string): Option | undefined {
  return options.find((option) => [parseFlag(option).long, parseFlag(option).short].includes(word));
}

interface SoFar {
  readonly positionals: readonly string[];
  readonly values: OptionValues;
  /** The option whose value is being typed. */
  readonly open: Option | undefined;
}

function readSoFar(command: Command, words: readonly string[]): SoFar {
  const positionals: string[] = [];
  const values: Record<string, string> = {};
  let open: Option | undefined;
  for (const word of words) {
    if (open) {
      values[parseFlag(open).key] = word;
      open = undefined;
      continue;
    }
    if (!word.startsWith('-')) {
      positionals.push(word);
      continue;
    }
    const [name = '', value] = word.split('=', 2);
    const option = optionNamed(command, name);
    if (option && value !== undefined) values[parseFlag(option).key] = value;
    else if (option && parseFlag(option).takesValue) open = option;
  }
  return { positionals, values, open };
}

async function valuesOf(option: Option, values: OptionValues, context: CommandContext): Promise<readonly Candidate[]> {
  if (option.choices) return option.choices.map((word) => ({ word }));
  const { long } = parseFlag(option);
  if (long === '--namespace') return namespaces(values, context);
  if (long === '--context') return contextNames(values, context);
  return long === '--output' ? OUTPUTS.map((word) => ({ word })) : [];
}

interface Positional {
  readonly current: string;
  readonly values: OptionValues;
  readonly context: CommandContext;
}

async function positionalWords(
  name: string,
  positionals: readonly string[],
  { current, values, context }: Positional,
): Promise<readonly Candidate[]> {
  if (name === 'config' && positionals[0] === 'use-context') return contextNames(values, context);
  const fixed = FIXED[name];
  if (fixed) return positionals.length === 0 ? fixed.map((word) => ({ word })) : [];
  const names = Object.hasOwn(NAMES_OF, name) ? NAMES_OF[name] : undefined;
  if (names) return positionals.length < names.most ? othersThan(positionals, await namesOf(names.type, values, context)) : [];
  return TYPED.includes(name) ? typedWords(name, positionals, { current, values, context }) : [];
}

function othersThan(words: readonly string[], found: readonly Candidate[]): readonly Candidate[] {
  return found.filter(({ word }) => !words.includes(word));
}

/** `TYPE`, `TYPE/NAME`, `TYPE NAME...` */
async function typedWords(
  name: string,
  positionals: readonly string[],
  { current, values, context }: Positional,
): Promise<readonly Candidate[]> {
  const type = positionals[0];
  const slash = current.indexOf('/');
  if (slash > 0) {
    const pairs = await namesOf(current.slice(0, slash), values, context);
    return pairs.map((each) => ({ ...each, word: `${current.slice(0, slash)}/${each.word}` }));
  }
  if (type === undefined || type.includes('/')) return types(values, context);
  const names = name === 'explain' ? [] : await namesOf(type, values, context);
  return othersThan(positionals, names);
}
