/** What each step of a Task writes into its status, whoever takes it: the controller, or somebody by the book. */
import { timeoutSecondsOf } from '#api/task-timeout.ts';
import type { Agent, Task } from '#api/types.ts';
import { copyJson } from '#lib/json.ts';
import { getCondition, setCondition } from '#runtime/conditions.ts';
import type { ReconcileContext, Result, WithStatus } from '#runtime/controller.ts';
import type { CommandResult, Outcome, PromptEnd } from './attempts.ts';
import { forgetAvoided } from './avoiding.ts';
import { needsPlan } from './card.ts';
import { leaseTimes } from './leases.ts';

export interface Verdict {
  readonly reason: string;
  readonly message: string;
}

/** When a step is taken, and who hears of it. */
export type Moment = Pick<ReconcileContext, 'now' | 'events'>;

/** The next pass goes on at once, when what this one wrote is on disk. */
const AT_ONCE: Result = { requeueAfterMs: 0 };

export function claim(task: WithStatus<Task>, agent: Agent, how: 'Assigned' | 'Pulled', moment: Moment): void {
  const { status } = task;
  // One that was made with a number has not failed yet, and is not to be tried again for it.
  if ((status.attempt ?? 0) === 0 && task.spec.retry > 0) status.retries ??= task.spec.retry;
  const holder = `${agent.metadata.name}@${agent.status?.incarnation ?? ''}`;
  Object.assign(status, {
    phase: 'Claimed',
    owner: agent.metadata.name,
    ownerIncarnation: agent.status?.incarnation ?? '',
    claim: how,
    attempt: (status.attempt ?? 0) + 1,
    fencingToken: (status.fencingToken ?? 0) + 1,
    lease: { holder, ...leaseTimes(moment.now()) },
  });
  delete status.reason;
  delete status.blockedBy;
  delete status.startedAt;
  delete status.notBefore;
  delete status.progress;
  forgetAvoided(task);
  if (needsPlan(task)) askForPlan(task, moment);
  setReady(task, 'True', { reason: 'Claimed', message: `attempt ${status.attempt} on ${agent.metadata.name}` }, moment);
}

/** Nothing of the attempt may start before somebody has approved how. */
function askForPlan(task: WithStatus<Task>, moment: Moment): void {
  const message = `${task.status.owner} is to submit a plan`;
  setCondition(task, { type: 'PlanApproved', status: 'False', reason: 'PlanNeeded', message }, moment.now());
}

/** The owner, or the controller for it, has begun. */
export function start(task: WithStatus<Task>, moment: Moment): void {
  task.status.phase = 'Running';
  task.status.startedAt ??= moment.now().toISOString();
  delete task.status.reason;
  setReady(task, 'True', { reason: 'Claimed', message: `attempt ${task.status.attempt} on ${task.status.owner}` }, moment);
}

/** The owner cannot go on and says why; it keeps the claim. */
export function declareBlocked(task: WithStatus<Task>, message: string, moment: Moment): void {
  Object.assign(task.status, { phase: 'Blocked', reason: 'BlockedByOwner' });
  setReady(task, 'False', { reason: 'BlockedByOwner', message }, moment);
}

/** What the guest reported of the present attempt. */
export function finish(task: WithStatus<Task>, outcome: Outcome, moment: Moment): Result {
  const { status } = task;
  const { result } = outcome;
  const wasInterrupted = status.reason === 'Interrupted';
  status.finishedAt = moment.now().toISOString();
  delete status.lease;
  if (result) status.result = copyJson(result) as NonNullable<typeof status.result>;
  if (outcome.prompt && !task.spec.cancelled) return finishPrompt(task, outcome.prompt, outcome, moment);
  if (result?.exitCode === 0) return conclude(task, `exited with 0 after ${result.elapsedSeconds} s`, moment);
  if (task.spec.cancelled) fail(task, CANCELLED, moment);
  else if (!result && wasInterrupted) handBack(task, INTERRUPTED, moment);
  else if (result) countFailure(task, 'AttemptFailed', howItEnded(result, outcome, task), moment);
  else countFailure(task, 'AttemptLost', LOST, moment);
  return AT_ONCE;
}

/** What a coding agent came to. What it was refused, and how it was pushed on, is for people to hear of. */
function finishPrompt(task: WithStatus<Task>, end: PromptEnd, { result, timedOut }: Outcome, moment: Moment): Result {
  for (const { reason, message } of end.notes) moment.events.warning(task, reason, message);
  if (timedOut && result) return countFailure(task, 'AttemptFailed', howItEnded(result, { timedOut }, task), moment);
  if (!end.error) return conclude(task, `ended with ${result?.stopReason} after ${result?.elapsedSeconds} s`, moment);
  const { code, message } = end.error;
  if (end.retryAt !== undefined) return waitForProvider(task, end.retryAt, message, moment);
  if (code === 'BackendFailed' || code === 'BackendMissing' || code === 'McpUnavailable') {
    fail(task, { reason: code, message: `${task.status.owner}: ${message}` }, moment);
    return AT_ONCE;
  }
  if (code === 'NoProgress') return standStill(task, message, moment);
  return countFailure(task, code === 'NoEvidence' ? code : 'AttemptFailed', `failed: ${code}: ${message}`, moment);
}

/** Another agent has a try; when that gets nowhere either, a person is asked (announce.ts). */
function standStill(task: WithStatus<Task>, message: string, moment: Moment): Result {
  const { owner, attempt, notes = [] } = task.status;
  const isFirst = !notes.some(({ author, text }) => author === 'system' && text.startsWith(`${NO_PROGRESS}:`));
  if (isFirst) return countFailure(task, NO_PROGRESS, `was taken from ${owner}, for another agent to try: ${message}`, moment);
  fail(task, { reason: NO_PROGRESS, message: `attempt ${attempt} on ${owner}: ${message}; a person was asked` }, moment);
  return AT_ONCE;
}

/** Nobody's fault: the attempt does not count. */
function waitForProvider(task: WithStatus<Task>, retryAt: string, message: string, moment: Moment): Result {
  const text = `the provider wants no more before ${retryAt}: ${message.slice(0, 500)}`;
  moment.events.warning(task, 'RateLimited', text);
  const result = handBack(task, { reason: 'RateLimited', message: text }, moment);
  task.status.notBefore = retryAt;
  return result;
}

/** The work of the present attempt is done, and its result in the status: it succeeds, or is verified first. */
export function conclude(task: WithStatus<Task>, how: string, moment: Moment): Result {
  task.status.finishedAt = moment.now().toISOString();
  if (task.spec.cancelled) fail(task, CANCELLED, moment);
  else if ((task.spec.verify ?? []).length > 0) beginToVerify(task, moment);
  else succeed(task, how, moment);
  return AT_ONCE;
}

export const NO_PROGRESS = 'NoProgress';
export const CANCELLED: Verdict = { reason: 'Cancelled', message: 'spec.cancelled is true' };
export const INTERRUPTED: Verdict = { reason: 'Interrupted', message: 'the daemon was stopped while this attempt ran' };
export const LOST = 'was lost: its agent ended while it ran';

function beginToVerify(task: WithStatus<Task>, moment: Moment): void {
  Object.assign(task.status, { phase: 'Running', reason: 'Verifying' });
  const message = `the work of attempt ${task.status.attempt} is being checked`;
  setCondition(task, { type: 'Verified', status: 'Unknown', reason: 'Verifying', message }, moment.now());
  setReady(task, 'True', { reason: 'Verifying', message }, moment);
}

export function expire(task: WithStatus<Task>, moment: Moment): Result {
  if (task.status.reason === 'Interrupted') return handBack(task, INTERRUPTED, moment);
  return countFailure(task, 'LeaseExpired', `was given up: no sign of it from agent ${task.status.owner} for 30 s`, moment);
}

export function howItEnded(result: CommandResult, { timedOut = false }: Pick<Outcome, 'timedOut'>, { spec }: Task): string {
  if (timedOut) return `timed out after ${timeoutSecondsOf(spec)} s`;
  const [why = ''] = result.stderr.split('\n');
  if (result.exitCode < 0 && why !== '') return `could not run: ${why.slice(0, 200)}`;
  return `exited with ${result.exitCode}`;
}

export function succeed(task: WithStatus<Task>, how: string, moment: Moment): void {
  task.status.phase = 'Succeeded';
  task.status.finishedAt = moment.now().toISOString();
  delete task.status.reason;
  delete task.status.lease;
  moment.events.normal(task, 'Succeeded', `attempt ${task.status.attempt} ${how}`);
  // Whoever waits for objects of any kind (Helm, Flux) takes Ready=False for work that goes on.
  setReady(task, 'True', { reason: 'Finished', message: 'succeeded' }, moment);
}

export function countFailure(task: WithStatus<Task>, reason: string, what: string, moment: Moment): Result {
  const { attempt = 0 } = task.status;
  const { maxAttempts } = task.spec;
  const failures = (task.status.failures ?? 0) + 1;
  task.status.failures = failures;
  // Those that were cut off on purpose are granted once more.
  const message = `attempt ${attempt} of ${maxAttempts + Math.max(0, attempt - failures)} ${what}`;
  if (failures >= maxAttempts) {
    fail(task, { reason: 'MaxAttempts', message }, moment);
    return AT_ONCE;
  }
  moment.events.warning(task, reason, message);
  return handBack(task, { reason, message }, moment);
}

export function handBack(task: WithStatus<Task>, verdict: Verdict, moment: Moment): Result {
  Object.assign(task.status, { phase: 'Pending', reason: verdict.reason, finishedAt: moment.now().toISOString() });
  letGo(task);
  note(task, { author: 'system', text: `${verdict.reason}: ${verdict.message}` }, moment);
  setReady(task, 'False', verdict, moment);
  return AT_ONCE;
}

/** No plan came, or no answer to it. The claim is given back; it goes on when the plan is approved, or the Task tried anew. */
export function timeOutPlan(task: WithStatus<Task>, message: string, moment: Moment): Result {
  handBack(task, { reason: 'PlanTimeout', message }, moment);
  task.status.phase = 'Blocked';
  moment.events.warning(task, 'PlanTimeout', message);
  return {};
}

/** Somebody has raised spec.retry: as if it were new, but for its history and its numbers. */
export function restart(task: WithStatus<Task>, moment: Moment): Result {
  const { status, spec } = task;
  Object.assign(status, { phase: 'Pending', reason: 'Retried', failures: 0, retries: spec.retry });
  letGo(task);
  delete status.plan;
  delete status.finishedAt;
  status.conditions = (status.conditions ?? []).filter(({ type }) => type !== 'PlanApproved' && type !== 'Verified');
  const message = `spec.retry is ${spec.retry}: it is tried once more`;
  moment.events.normal(task, 'Retried', message);
  setReady(task, 'False', { reason: 'Retried', message }, moment);
  return AT_ONCE;
}

export function fail(task: WithStatus<Task>, verdict: Verdict, moment: Moment): void {
  Object.assign(task.status, { phase: 'Failed', reason: verdict.reason, finishedAt: moment.now().toISOString() });
  delete task.status.lease;
  delete task.status.blockedBy;
  moment.events.warning(task, verdict.reason, verdict.message);
  setReady(task, 'False', verdict, moment);
}

function letGo({ status }: WithStatus<Task>): void {
  delete status.owner;
  delete status.ownerIncarnation;
  delete status.claim;
  delete status.lease;
}

/** A status is read by people and goes through the journal with every change. */
const MOST_NOTES = 100;

export function note({ status }: WithStatus<Task>, { author, text }: { author: string; text: string }, { now }: Moment): void {
  status.notes = [...(status.notes ?? []), { time: now().toISOString(), author, text }].slice(-MOST_NOTES);
}

/** Conditions that say something of a running attempt only. */
export function clearMarks(task: WithStatus<Task>, types: readonly string[], verdict: Verdict, moment: Moment): void {
  for (const type of types) {
    if (getCondition(task, type)?.status === 'True') setCondition(task, { type, status: 'False', ...verdict }, moment.now());
  }
}

export function setReady(task: Task, status: 'True' | 'False', { reason, message }: Verdict, moment: Moment): void {
  setCondition(task, { type: 'Ready', status, reason, message }, moment.now());
}
