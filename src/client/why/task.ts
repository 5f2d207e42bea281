/** Why a Task is where it is. Pure. */
import { timeoutSecondsOf } from '#api/task-timeout.ts';
import type { Task } from '#api/types.ts';
import { lookAtShort } from './budget.ts';
import { commandOf } from './commands.ts';
import { lookAtCrowded } from './crowded.ts';
import { type Finding, fine, leadingTo, type Sight, stuck, waiting } from './finding.ts';
import { lookAtBlocked } from './task-blocked.ts';
import { asksForCredential, lookAtFailed, NEEDS_CREDENTIAL } from './task-failed.ts';
import { lookAtPending } from './task-pending.ts';
import { lookAtUnseen } from './unseen.ts';
import { findAgent, type View } from './view.ts';
import { conditionOf, idOf, since, timeLeft, wordsOf } from './words.ts';

export function lookAtTask(task: Task, sight: Sight): Finding {
  switch (task.status?.phase) {
    case 'Succeeded':
      return fine(`is Succeeded`, howItWent(task));
    case 'Failed':
      return lookAtFailed(task, sight);
    case 'Claimed':
    case 'Running':
      return lookAtHeld(task, sight);
    case 'Blocked':
      return lookAtUnseen(task, sight) ?? lookAtBlocked(task, sight);
    case 'Pending':
    case undefined:
      return lookAtUnseen(task, sight) ?? lookAtPending(task, sight);
  }
}

function howItWent({ spec, status }: Task): string {
  const took = status?.result?.elapsedSeconds === undefined ? '' : ` in ${status.result.elapsedSeconds} s`;
  return `agent/${status?.owner} did it${took}, attempt ${status?.attempt ?? 1} of ${Math.max(spec.maxAttempts ?? 1, status?.attempt ?? 1)}`;
}

/** Those that were cut off on purpose are granted once more. */
function attemptOf({ spec, status }: Task): string {
  const { attempt = 1, failures = 0 } = status ?? {};
  return `attempt ${attempt} of ${(spec.maxAttempts ?? 1) + Math.max(0, attempt - 1 - failures)}`;
}

function lookAtHeld(task: Task, { view, now }: Sight): Finding {
  const { spec, status } = task;
  const owner = findAgent(view, status?.owner ?? '');
  const says = `is ${status?.phase} on agent/${status?.owner} ${since(status?.startedAt, now)}, ${attemptOf(task)}`;
  if (owner && conditionOf(owner, 'Ready')?.status !== 'True') return leadingTo([owner], says, `${idOf(owner)} is not ready`);
  if (spec.cancelled) return waiting(says, 'it was cancelled and is being ended');
  const planned = lookAtPlan(task, says, view);
  if (planned) return planned;
  if (status?.reason === 'Verifying')
    return waiting(says, 'its work is done and is being verified', { text: 'patience: its verify commands run' });
  const frozen = conditionOf(task, 'Frozen');
  if (frozen?.status === 'True') return lookAtShort(task, `${says}, and stands still`, { because: wordsOf(frozen), view });
  const held = lookAtCrowded(owner, says) ?? lookAtStuck(task, says, view) ?? lookAtSilence(task, says, now);
  return held ?? lookAtWork(task, says, { view, now });
}

/** It is at work, as far as anybody can tell. */
function lookAtWork(task: Task, says: string, { view, now }: Sight): Finding {
  const { spec, status } = task;
  const before = earlierFailure(task, view);
  if (before !== undefined && asksForCredential(before)) {
    return stuck(says, before, { text: `${NEEDS_CREDENTIAL}; this says how:`, command: 'agentiso backends' });
  }
  if (status?.claim === 'Pulled') return { ...fine(says, before), patience: `patience: agent/${status.owner} works on ${idOf(task)}` };
  const leftMs = Date.parse(status?.startedAt ?? '') + timeoutSecondsOf(spec) * 1_000 - now.getTime();
  const limit = Number.isNaN(leftMs) ? '' : `; it is ended in ${timeLeft(leftMs)} at the latest (spec.timeoutSeconds)`;
  return { ...fine(says, before), patience: `patience: ${idOf(task)} is at work${limit}` };
}

/** In a first attempt nothing has failed yet: what is said then is of another task that had this name. */
function earlierFailure(task: Task, view: View): string | undefined {
  if ((task.status?.failures ?? 0) === 0) return undefined;
  const warning = view.lastWarning(task);
  return warning?.reason === 'AttemptFailed' ? warning.message : undefined;
}

function lookAtStuck(task: Task, says: string, view: View): Finding | undefined {
  const condition = conditionOf(task, 'Stuck');
  if (condition?.status !== 'True') return undefined;
  return stuck(says, condition.message, {
    text: 'give it to another agent, or cancel it:',
    command: commandOf(view, 'assign', task.metadata.name, 'AGENT'),
  });
}

/** A lease that was renewed since the claim is written down only when its holder has fallen silent. */
function lookAtSilence({ status }: Task, says: string, now: Date): Finding | undefined {
  const { renewTime = '', expires = '' } = status?.lease ?? {};
  const isRenewed = Date.parse(renewTime) > Date.parse(status?.startedAt ?? '') + CLAIM_TO_START_MS;
  if (status?.phase !== 'Running' || !isRenewed || !(Date.parse(expires) > now.getTime())) return undefined;
  const text = `patience: after 30 s agent/${status.owner} is ended and starts again`;
  return waiting(says, `nothing was heard of it ${since(renewTime, now)}`, { text });
}

const CLAIM_TO_START_MS = 5_000;

/** Nothing starts before the plan is approved: who has to do something about it? */
function lookAtPlan(task: Task, says: string, view: View): Finding | undefined {
  const condition = conditionOf(task, 'PlanApproved');
  if (!task.spec.planRequired || task.status?.phase !== 'Claimed' || condition?.status === 'True') return undefined;
  if (condition?.status !== 'Unknown') {
    return waiting(says, wordsOf(condition ?? { reason: 'PlanNeeded' }), { text: 'patience: the agent has 10 minutes for its plan' });
  }
  return stuck(says, wordsOf(condition), {
    text: 'the lead decides, or you do (agentiso refuse says no):',
    command: commandOf(view, 'approve', task.metadata.name),
  });
}
