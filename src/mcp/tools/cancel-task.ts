/** `cancel_task`: gives a task up. */
import { endedProblem } from '#client/task-state.ts';
import { flag, object, text } from '#protocol/shape.ts';
import { defineTool } from '../tool.ts';
import { namespace, taskId, teamOfTask } from '../work/fields.ts';
import { carryOut } from '../work/task-change.ts';
import { taskWord } from '../work/task-word.ts';

const input = object({ task_id: taskId }, { namespace, team: teamOfTask });
const output = object({ task_id: text, was: taskWord, cancelled: flag });

export const cancelTask = defineTool({
  name: 'cancel_task',
  title: 'Give a task up',
  description:
    'Gives a task up: a running attempt is killed with all it started, and the task ends as failed with reason Cancelled; tasks that depend on it do not start. Answers when that is written down; get_task_result shows the end. retry_task takes it back.',
  category: 'default',
  isReadOnly: false,
  isDestructive: true,
  isIdempotent: true,
  input,
  output,
  resource: ({ task_id }) => `task/${task_id}`,
  async run({ task_id: task, ...place }, call) {
    const done = await carryOut(call, { task, ...place }, { verb: 'cancel', problem: endedProblem, change: () => ({ cancelled: true }) });
    return { ...done, cancelled: true };
  },
});
