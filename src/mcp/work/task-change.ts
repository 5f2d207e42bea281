/** A person's word about one task: found, asked whether it makes sense, changed where it is written. */
import type { Task } from '#api/types.ts';
import { changeTask, type SpecChange } from '#client/change-task.ts';
import { type TaskState, taskState } from '#client/task-state.ts';
import { ConflictError } from '#lib/errors.ts';
import type { ToolCall } from '../tool.ts';
import { findTask, type TaskReference } from './find-task.ts';
import { wordOf } from './task-word.ts';

export interface TaskWish {
  readonly verb: string;
  /** Why it cannot be; undefined when it can. */
  problem(state: TaskState): string | undefined;
  change(state: TaskState): SpecChange;
}

/** The task as it was before. */
export async function carryOut(call: ToolCall, reference: TaskReference, { verb, problem, change }: TaskWish) {
  const task: Task = await findTask(call, reference);
  const state = taskState(task);
  const why = problem(state);
  if (why !== undefined) {
    throw new ConflictError(`cannot ${verb} task ${task.metadata.name}: ${why}`, { hint: 'get_task_result says more about it' });
  }
  await changeTask(call, task, change(state));
  return { task_id: task.metadata.name, was: wordOf(task) };
}
