/** Commands to commander and back: usage errors become exit code 2, everything else is the command's own business. */
import { CommanderError, Option as CommanderOption, Command as Program } from 'commander';
import { AgentisoError, messageOf } from '#lib/errors.ts';
import { type Command, type CommandContext, EXIT, type Option, type OptionValues } from './command.ts';

/** Only the command that runs is loaded. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  up: async () => (await import('./commands/up.ts')).upCommand,
  serve: async () => (await import('./commands/serve.ts')).serveCommand,
  validate: async () => (await import('./commands/validate.ts')).validateCommand,
  version: async () => (await import('./commands/version.ts')).versionCommand,
};

export async function runCli(argv: readonly string[], context: CommandContext): Promise<number> {
  const asked = argv.find((argument) => !argument.startsWith('-'));
  const isKnown = asked !== undefined && Object.hasOwn(COMMANDS, asked);
  const names = isKnown ? [asked] : Object.keys(COMMANDS);
  const commands = await Promise.all(names.map((name) => (COMMANDS[name] as () => Promise<Command>)()));
  let exitCode: number = EXIT.ok;
  const program = new Program('agentiso')
    .description('Runs teams of AI coding agents, each isolated, the way Kubernetes runs pods.')
    .version(context.version, '--version', 'print the version')
    .showHelpAfterError('(agentiso --help shows what there is)')
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({ writeOut: context.out, writeErr: context.err });
  for (const command of commands) {
    addCommand(program, command, async (args, options) => {
      exitCode = await run(command, args, options, context);
    });
  }
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    throw error;
  }
}

async function run(command: Command, args: readonly string[], options: OptionValues, context: CommandContext): Promise<number> {
  try {
    return await command.run(args, options, context);
  } catch (error) {
    // One clear line; the stack is for bugs, and only those.
    const hint = error instanceof AgentisoError && error.hint ? `\n  ${error.hint}` : '';
    context.err(`agentiso: ${messageOf(error)}${hint}\n`);
    if (!(error instanceof AgentisoError) && error instanceof Error) context.err(`${error.stack ?? ''}\n`);
    return EXIT.failure;
  }
}

type Action = (args: readonly string[], options: OptionValues) => Promise<void>;

function addCommand(program: Program, { name, args, summary, description, options = [] }: Command, action: Action): void {
  const added = program
    .command(args ? `${name} ${args}` : name)
    .summary(summary)
    .description(description ?? summary)
    .exitOverride();
  for (const option of options) added.addOption(toCommander(option));
  added.action(async () => action(added.args, added.opts()));
}

function toCommander({ flags, description, isRequired, isRepeatable, choices, default: initial }: Option): CommanderOption {
  const option = new CommanderOption(flags, description);
  if (isRequired) option.makeOptionMandatory();
  if (choices) option.choices(choices);
  if (initial !== undefined) option.default(initial);
  if (isRepeatable) option.argParser((value: string, before: readonly string[] = []) => [...before, value]);
  return option;
}
