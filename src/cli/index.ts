/** From arguments to a command and its exit code: usage errors are 2, everything else is the command's own business. */
import { AgentisoError, messageOf } from '#lib/errors.ts';
import type { ApiCommandName } from './api-commands.ts';
import { parseArguments } from './arguments.ts';
import { type Command, type CommandContext, EXIT, INTERRUPTED, type OptionValues } from './command.ts';
import type { LocalCommandName } from './local-commands.ts';
import type { QuickCommandName } from './quick-commands.ts';
import type { StreamCommandName } from './stream-api-commands.ts';
import type { TeamCommandName } from './team-api-commands.ts';
import { asTyped } from './typed-command.ts';
import { UsageError, unknownWord } from './usage-error.ts';

/** A few files instead of one for each command: to open a file takes longer than to read what is in it. */
const together = (name: ApiCommandName) => async () => (await import('./api-commands.ts')).apiCommands[name];
/** The one that is typed most has a program of its own (quick.ts). */
const get = async () => (await import('./commands/get.ts')).getCommand;
const quick = (name: QuickCommandName) => async () => (await import('./quick-commands.ts')).quickCommands[name];
const stream = (name: StreamCommandName) => async () => (await import('./stream-api-commands.ts')).streamCommands[name];
const team = (name: TeamCommandName) => async () => (await import('./team-api-commands.ts')).teamCommands[name];
const local = (name: LocalCommandName) => async () => (await import('./local-commands.ts')).localCommands[name];

const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  up: local('up'),
  orchestrate: local('orchestrate'),
  serve: local('serve'),
  validate: local('validate'),
  init: local('init'),
  doctor: local('doctor'),
  backends: local('backends'),
  image: local('image'),
  get,
  describe: quick('describe'),
  explain: quick('explain'),
  events: quick('events'),
  mcp: quick('mcp'),
  why: together('why'),
  board: together('board'),
  message: team('message'),
  inbox: team('inbox'),
  messages: team('messages'),
  approve: team('approve'),
  refuse: team('refuse'),
  assign: team('assign'),
  retry: team('retry'),
  cancel: team('cancel'),
  stop: team('stop'),
  start: team('start'),
  suspend: team('suspend'),
  resume: team('resume'),
  snapshot: team('snapshot'),
  fork: team('fork'),
  output: team('output'),
  transcript: team('transcript'),
  vault: team('vault'),
  rescue: team('rescue'),
  logs: stream('logs'),
  exec: stream('exec'),
  attach: stream('attach'),
  cp: stream('cp'),
  'port-forward': stream('port-forward'),
  top: stream('top'),
  'api-resources': quick('api-resources'),
  auth: quick('auth'),
  config: together('config'),
  token: together('token'),
  completion: together('completion'),
  __complete: async () => (await import('./api-commands.ts')).completeCommand({ commands: COMMANDS, indexOf: commandIndex }),
  apply: together('apply'),
  diff: together('diff'),
  create: together('create'),
  replace: together('replace'),
  edit: together('edit'),
  patch: together('patch'),
  scale: together('scale'),
  label: quick('label'),
  annotate: quick('annotate'),
  delete: quick('delete'),
  wait: quick('wait'),
  version: quick('version'),
};

const GENERAL_FLAGS = ['--help', '--version'];
/** Flags that may also stand before the command, and take a value. */
const EARLY_FLAGS = ['-n', '--namespace', '--home', '--context', '--kubeconfig'];

/** Commands whose answer is advice. */
const ADVISERS = ['why', 'doctor', 'backends', 'init'];

export async function runCli(argv: readonly string[], caller: CommandContext): Promise<number> {
  const at = commandIndex(argv);
  const name = argv[at];
  const context = speaking(caller, name ?? '');
  const load = name !== undefined && Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  try {
    if (name === undefined || name === 'help') return await general(argv, argv[at + 1], context);
    if (!load) throw unknownWord(`unknown command '${name}'`, name, shownCommands());
    const command = await load();
    const rest = [...argv.slice(0, at), ...argv.slice(at + 1)];
    const { args, options, isHelp } = command.isRaw ? { args: rest, options: {}, isHelp: false } : parseArguments(command, rest);
    if (isHelp) return await help(context.out, command.name);
    if (isFollowing(options)) context.onlyForReader?.();
    return await command.run(args, options, context);
  } catch (error) {
    return explain(error, name ?? '', context);
  }
}

/** It waits for what comes, to print it: where nobody reads that (`| head -1`) there is nothing to wait for. */
function isFollowing(options: OptionValues): boolean {
  return ['follow', 'watch', 'watchOnly'].some((name) => options[name] === true);
}

/** What it says to people names commands as they can be typed here. */
function speaking(context: CommandContext, name: string): CommandContext {
  const command = context.environment?.command;
  if (command === undefined) return context;
  const names = shownCommands();
  const say = (write: (text: string) => void) => (text: string) => write(asTyped(text, command, names));
  return { ...context, err: say(context.err), ...(ADVISERS.includes(name) && { out: say(context.out) }) };
}

function commandIndex(argv: readonly string[]): number {
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at] ?? '';
    if (EARLY_FLAGS.includes(word)) at++;
    else if (!word.startsWith('-')) return at;
  }
  return argv.length;
}

async function general(argv: readonly string[], topic: string | undefined, { out, err, version }: CommandContext): Promise<number> {
  const isAsked = argv.some((word) => ['help', '--help', '-h'].includes(word));
  if (isAsked && topic !== undefined && !shownCommands().includes(topic) && topic !== 'help') {
    throw unknownWord(`unknown command '${topic}'`, topic, shownCommands());
  }
  if (isAsked) return help(out, topic);
  if (argv.includes('--version')) {
    out(`${version}\n`);
    return EXIT.ok;
  }
  const flag = argv.find((word) => word.startsWith('-'));
  if (flag !== undefined) throw unknownWord(`unknown option '${flag}'`, flag, GENERAL_FLAGS);
  await help(err, undefined);
  return EXIT.usage;
}

async function help(write: (text: string) => void, name: string | undefined): Promise<number> {
  const { helpOf } = await import('./help.ts');
  const loaded = await Promise.all(Object.values(COMMANDS).map((load) => load()));
  write(helpOf(loaded, name));
  return EXIT.ok;
}

function shownCommands(): readonly string[] {
  return Object.keys(COMMANDS).filter((each) => !each.startsWith('_'));
}

function explain(error: unknown, name: string, { err }: CommandContext): number {
  if (error instanceof UsageError) {
    err(usageText(error, name));
    return EXIT.usage;
  }
  if (error instanceof AgentisoError && error.reason === INTERRUPTED) return EXIT.interrupted;
  // One clear line; the stack is for bugs, and only those.
  const hint = error instanceof AgentisoError && error.hint ? `\n  ${error.hint}` : '';
  err(`agentiso: ${messageOf(error)}${hint}\n`);
  if (!(error instanceof AgentisoError) && error instanceof Error && !isOfSystem(error)) err(`${error.stack ?? ''}\n`);
  return EXIT.failure;
}

/** No room, no right, no descriptor: that is of this machine, and its words say all of it. */
function isOfSystem(error: Error): boolean {
  return 'syscall' in error && 'code' in error;
}

function usageText({ message, hint }: UsageError, name: string): string {
  const about = Object.hasOwn(COMMANDS, name) ? ` ${name}` : '';
  const next = hint ?? `agentiso${about} --help shows what there is`;
  return `error: ${message}\n${next === '' ? '' : `(${next})\n`}`;
}
