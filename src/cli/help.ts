/** Help texts, laid out from the data of the commands. Pure; loaded only when somebody asks. */
import { parseFlag } from './arguments.ts';
import type { Command, Option } from './command.ts';

const WIDTH = 100;
const OURS = ['up', 'orchestrate', 'init', 'serve', 'mcp', 'validate', 'doctor', 'backends', 'image', 'token'];
/** For those who work with a team that runs. Everything else is a word of kubectl's. */
export const WITH_A_TEAM = [
  'board',
  'why',
  'message',
  'inbox',
  'messages',
  'approve',
  'refuse',
  'assign',
  'retry',
  'cancel',
  'stop',
  'start',
  'suspend',
  'resume',
  'snapshot',
  'fork',
  'output',
  'vault',
  'rescue',
] as const;
const HELP_ROW: Row = ['-h, --help', 'show this'];

type Row = readonly [left: string, right: string];

/** Of one command, or of the whole program. */
export function helpOf(commands: readonly Command[], name?: string): string {
  const command = commands.find((each) => each.name === name);
  return command ? commandHelp(command) : programHelp(commands.filter(({ isHidden }) => isHidden !== true));
}

function programHelp(commands: readonly Command[]): string {
  const rowOf = ({ name, summary }: Command): Row => [name, summary];
  const named = (names: readonly string[]) => names.flatMap((name) => commands.filter((each) => each.name === name));
  const [ours, withTeam] = [named(OURS), named(WITH_A_TEAM)];
  const theirs = commands.filter((each) => !ours.includes(each) && !withTeam.includes(each));
  const width = Math.max(...[...commands.map(({ name }) => name), HELP_ROW[0]].map(({ length }) => length));
  return paragraphs([
    'Usage: agentiso <command> [options]',
    wrap('Runs teams of AI coding agents, each isolated, the way Kubernetes runs pods.', WIDTH).join('\n'),
    table('Commands:', ours.map(rowOf), width),
    ...(withTeam.length > 0 ? [table('Working with a team:', withTeam.map(rowOf), width)] : []),
    table("Commands with kubectl's words:", theirs.map(rowOf), width),
    table('Options:', [['--version', 'print the version'], HELP_ROW], width),
    'agentiso <command> --help tells more about a command.',
  ]);
}

function commandHelp({ name, args, summary, description, options = [] }: Command): string {
  const usage = ['Usage: agentiso', name, '[options]', args].filter((word) => word !== undefined && word !== '');
  return paragraphs([
    usage.join(' '),
    wrap(description ?? summary, WIDTH).join('\n'),
    table('Options:', [...options.map((option): Row => [option.flags, meaning(option)]), HELP_ROW]),
  ]);
}

function meaning(option: Option): string {
  const { description, isRequired, choices, default: initial } = option;
  const remarks = [
    ...(isRequired ? ['required'] : []),
    ...(choices ? [choices.join(', ')] : []),
    ...(initial !== undefined && parseFlag(option).takesValue ? [`default: ${initial}`] : []),
  ];
  return remarks.length === 0 ? description : `${description} (${remarks.join('; ')})`;
}

function paragraphs(texts: readonly string[]): string {
  return `${texts.join('\n\n')}\n`;
}

function table(title: string, rows: readonly Row[], width = Math.max(...rows.map(([left]) => left.length))): string {
  const indent = ' '.repeat(width + 4);
  const lines = rows.flatMap(([left, right]) => {
    const [first = '', ...more] = wrap(right, WIDTH - indent.length);
    return [`  ${left.padEnd(width)}  ${first}`, ...more.map((line) => `${indent}${line}`)];
  });
  return [title, ...lines].join('\n');
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
