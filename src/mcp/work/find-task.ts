/** A Task by its full name, or by its short name and team. */
import type { Task } from '#api/types.ts';
import { ignoreNotFound, NotFoundError } from '#lib/errors.ts';
import type { ToolCall } from '../tool.ts';
import { namespaceOf } from './fields.ts';

export interface TaskReference {
  readonly task: string;
  readonly team?: string;
  readonly namespace?: string;
}

export async function findTask({ client }: Pick<ToolCall, 'client'>, { task, team, ...rest }: TaskReference): Promise<Task> {
  const namespace = namespaceOf(rest);
  for (const name of team === undefined ? [task] : [task, `${team}-${task}`]) {
    const found = await ignoreNotFound(client.get<Task>({ kind: 'Task', namespace, name }));
    if (found && (team === undefined || found.spec.team === team)) return found;
  }
  const where = team === undefined ? `namespace ${namespace}` : `team ${team}`;
  throw new NotFoundError(`there is no task ${task} in ${where}`, {
    hint: `list with kind Task shows what there is${team === undefined ? '; a short name needs its team' : ''}`,
  });
}
