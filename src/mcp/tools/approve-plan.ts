/** `approve_plan`: whoever runs a team decides about the plan of a task. */
import { decidePlan } from '#client/messages.ts';
import { described, flag, object, oneOf, type Parsed, text } from '#protocol/shape.ts';
import { label } from '../objects/fields.ts';
import { defineTool } from '../tool.ts';
import { namespace, teamOfTask } from '../work/fields.ts';
import { findTask } from '../work/find-task.ts';
import { withHint, wrongField } from '../work/with-hint.ts';

const input = object(
  {
    task: described(label, 'The task: its full name, or its short name together with team.'),
    approved: described(flag, 'true: the work may start. false: the agent makes another plan.'),
  },
  { namespace, team: teamOfTask, feedback: described(text, 'What should be different; needed for a refusal.') },
);
const status = oneOf('approved', 'refused', 'failed');
const output = object({ task_id: text, status });

export const approvePlan = defineTool({
  name: 'approve_plan',
  title: 'Decide about a plan',
  description:
    'Approves or refuses the plan that an agent has submitted for a task with plan_required. Plans come as messages of type plan_submission in team_receive, and stand in get_task_result. Approved: the work starts. Refused: the agent gets the feedback and submits another; the third refusal ends the task as failed (status failed). An approval within 10 minutes, or later when the task is blocked with PlanTimeout, lets it go on.',
  category: 'default',
  isReadOnly: false,
  input,
  output,
  resource: ({ task }) => `task/${task}`,
  async run({ task, approved, feedback, ...place }, call) {
    if (!approved && (feedback ?? '').trim() === '') throw wrongField('feedback', 'say what should be different');
    const found = await findTask(call, { task, ...place });
    const { name, namespace: where } = found.metadata;
    const decision = { namespace: where, team: found.spec.team, task: name, approved, feedback };
    const decided = await withHint(decidePlan(call, decision), {
      Conflict: 'get_task_result shows whether a plan waits for an answer',
      NotFound: 'get_task_result shows the task',
    });
    return { task_id: name, status: decided.status as Parsed<typeof status> };
  },
});
