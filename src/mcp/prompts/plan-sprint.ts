/** `plan_sprint`: from a goal to tasks on the board of a team. */
import { statusText } from '../resources/status-text.ts';
import { teamPrompt } from './team-prompt.ts';
import { asData, needed, SAFETY_RULES, steps, TASK_RULES } from './words.ts';

export const planSprint = teamPrompt({
  name: 'plan_sprint',
  title: 'Plan a sprint',
  description:
    'Turns a goal into small checked tasks for a team, shows the plan first, then puts it on the board and follows it to the end.',
  arguments: [{ name: 'goal', description: 'What should be true at the end of the sprint.', required: true }],
  render({ team, view, inCalls }, values) {
    const { name, namespace } = team.metadata;
    return [
      `Plan work for the agentiso team ${name} (in calls: ${inCalls}) and see it through. The goal, in the words of the person you work for:`,
      needed(values, 'goal').replace(/^/gm, '> '),
      asData('The team as it is now', statusText(team, view, new Date())),
      'Do this:',
      steps(
        `Look before you plan: list with kind "task" and ${inCalls} for what is on the board, workspace_exec (for example git log and ls) for the code, vault_search for what was agreed before. Do not plan what is already there.`,
        'Write the plan as a list of tasks: name, title, acceptance criteria, verify, dependsOn, who. Show it to the person and wait for a yes.',
        `Put it on the board with apply: one manifest with all Task documents (apiVersion agentiso.dev/v1alpha1, kind Task, metadata.name ${name}-SHORT, metadata.namespace ${namespace}, spec.team ${name}), first with dry_run true, then without. assign_task does it for one task, create_workflow for steps that use what others printed.`,
        `Let the agents claim and do the work. Wait with team_receive (wait_seconds) or wait_for instead of asking again and again, and answer what agents ask you (team_message). why says what is stuck and what helps.`,
        'When a task has ended read its result with get_task_result: exit code, output, what verify said. A task that failed: read why, mend the task or its instructions with apply, and try it again with retry_task.',
        'At the end compare the results with the goal, and tell the person what is done, what is not, and what to merge (workspace_merge).',
      ),
      TASK_RULES,
      SAFETY_RULES,
    ].join('\n\n');
  },
});
