/** The commands that talk to a server, loaded together: to open one more file takes longer than to read what is in it. */
import { annotateCommand } from './commands/annotate.ts';
import { apiResourcesCommand } from './commands/api-resources.ts';
import { applyCommand } from './commands/apply.ts';
import { authCommand } from './commands/auth.ts';
import { boardCommand } from './commands/board.ts';
import { completionCommand } from './commands/completion.ts';
import { configCommand } from './commands/config.ts';
import { createCommand } from './commands/create.ts';
import { deleteCommand } from './commands/delete.ts';
import { describeCommand } from './commands/describe.ts';
import { diffCommand } from './commands/diff.ts';
import { editCommand } from './commands/edit.ts';
import { eventsCommand } from './commands/events.ts';
import { explainCommand } from './commands/explain.ts';
import { getCommand } from './commands/get.ts';
import { labelCommand } from './commands/label.ts';
import { mcpCommand } from './commands/mcp.ts';
import { patchCommand } from './commands/patch.ts';
import { replaceCommand } from './commands/replace.ts';
import { scaleCommand } from './commands/scale.ts';
import { tokenCommand } from './commands/token.ts';
import { versionCommand } from './commands/version.ts';
import { waitCommand } from './commands/wait.ts';
import { whyCommand } from './commands/why.ts';
import { streamCommands } from './stream-api-commands.ts';
import { teamCommands } from './team-api-commands.ts';

export { completeCommand } from './commands/complete.ts';

export const apiCommands = {
  get: getCommand,
  describe: describeCommand,
  explain: explainCommand,
  events: eventsCommand,
  why: whyCommand,
  board: boardCommand,
  ...teamCommands,
  ...streamCommands,
  'api-resources': apiResourcesCommand,
  auth: authCommand,
  config: configCommand,
  completion: completionCommand,
  apply: applyCommand,
  diff: diffCommand,
  create: createCommand,
  replace: replaceCommand,
  edit: editCommand,
  patch: patchCommand,
  scale: scaleCommand,
  label: labelCommand,
  annotate: annotateCommand,
  delete: deleteCommand,
  wait: waitCommand,
  token: tokenCommand,
  version: versionCommand,
  mcp: mcpCommand,
} as const;

export type ApiCommandName = keyof typeof apiCommands;
