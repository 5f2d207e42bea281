/** The commands that reach into agents, loaded together and only for themselves. The name keeps them out of the quick program. */
import { attachCommand } from './commands/attach.ts';
import { cpCommand } from './commands/cp.ts';
import { execCommand } from './commands/exec.ts';
import { logsCommand } from './commands/logs.ts';
import { portForwardCommand } from './commands/port-forward.ts';
import { topCommand } from './commands/top.ts';

export const streamCommands = {
  logs: logsCommand,
  exec: execCommand,
  attach: attachCommand,
  cp: cpCommand,
  'port-forward': portForwardCommand,
  top: topCommand,
} as const;

export type StreamCommandName = keyof typeof streamCommands;
