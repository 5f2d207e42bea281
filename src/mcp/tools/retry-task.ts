/** `retry_task`: a task that has failed is tried once more. */
import { retryProblem } from '#client/task-state.ts';
import { flag, object, text } from '#protocol/shape.ts';
import { defineTool } from '../tool.ts';
import { namespace, taskId, teamOfTask } from '../work/fields.ts';
import { carryOut } from '../work/task-change.ts';
import { taskWord } from '../work/task-word.ts';

const input = object({ task_id: taskId }, { namespace, team: teamOfTask });
const output = object({ task_id: text, was: taskWord, retried: flag });

export const retryTask = defineTool({
  name: 'retry_task',
  title: 'Try a failed task again',
  description:
    'Starts a task that has failed, or was given up with cancel_task, anew with all its attempts. What was skipped because of it goes on when it succeeds. Answers when that is written down; get_task_result or team_receive with wait_seconds show what comes of it.',
  category: 'default',
  isReadOnly: false,
  input,
  output,
  resource: ({ task_id }) => `task/${task_id}`,
  async run({ task_id: task, ...place }, call) {
    const done = await carryOut(
      call,
      { task, ...place },
      {
        verb: 'retry',
        problem: retryProblem,
        change: ({ retry, isCancelled }) => ({ retry: retry + 1, ...(isCancelled ? { cancelled: false } : {}) }),
      },
    );
    return { ...done, retried: true };
  },
});
