/** How far a workflow is, from its Tasks. Pure. */
import { inOrderOfNeed } from '#api/task-graph.ts';
import type { Task } from '#api/types.ts';
import { count, list, object, oneOf, type Parsed, text } from '#protocol/shape.ts';
import { given } from './given.ts';
import { stepWord, stepWordOf, whyOf } from './task-word.ts';
import { STEP_LABEL } from './workflow-plan.ts';

export const workflowState = object({
  /** running: a step can still go on; completed: all have; failed: one has failed, and nothing can go on. */
  status: oneOf('running', 'completed', 'failed'),
  completed: count,
  total: count,
  steps: list(
    object({ step: text, task_id: text, status: stepWord }, { owner: text, reason: text, message: text, depends_on: list(text) }),
  ),
});
export type WorkflowState = Parsed<typeof workflowState>;

export function toWorkflowState(tasks: readonly Task[]): WorkflowState {
  const byName = [...tasks].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const needsOf = ({ spec }: Task) => byName.filter(({ metadata }) => spec.dependsOn?.includes(metadata.name));
  const steps = inOrderOfNeed(byName, needsOf).map((task) => toStep(task, tasks));
  const completed = steps.filter(({ status }) => status === 'completed').length;
  const canMove = steps.some(({ status }) => status !== 'completed' && status !== 'failed' && status !== 'skipped');
  return { status: canMove ? 'running' : completed === steps.length ? 'completed' : 'failed', completed, total: steps.length, steps };
}

function toStep(task: Task, all: readonly Task[]): WorkflowState['steps'][number] {
  const { metadata, spec, status } = task;
  const word = stepWordOf(task);
  const needs = spec.dependsOn?.map((name) => stepOf(all.find((other) => other.metadata.name === name)) ?? name);
  return {
    step: stepOf(task) ?? metadata.name,
    task_id: metadata.name,
    status: word,
    ...given({
      owner: status?.owner,
      reason: status?.reason,
      message: word === 'completed' ? undefined : whyOf(task),
      depends_on: needs,
    }),
  };
}

function stepOf(task: Task | undefined): string | undefined {
  return task?.metadata.labels?.[STEP_LABEL];
}
