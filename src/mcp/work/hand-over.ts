/** A task that is there already, given to another agent or role: whoever works on it is stopped first. */
import type { Task } from '#api/types.ts';
import { endedProblem } from '#client/task-state.ts';
import { isCode, messageOf, NotFoundError } from '#lib/errors.ts';
import type { ToolCall } from '../tool.ts';
import { findTask, type TaskReference } from './find-task.ts';
import { carryOut } from './task-change.ts';

/** How admission ends its complaint about somebody who is not in the team. */
const NOBODY = '(AssigneeNotFound)';

/** The task as it is afterwards. */
export async function handOver(call: ToolCall, reference: TaskReference, assignTo: string): Promise<Task> {
  try {
    await carryOut(call, reference, { verb: 'assign', problem: endedProblem, change: () => ({ assignTo }) });
  } catch (error) {
    if (!isCode(error, 'Invalid') || !messageOf(error).includes(NOBODY)) throw error;
    const { team } = await findTask(call, reference).then(({ spec }) => spec);
    throw new NotFoundError(`team ${team} has no agent or role ${assignTo}`, {
      hint: 'team_status shows the agents and roles of the team',
    });
  }
  return findTask(call, reference);
}
