/** `agentiso init`: a folder with a team that runs at once, to be changed into one's own. */
import { basename, join, resolve } from 'node:path';
import { isName } from '#api/names.ts';
import { shellWord } from '#client/shell-word.ts';
import { type Command, EXIT } from '../command.ts';
import { scaffold } from '../init/scaffold.ts';
import { writeFiles } from '../init/write-files.ts';
import { UsageError } from '../usage-error.ts';

/** Its agents and tasks are called `<team>-<name>`, and names have 63 characters at most. */
const MAX_TEAM_NAME = 40;

export const initCommand: Command = {
  name: 'init',
  args: '[dir]',
  summary: 'make a folder with a first team in it',
  description: 'Writes team.yaml and .gitignore into DIR (default: this folder). Files that exist are left as they are.',
  options: [{ flags: '--name <team>', description: 'what the team is called (default: as the folder)' }],
  async run([dir = '.'], options, { out, err, environment }) {
    const folder = resolve(environment?.cwd ?? '.', dir);
    const team = teamName(options['name'] as string | undefined, folder);
    const written = writeFiles(folder, scaffold(team));
    for (const { path, outcome, missingLine } of written) {
      const shown = join(dir, basename(path));
      out(`${shown} ${outcome}\n`);
      if (missingLine !== undefined) err(`add a line ${missingLine} to ${shown}: what agents work on is kept there\n`);
    }
    err(`next: agentiso up -f ${shellWord(dir)}\n`);
    return EXIT.ok;
  },
};

function teamName(given: string | undefined, folder: string): string {
  if (given === undefined) return nameFrom(basename(folder));
  if (isName(given) && given.length <= MAX_TEAM_NAME) return given;
  throw new UsageError(
    `--name ${JSON.stringify(given)} is no name for a team; expected at most ${MAX_TEAM_NAME} lower-case letters, digits and -, for example my-team`,
  );
}

/** The nearest name to what the folder is called. */
export function nameFrom(text: string): string {
  const plain = text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_TEAM_NAME)
    .replace(/^-+|-+$/g, '');
  return plain === '' ? 'team' : plain;
}
