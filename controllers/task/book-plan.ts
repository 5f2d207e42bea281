/** Plans: submitted by the owner of a Task, decided by the lead or by people. Who is told of it is read off the status (announce.ts). */
import type { Task } from '#api/types.ts';
import { AgentisoError, ConflictError } from '#lib/errors.ts';
import type { TaskBook, TaskReference } from '#relay/task-book.ts';
import { setCondition } from '#runtime/conditions.ts';
import type { WithStatus } from '#runtime/controller.ts';
import {
  agentOf,
  type BookDeps,
  changeTask,
  isInCharge,
  isOwnedBy,
  type Principal,
  refuseLong,
  refuseStranger,
  shortOf,
  speakerName,
} from './book-desk.ts';
import { isFinished, needsPlan } from './card.ts';
import { hasOpenPlan, nextRound, PLAN_ROUNDS } from './plan.ts';
import { fail, type Moment } from './transitions.ts';

type PlanDecision = Parameters<TaskBook['decidePlan']>[2];
type Decided = Awaited<ReturnType<TaskBook['decidePlan']>>;

const PLAN_BYTES = 64 * 1024;
const FEEDBACK_BYTES = 16 * 1024;

export async function submitPlan(deps: BookDeps, principal: Principal, reference: TaskReference, plan: string): Promise<{ round: number }> {
  agentOf(principal, 'plan');
  if (plan.trim() === '') throw new AgentisoError('Invalid', 'plan: Required value: say what you will do');
  refuseLong('plan', plan, PLAN_BYTES);
  return changeTask(deps, principal, reference, (task, moment) => {
    refuseStranger(task, principal);
    // The answer to the first time was lost.
    if (hasOpenPlan(task) && task.status.plan?.text === plan) return { round: task.status.plan.round ?? 1 };
    if (!task.spec.planRequired) throw new ConflictError(`task ${shortOf(task)} needs no plan`, { hint: 'begin' });
    if (!needsPlan(task)) throw new ConflictError(`the plan of task ${shortOf(task)} is approved already`, { hint: 'begin' });
    if (hasOpenPlan(task))
      throw new ConflictError(`the plan of task ${shortOf(task)} waits for an answer`, { hint: 'wait for the plan_approval' });
    const round = nextRound(task);
    task.status.plan = { round, text: plan, submittedAt: moment.now().toISOString() };
    const message = `round ${round} of ${PLAN_ROUNDS} waits for the lead`;
    setCondition(task, { type: 'PlanApproved', status: 'Unknown', reason: 'PlanSubmitted', message }, moment.now());
    return { round };
  });
}

export async function decidePlan(deps: BookDeps, principal: Principal, reference: TaskReference, decision: PlanDecision): Promise<Decided> {
  refuseLong('feedback', decision.feedback, FEEDBACK_BYTES);
  if (!isInCharge(principal)) {
    throw new AgentisoError('Forbidden', 'a plan is decided by the lead of the team or by people', {
      hint: 'agentiso approve, agentiso refuse',
    });
  }
  return changeTask(deps, principal, reference, (task, moment) => {
    if (isOwnedBy(task, principal)) throw new AgentisoError('Forbidden', 'nobody approves a plan of its own', { hint: 'agentiso approve' });
    if (isFinished(task)) throw new ConflictError(`task ${shortOf(task)} is over: ${task.status.reason ?? task.status.phase}`);
    if (!hasOpenPlan(task)) throw new ConflictError(`no plan of task ${shortOf(task)} waits for an answer`, { hint: hintFor(task) });
    return decision.approved ? approve(task, principal, decision, moment) : refuse(task, principal, decision, moment);
  });
}

function hintFor(task: Task): string {
  if (!task.spec.planRequired) return 'it has no planRequired';
  return task.status?.reason === 'PlanTimeout' ? `agentiso retry ${task.metadata.name} lets it go on` : 'wait for the plan_submission';
}

function approve(task: WithStatus<Task>, principal: Principal, { feedback }: PlanDecision, moment: Moment): Decided {
  task.status.plan = { ...task.status.plan, ...(feedback !== undefined && { feedback }) };
  const message = `approved by ${speakerName(principal)}`;
  setCondition(task, { type: 'PlanApproved', status: 'True', reason: 'Approved', message }, moment.now());
  return 'approved';
}

function refuse(task: WithStatus<Task>, principal: Principal, { feedback = '' }: PlanDecision, moment: Moment): Decided {
  const { round = 1 } = task.status.plan ?? {};
  task.status.plan = { ...task.status.plan, feedback };
  const message = `round ${round} of ${PLAN_ROUNDS} was refused by ${speakerName(principal)}${feedback === '' ? '' : `: ${feedback}`}`;
  setCondition(task, { type: 'PlanApproved', status: 'False', reason: 'PlanRefused', message }, moment.now());
  if (round >= PLAN_ROUNDS) {
    fail(task, { reason: 'PlanRejected', message }, moment);
    return 'failed';
  }
  // Nobody has it any more: somebody may claim it and plan anew.
  if (task.status.reason === 'PlanTimeout') Object.assign(task.status, { phase: 'Pending', reason: 'PlanRefused' });
  return 'refused';
}
