/** `workflow_status`: how far the steps of a workflow are. */
import type { Task } from '#api/types.ts';
import { NotFoundError } from '#lib/errors.ts';
import { MAX_WAIT_SECONDS } from '#protocol/agent-verbs.ts';
import { described, flag, integer, object, text } from '#protocol/shape.ts';
import { label } from '../objects/fields.ts';
import { defineTool } from '../tool.ts';
import { awaitTasks } from '../work/await-tasks.ts';
import { namespace, namespaceOf } from '../work/fields.ts';
import { WORKFLOW_LABEL } from '../work/workflow-plan.ts';
import { toWorkflowState, workflowState } from '../work/workflow-state.ts';

const MARGIN_MS = 30_000;

const input = object(
  { workflow_id: described(label, 'As create_workflow gave it.') },
  {
    namespace,
    wait_seconds: described(integer({ min: 0, max: MAX_WAIT_SECONDS }), 'Wait so long for the end of all steps. Default 0.'),
  },
);
const output = object({ workflow_id: text, state: workflowState }, { timed_out: flag });

export const workflowStatus = defineTool({
  name: 'workflow_status',
  title: 'How far a workflow is',
  description:
    'Shows each step of a workflow: pending, claimed, in_progress, blocked (waits for other steps), completed, failed, or skipped (a step that it depends on has failed). state.status is running while a step can go on, then completed or failed. With wait_seconds it answers when nothing can go on any more, or after that time with timed_out. get_task_result gives the output of a step; retry_task on a failed step lets the skipped ones go on.',
  category: 'default',
  isReadOnly: true,
  quotesOthers: true,
  input,
  output,
  deadlineMs: ({ wait_seconds = 0 }) => wait_seconds * 1_000 + MARGIN_MS,
  resource: ({ workflow_id }) => `workflow/${workflow_id}`,
  async run({ workflow_id, wait_seconds = 0, ...place }, call) {
    const selected = { namespace: namespaceOf(place), labelSelector: `${WORKFLOW_LABEL}=${workflow_id}` };
    const { items, resourceVersion } = await call.client.list<Task>('Task', selected);
    if (items.length === 0) {
      throw new NotFoundError(`there is no workflow ${workflow_id} in namespace ${selected.namespace}`, {
        hint: `create_workflow makes one; list with kind Task and label_selector ${WORKFLOW_LABEL} shows the tasks of all`,
      });
    }
    const isOver = (tasks: readonly Task[]) => toWorkflowState(tasks).status !== 'running';
    if (wait_seconds === 0 || isOver(items)) return { workflow_id, state: toWorkflowState(items) };
    const tasks = await awaitTasks(call, {
      ...selected,
      tasks: items,
      resourceVersion,
      timeoutMs: wait_seconds * 1_000,
      isSettled: isOver,
      say: (now) => words(workflow_id, now),
    });
    return { workflow_id, state: toWorkflowState(tasks), ...(!isOver(tasks) && { timed_out: true }) };
  },
});

function words(workflow: string, tasks: readonly Task[]): string {
  const { completed, total, steps } = toWorkflowState(tasks);
  const running = steps.filter(({ status }) => status === 'in_progress').map(({ step }) => step);
  return `workflow ${workflow}: ${completed} of ${total} completed${running.length === 0 ? '' : `, at ${running.join(', ')}`}`;
}
