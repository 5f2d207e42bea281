/** The commands of the quick program (quick.ts says why). Nothing that they do not need may come along: it costs time to load. */
import { annotateCommand } from './commands/annotate.ts';
import { apiResourcesCommand } from './commands/api-resources.ts';
import { authCommand } from './commands/auth.ts';
import { deleteCommand } from './commands/delete.ts';
import { describeCommand } from './commands/describe.ts';
import { eventsCommand } from './commands/events.ts';
import { explainCommand } from './commands/explain.ts';
import { labelCommand } from './commands/label.ts';
import { mcpCommand } from './commands/mcp.ts';
import { versionCommand } from './commands/version.ts';
import { waitCommand } from './commands/wait.ts';

export const quickCommands = {
  describe: describeCommand,
  explain: explainCommand,
  events: eventsCommand,
  'api-resources': apiResourcesCommand,
  auth: authCommand,
  label: labelCommand,
  annotate: annotateCommand,
  delete: deleteCommand,
  wait: waitCommand,
  version: versionCommand,
  mcp: mcpCommand,
} as const;

export type QuickCommandName = keyof typeof quickCommands;
