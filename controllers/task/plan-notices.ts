/** What is said about the plan of a Task: to its owner what is asked and what was decided, to the lead what there is to decide. Pure. */
import { shortName, type Task } from '#api/types.ts';
import type { Notice } from '#relay/notices.ts';
import { getCondition } from '#runtime/conditions.ts';
import { isFinished, isHeld, needsPlan } from './card.ts';
import { hasOpenPlan, PLAN_ROUNDS } from './plan.ts';
import { isFresh, said } from './tell.ts';

export function ofPlan(task: Task, now: Date): Notice[] {
  if (!task.spec.planRequired) return [];
  if (isFinished(task)) return task.status?.reason === 'PlanRejected' && isFresh(task.status.finishedAt, now) ? [rejected(task)] : [];
  if (hasOpenPlan(task)) return [submitted(task)];
  if (!isHeld(task)) return [];
  const condition = getCondition(task, 'PlanApproved');
  if (!needsPlan(task)) return isFresh(condition?.lastTransitionTime, now) ? [approved(task)] : [];
  return [condition?.reason === 'PlanRefused' ? refused(task) : needed(task)];
}

function nameOf({ metadata, spec }: Task): string {
  return shortName(spec.team, metadata.name);
}

function ownerOf({ spec, status }: Task): string {
  return shortName(spec.team, status?.owner ?? '');
}

/** A Task that is tried anew begins with the first round. */
function roundOf({ status }: Task): string {
  return `${status?.retries ?? 0}/${status?.plan?.round ?? 0}`;
}

function decided(task: Task, key: string, content: string, isApproved: boolean): Notice {
  const metadata = { round: String(task.status?.plan?.round ?? 0), approved: String(isApproved) };
  return said(task, { to: ownerOf(task), type: 'plan_approval', content, key, metadata });
}

function submitted(task: Task): Notice {
  const { plan, attempt = 0 } = task.status ?? {};
  const content = `Plan of ${ownerOf(task) || 'an agent'} for task ${nameOf(task)}, round ${plan?.round} of ${PLAN_ROUNDS}:\n\n${plan?.text ?? ''}`;
  // Nobody approves a plan of its own.
  const to = ownerOf(task) === 'lead' ? 'orchestrator' : 'lead';
  const metadata = { round: String(plan?.round ?? 0), from: ownerOf(task) };
  return said(task, { to, type: 'plan_submission', content, key: `plan/${roundOf(task)}/${attempt}`, metadata });
}

function approved(task: Task): Notice {
  const { plan, retries = 0, attempt = 0 } = task.status ?? {};
  const feedback = plan?.feedback ? ` ${plan.feedback}` : '';
  return decided(task, `plan-approved/${retries}/${attempt}`, `The plan of task ${nameOf(task)} is approved.${feedback}`, true);
}

function refused(task: Task): Notice {
  const content = `The plan of task ${nameOf(task)} was refused: ${task.status?.plan?.feedback || 'no reason given'}. Submit another one.`;
  return decided(task, `plan-refused/${roundOf(task)}`, content, false);
}

function rejected(task: Task): Notice {
  const feedback = task.status?.plan?.feedback || 'no reason given';
  return decided(
    task,
    `plan-refused/${roundOf(task)}`,
    `The plan of task ${nameOf(task)} was refused for the last time: ${feedback}`,
    false,
  );
}

function needed(task: Task): Notice {
  const { title, description, prompt, command } = task.spec;
  const what = [title, description, prompt ?? command].filter((text) => typeof text === 'string').join('\n\n');
  const content = `Task ${nameOf(task)} is yours, and needs a plan first: submit what you will do, and wait for the approval.\n\n${what}`;
  return said(task, { to: ownerOf(task), type: 'task_update', content, key: `plan-needed/${task.status?.attempt ?? 0}` });
}
