/** The commands of people who work with a team: messages, words about tasks and agents, their output and notes. Loaded together and only for themselves. */
import { resumeCommand, startCommand, stopCommand, suspendCommand } from './commands/agent-words.ts';
import { approveCommand } from './commands/approve.ts';
import { forkCommand } from './commands/fork.ts';
import { inboxCommand } from './commands/inbox.ts';
import { messageCommand } from './commands/message.ts';
import { messagesCommand } from './commands/messages.ts';
import { outputCommand } from './commands/output.ts';
import { rescueCommand } from './commands/rescue.ts';
import { snapshotCommand } from './commands/snapshot.ts';
import { assignCommand, cancelCommand, refuseCommand, retryCommand } from './commands/task-words.ts';
import { transcriptCommand } from './commands/transcript.ts';
import { vaultCommand } from './commands/vault.ts';

export const teamCommands = {
  message: messageCommand,
  inbox: inboxCommand,
  messages: messagesCommand,
  approve: approveCommand,
  refuse: refuseCommand,
  assign: assignCommand,
  retry: retryCommand,
  cancel: cancelCommand,
  stop: stopCommand,
  start: startCommand,
  suspend: suspendCommand,
  resume: resumeCommand,
  snapshot: snapshotCommand,
  fork: forkCommand,
  output: outputCommand,
  transcript: transcriptCommand,
  vault: vaultCommand,
  rescue: rescueCommand,
} as const;

export type TeamCommandName = keyof typeof teamCommands;
