/** Everything that can be read at an address. No address is of two of them. */
import type { Resource } from './resource.ts';
import { agentResource } from './resources/agent.ts';
import { agentLogsResource } from './resources/agent-logs.ts';
import { mergeResource } from './resources/merge.ts';
import { taskResource } from './resources/task.ts';
import { teamResource } from './resources/team.ts';
import { boardResource } from './resources/team-board.ts';
import { messagesResource } from './resources/team-messages.ts';
import { statusResource } from './resources/team-status.ts';
import { teamsResource } from './resources/teams.ts';
import { vaultNoteResource } from './resources/vault-note.ts';

export const allResources: readonly Resource[] = [
  teamsResource,
  teamResource,
  statusResource,
  boardResource,
  messagesResource,
  taskResource,
  agentResource,
  agentLogsResource,
  mergeResource,
  vaultNoteResource,
];

/** What tells that it is another list now. */
export { resourceListChanges } from './resources/list-changes.ts';
