/** From the words of the command line to the exit code. */
import { parseArguments, UsageError } from './arguments.ts';
import { Refusal } from './client.ts';
import { type Command, type Context, FAILED, MISUSED, OK } from './command.ts';
import { HELP } from './help.ts';
import { mailCommands } from './mail-commands.ts';
import { patient } from './patience.ts';
import { taskCommands } from './task-commands.ts';
import { teamCommands } from './team-commands.ts';

export const COMMANDS: Readonly<Record<string, Command>> = { ...mailCommands, ...taskCommands, ...teamCommands };
const HELP_WORDS = ['help', '--help', '-h'];

/** `more`: commands that take more of the process than others. */
export async function runTeam(argv: readonly string[], context: Context, more: Readonly<Record<string, Command>> = {}): Promise<number> {
  const [name = '', ...rest] = argv;
  if (isHelp(name, rest)) {
    context.print(HELP);
    return OK;
  }
  const commands = { ...COMMANDS, ...more };
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) {
    context.complain(`${name === '' ? 'a command is missing' : `there is no command ${JSON.stringify(name)}`}: see team help`);
    return MISUSED;
  }
  try {
    const args = parseArguments(rest, { json: 'flag', 'no-wait': 'flag', ...command.options });
    return await command.run(args, args.flag('no-wait') ? context : { ...context, ask: patient(context.ask) });
  } catch (error) {
    return explain(error, `team ${name} ${command.usage}`.trimEnd(), context);
  }
}

function isHelp(name: string, rest: readonly string[]): boolean {
  const end = rest.indexOf('--');
  return HELP_WORDS.includes(name) || (end < 0 ? rest : rest.slice(0, end)).includes('--help');
}

function explain(error: unknown, usage: string, context: Context): number {
  if (error instanceof UsageError) {
    context.complain(`${error.message}; usage: ${usage}`);
    return MISUSED;
  }
  context.complain(error instanceof Refusal ? error.message : `failed: ${error instanceof Error ? error.message : String(error)}`);
  return FAILED;
}
