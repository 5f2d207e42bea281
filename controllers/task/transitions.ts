/** What each step of a Task writes into its status. */
import type { Agent, Task } from '#api/types.ts';
import { setCondition } from '#runtime/conditions.ts';
import type { ReconcileContext, Result, WithStatus } from '#runtime/controller.ts';
import type { CommandResult, Outcome } from './attempts.ts';

export interface Verdict {
  readonly reason: string;
  readonly message: string;
}

/** The next pass goes on at once, when what this one wrote is on disk. */
const AT_ONCE: Result = { requeueAfterMs: 0 };

export function claim(task: WithStatus<Task>, agent: Agent, ctx: ReconcileContext): void {
  const { status } = task;
  const holder = `${agent.metadata.name}@${agent.status?.incarnation ?? ''}`;
  Object.assign(status, {
    phase: 'Claimed',
    owner: agent.metadata.name,
    ownerIncarnation: agent.status?.incarnation ?? '',
    attempt: (status.attempt ?? 0) + 1,
    fencingToken: (status.fencingToken ?? 0) + 1,
    lease: { holder, renewTime: ctx.now().toISOString() },
  });
  delete status.reason;
  delete status.blockedBy;
  setReady(task, 'True', { reason: 'Claimed', message: `attempt ${status.attempt} on ${agent.metadata.name}` }, ctx);
}

/** What the guest reported of the present attempt. */
export function finish(task: WithStatus<Task>, outcome: Outcome, ctx: ReconcileContext): Result {
  const { status, spec } = task;
  const { result } = outcome;
  const wasInterrupted = status.reason === 'Interrupted';
  status.finishedAt = ctx.now().toISOString();
  delete status.lease;
  if (result) status.result = { ...result };
  if (spec.cancelled) fail(task, { reason: 'Cancelled', message: 'spec.cancelled is true' }, ctx);
  else if (result?.exitCode === 0) succeed(task, result, ctx);
  else if (!result && wasInterrupted) handBack(task, INTERRUPTED, ctx);
  else if (result) countFailure(task, 'AttemptFailed', howItEnded(result, outcome, task), ctx);
  else countFailure(task, 'AttemptLost', 'was lost: its agent ended while it ran', ctx);
  return AT_ONCE;
}

const INTERRUPTED: Verdict = { reason: 'Interrupted', message: 'the daemon was stopped while this attempt ran' };

export function expire(task: WithStatus<Task>, ctx: ReconcileContext): Result {
  if (task.status.reason === 'Interrupted') return handBack(task, INTERRUPTED, ctx);
  return countFailure(task, 'LeaseExpired', `was given up: no sign of it from agent ${task.status.owner} for 30 s`, ctx);
}

export function howItEnded(result: CommandResult, { timedOut = false }: Pick<Outcome, 'timedOut'>, { spec }: Task): string {
  if (timedOut) return `timed out after ${spec.timeoutSeconds} s`;
  const [why = ''] = result.stderr.split('\n');
  if (result.exitCode < 0 && why !== '') return `could not run: ${why.slice(0, 200)}`;
  return `exited with ${result.exitCode}`;
}

function succeed(task: WithStatus<Task>, { elapsedSeconds }: CommandResult, ctx: ReconcileContext): void {
  task.status.phase = 'Succeeded';
  delete task.status.reason;
  ctx.events.normal(task, 'Succeeded', `attempt ${task.status.attempt} exited with 0 after ${elapsedSeconds} s`);
  setReady(task, 'False', { reason: 'Finished', message: 'succeeded' }, ctx);
}

function countFailure(task: WithStatus<Task>, reason: string, what: string, ctx: ReconcileContext): Result {
  const { attempt = 0 } = task.status;
  const { maxAttempts } = task.spec;
  const failures = (task.status.failures ?? 0) + 1;
  task.status.failures = failures;
  // Those that were cut off on purpose are granted once more.
  const message = `attempt ${attempt} of ${maxAttempts + Math.max(0, attempt - failures)} ${what}`;
  if (failures >= maxAttempts) {
    delete task.status.lease;
    fail(task, { reason: 'MaxAttempts', message }, ctx);
    return AT_ONCE;
  }
  ctx.events.warning(task, reason, message);
  return handBack(task, { reason, message }, ctx);
}

export function handBack(task: WithStatus<Task>, verdict: Verdict, ctx: ReconcileContext): Result {
  const time = ctx.now().toISOString();
  Object.assign(task.status, { phase: 'Pending', reason: verdict.reason, finishedAt: time });
  delete task.status.owner;
  delete task.status.ownerIncarnation;
  delete task.status.lease;
  task.status.notes = [...(task.status.notes ?? []), { time, author: 'system', text: `${verdict.reason}: ${verdict.message}` }];
  setReady(task, 'False', verdict, ctx);
  return AT_ONCE;
}

export function fail(task: WithStatus<Task>, verdict: Verdict, ctx: ReconcileContext): void {
  Object.assign(task.status, { phase: 'Failed', reason: verdict.reason, finishedAt: ctx.now().toISOString() });
  delete task.status.lease;
  ctx.events.warning(task, verdict.reason, verdict.message);
  setReady(task, 'False', verdict, ctx);
}

export function setReady(task: Task, status: 'True' | 'False', { reason, message }: Verdict, ctx: ReconcileContext): void {
  setCondition(task, { type: 'Ready', status, reason, message }, ctx.now());
}
