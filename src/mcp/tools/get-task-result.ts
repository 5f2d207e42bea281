/** `get_task_result`: how far a task is, and what it gave. */
import { object } from '#protocol/shape.ts';
import { defineTool } from '../tool.ts';
import { namespace, taskId, teamOfTask } from '../work/fields.ts';
import { findTask } from '../work/find-task.ts';
import { nextStep } from '../work/next-step.ts';
import { taskAnswer, toTaskAnswer } from '../work/task-answer.ts';

const input = object({ task_id: taskId }, { namespace, team: teamOfTask });

export const getTaskResult = defineTool({
  name: 'get_task_result',
  title: 'Result of a task',
  description:
    'Shows how far a task is (pending, claimed, in_progress, blocked, completed, failed), why it waits or failed, and what its last finished attempt gave: output (standard output), error (standard error), exit_code. Of long outputs it has the beginning and the end (truncated). Answers at once; to wait, use assign_task with wait, or team_receive with wait_seconds.',
  category: 'default',
  isReadOnly: true,
  quotesOthers: true,
  input,
  output: taskAnswer,
  resource: ({ task_id }) => `task/${task_id}`,
  async run({ task_id: task, ...place }, call) {
    const found = await findTask(call, { task, ...place });
    return { ...toTaskAnswer(found), ...nextStep(found) };
  },
});
