/** `agentiso://teams/{team}/tasks/{task}` */
import { memberResource } from './member.ts';

export const taskResource = memberResource(
  'Task',
  'One Task with its status: who has it, which attempt, what it printed, what verify said, notes of agents, and conditions that say why it waits. The name is the short one, without the name of the team.',
);
