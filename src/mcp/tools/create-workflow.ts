/** `create_workflow`: several tasks of one team that use each other's outputs, written at once. */
import type { Team } from '#api/types.ts';
import { described, integer, list, object, text } from '#protocol/shape.ts';
import { label, plainText } from '../objects/fields.ts';
import { defineTool } from '../tool.ts';
import { MAX_PROMPT_BYTES, namespace, namespaceOf, team } from '../work/fields.ts';
import { strict } from '../work/strict.ts';
import { stepWord, stepWordOf } from '../work/task-word.ts';
import { withHint } from '../work/with-hint.ts';
import { planWorkflow, workflowId } from '../work/workflow-plan.ts';
import { writeWorkflow } from '../work/workflow-write.ts';

const MAX_STEPS = 100;
const MARGIN_MS = 120_000;

const step = strict(
  object(
    {
      name: described(label, 'Name of the step, unique in the workflow: lower case letters, digits and -.'),
      agent: described(label, 'Agent or role of the team that does it.'),
    },
    {
      command: described(
        text,
        'Shell command; exit code 0 is success. What the steps of depends_on printed is in "$AGENTISO_INPUT". Either this or prompt.',
      ),
      prompt: described(
        plainText(MAX_PROMPT_BYTES),
        'What to do, in words; what the steps of depends_on printed is put before it. Either this or command.',
      ),
      model: described(text, 'Not taken: a step runs with the model of its agent.'),
      depends_on: described(list(text, { max: MAX_STEPS }), 'Steps that must have succeeded before.'),
      timeout_seconds: described(
        integer({ min: 1, max: 1_800 }),
        'Longest time of one attempt. Default 300 for a command, 1800 for a prompt.',
      ),
      max_attempts: described(integer({ min: 1, max: 100 }), 'How often it is tried before it has failed. Default 3.'),
    },
  ),
);
const input = object(
  {
    name: described(label, 'Name of the workflow, unique in the team: lower case letters, digits and -.'),
    team,
    steps: described(list(step, { min: 1, max: MAX_STEPS }), 'The steps, in any order.'),
  },
  { namespace },
);
const output = object({
  workflow_id: text,
  steps: list(object({ step: text, task_id: text, status: stepWord })),
});

export const createWorkflow = defineTool({
  name: 'create_workflow',
  title: 'Tasks that use each other',
  description:
    'Writes one task per step, all or none. A step starts when all its depends_on have succeeded, and gets what they printed, each between --- Output from "name" --- and --- End ---. If a step fails, those that depend on it are skipped and the others go on. Answers at once; workflow_status shows how far it is and can wait, get_task_result gives the output of a step. The same call again changes nothing. To give a workflow up, cancel_task its steps, or delete its tasks (list with kind Task and label_selector agentiso.dev/workflow=WORKFLOW_ID shows them).',
  category: 'default',
  isReadOnly: false,
  isIdempotent: true,
  input,
  output,
  deadlineMs: MARGIN_MS,
  resource: ({ team: name }) => `team/${name}`,
  async run(asked, call) {
    const workflow = { ...asked, namespace: namespaceOf(asked) };
    const steps = planWorkflow(workflow);
    const key = { kind: 'Team', namespace: workflow.namespace, name: workflow.team };
    await withHint(call.client.get<Team>(key), { NotFound: 'team_list shows the teams' });
    const tasks = await withHint(writeWorkflow(call, steps), { Invalid: 'team_status shows the agents and roles of the team' });
    return {
      workflow_id: workflowId(workflow),
      steps: tasks.map((task, index) => ({ step: steps[index]?.step ?? '', task_id: task.metadata.name, status: stepWordOf(task) })),
    };
  },
});
