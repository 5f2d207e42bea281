/** A command as tools take it. */

import { MAX_EXEC_TIMEOUT_MS } from '#protocol/control.ts';
import { described, integer, list, map, type Parser, parser } from '#protocol/shape.ts';
import type { WorkspaceCommand } from '../workspace-io.ts';
import { boundedText, invalid, pathText } from './fields.ts';

/** What the kernel takes as one argument, less its end. */
const MAX_ARGUMENT_BYTES = 131_071;
const instead = 'write it to a file with workspace_file_write and run that';
const argument = boundedText({ maxBytes: MAX_ARGUMENT_BYTES, instead });

export const commandFields = {
  command: described(
    boundedText({ min: 1, maxBytes: MAX_ARGUMENT_BYTES, instead }),
    'A shell command, run by /bin/sh -c. Either this or argv.',
  ),
  argv: described(list(argument, { min: 1, max: 1000 }), 'A program and its arguments, run without a shell. Either this or command.'),
  cwd: described(pathText, 'Folder to run it in, below the root of the workspace, which is the default.'),
  env: described(
    map(argument),
    'Environment variables for this command, beside those of workspace_set_env. PATH, IFS, ENV, BASH_ENV and LD_* may not be set.',
  ),
};

export const MAX_TIMEOUT_SECONDS = MAX_EXEC_TIMEOUT_MS / 1000;
export const timeoutSeconds = integer({ min: 1, max: MAX_TIMEOUT_SECONDS });

interface Commanded {
  readonly command?: string;
  readonly argv?: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Either `command` or `argv`. */
export function withCommand<T extends Commanded>(fields: Parser<T>): Parser<T> {
  const parse = (value: unknown, what: string) => {
    const input = fields(value, what);
    if ((input.command === undefined) === (input.argv === undefined)) throw invalid('command', 'give either command or argv');
    return input;
  };
  return parser(parse, fields.schema);
}

/** Only what says what to run. */
export function toCommand({ command, argv, cwd, env }: Commanded): WorkspaceCommand {
  return {
    ...(command !== undefined && { command }),
    ...(argv !== undefined && { argv }),
    ...(cwd !== undefined && { cwd }),
    ...(env !== undefined && { env }),
  };
}
