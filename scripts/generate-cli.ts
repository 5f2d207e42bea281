/** The page docs/cli.md, made from the commands themselves, so that it cannot say anything else than `--help`. */
import { NAMESPACE_OPTION, TARGET_OPTIONS } from '../src/cli/api-command.ts';
import { apiCommands } from '../src/cli/api-commands.ts';
import { parseFlag } from '../src/cli/arguments.ts';
import type { Command, Option } from '../src/cli/command.ts';
import { WITH_A_TEAM } from '../src/cli/help.ts';
import { localCommands } from '../src/cli/local-commands.ts';

const OURS = ['up', 'orchestrate', 'init', 'serve', 'validate', 'doctor', 'backends', 'image'] as const;
/** They ask the server, and kubectl does not have them. */
const OURS_OF_THE_SERVER = [...WITH_A_TEAM, 'token'] as const;
const GLOBAL_OPTIONS: readonly Option[] = [NAMESPACE_OPTION, ...TARGET_OPTIONS];

export function cliPage(): string {
  const asking: readonly Command[] = OURS_OF_THE_SERVER.map((name) => apiCommands[name]);
  const ours = [...OURS.map((name) => localCommands[name]), ...asking];
  const forgotten = Object.keys(localCommands).filter((name) => !OURS.some((known) => known === name));
  if (forgotten.length > 0) throw new Error(`scripts/generate-cli.ts does not say where ${forgotten.join(', ')} belongs`);
  const theirs = Object.values<Command>(apiCommands).filter((command) => command.isHidden !== true && !asking.includes(command));
  return [
    START,
    '## All commands',
    table(
      ['Command', 'What it does'],
      [...ours, ...theirs].map(({ name, summary }) => [`[${name}](#${name})`, summary]),
    ),
    TARGET,
    optionTable(GLOBAL_OPTIONS),
    EXIT_CODES,
    "## agentiso's own commands",
    ...ours.map(section),
    THEIRS,
    ...theirs.map(section),
  ]
    .join('\n\n')
    .concat('\n');
}

function section({ name, args, summary, description, options = [] }: Command): string {
  const own = options.filter((option) => !isGlobal(option));
  const isTargeted = own.length < options.length;
  const usage = ['agentiso', name, args, options.length > 0 ? '[options]' : undefined].filter((word) => word !== undefined).join(' ');
  return [
    `### ${name}`,
    `\`${usage}\``,
    [sentence(summary), ...(description === undefined ? [] : [plain(description)])].join(' '),
    ...(own.length > 0 ? [optionTable(own)] : []),
    ...(isTargeted ? ['Also: [the options that choose the server](#which-server).'] : []),
  ].join('\n\n');
}

function isGlobal(option: Option): boolean {
  return GLOBAL_OPTIONS.some(({ flags, description }) => flags === option.flags && description === option.description);
}

function optionTable(options: readonly Option[]): string {
  return table(
    ['Option', 'Meaning'],
    options.map((option) => [`\`${option.flags}\``, [option.description, ...remarks(option)].join('; ')]),
  );
}

/** What the description need not say. */
function remarks(option: Option): string[] {
  const { choices, default: initial, isRequired, isRepeatable, description } = option;
  const isSaid = (word: string) => new RegExp(`\\b${word}\\b`).test(description);
  return [
    ...(isRequired === true ? ['required'] : []),
    ...(isRepeatable === true && !isSaid('repeatable') && !isSaid('several') ? ['may be given several times'] : []),
    ...(choices && !choices.every(isSaid) ? [`${choices.length > 1 ? 'one of' : 'only'} ${choices.map(code).join(', ')}`] : []),
    ...(initial !== undefined && parseFlag(option).takesValue ? [`default ${code(initial)}`] : []),
  ];
}

function code(text: string): string {
  return `\`${text}\``;
}

function sentence(text: string): string {
  const begun = `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
  return plain(begun.endsWith('.') ? begun : `${begun}.`);
}

function table(headers: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(headers), `|${headers.map(() => '---|').join('')}`, ...rows.map((row) => line(row.map(plain)))].join('\n');
}

/** Angle brackets outside of code would be taken for HTML. */
function plain(text: string): string {
  return text
    .split(/(`[^`]*`)/)
    .map((part) => (part.startsWith('`') ? part : part.replaceAll('<', '&lt;')))
    .join('');
}

const START = `<!-- Written by \`npm run generate\` from src/cli. Do not edit. -->

# Commands

From a clone the program is \`scripts/agentiso\`; it builds itself when the sources have changed. Installed, it is \`agentiso\`.
This page writes \`agentiso\`.

\`agentiso --help\` lists the commands, \`agentiso get --help\` says what one of them takes. \`agentiso --version\` prints the version.
Flags may stand before or after the names they belong to: \`agentiso -n prod get tasks\` is \`agentiso get tasks -n prod\`.`;

const TARGET = `## Which server

Commands that talk to a server use the daemon of the nearest \`.agentiso\` folder, in this folder or one above it, as git finds
\`.git\`. They use its private socket; no token is needed. \`$KUBECONFIG\` alone never sends them elsewhere: only \`--context\` and
\`--kubeconfig\` do.`;

const EXIT_CODES = `## Exit codes

| Code | Meaning |
|---|---|
| 0 | done; for \`up\` and \`orchestrate\`: every task succeeded |
| 1 | it failed: the server refused, a task failed, a file is not valid. \`diff\`: there are differences. \`auth can-i\`: no |
| 2 | wrong command line; nothing was done. \`diff\`: it could not be found out |
| 130 | Ctrl-C before the end |
| any | \`exec\`: the exit code of the command |

What a pipe should get is on standard output; progress, warnings and errors are on standard error.`;

const THEIRS = `## kubectl's words

These do what the kubectl command of the same name does, on any kind the server has. Types are named as with kubectl: \`tasks\`,
\`task\`, \`tk\`, \`task/hello-greet\`, \`tasks.agentiso.dev\`.`;
