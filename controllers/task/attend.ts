/** A Task that the controller gave to an agent: handed over once the claim is on disk, followed until its outcome is known, or ended before. */
import type { Agent, Task } from '#api/types.ts';
import { AgentisoError, isCode, messageOf } from '#lib/errors.ts';
import { isTrue } from '#runtime/conditions.ts';
import type { ReconcileContext, Result, WithStatus } from '#runtime/controller.ts';
import type { Attempts, Outcome } from './attempts.ts';
import { type Attending, attemptOf, LOOK_MS, type Means, ownerOf, RETRY_MS } from './attending.ts';
import { isHeld, isVerifying, needsPlan } from './card.ts';
import { isTalkedAbout } from './finished.ts';
import { watchBudget } from './freezing.ts';
import { showSilence } from './leases.ts';
import { awaitsRelease } from './plan-hold.ts';
import { attendPulled, awaitPlan } from './pulled.ts';
import { isAlive, isHeldUp, isLeaving, isStoppedWithDaemon, isStopping, suits } from './roster.ts';
import { CANCELLED, countFailure, expire, fail, finish, handBack, NO_PROGRESS, start, type Verdict } from './transitions.ts';
import { verifyAttempt } from './verifying.ts';
import { watchOver } from './watch-over.ts';

/** Between an approval and a workspace that can be written to. */
const RELEASE_MS = 50;

export async function attend(task: WithStatus<Task>, deps: Attending, ctx: ReconcileContext): Promise<Result> {
  const { attempts, client } = deps;
  const outcome = attempts.outcomes(task.metadata.uid).find((reported) => isCurrent(task, reported));
  if (outcome) return record(task, outcome, { deps, ctx });
  const agent = await ownerOf(task, client);
  const verdict = whyItEnds(task, agent);
  if (task.status.claim === 'Pulled') return attendPulled(task, { agent, verdict }, { deps, ctx });
  if (!agent || verdict) return end(task, agent, verdict ?? CANCELLED, { deps, ctx });
  if (isVerifying(task)) return verifyAttempt(task, agent, { deps, ctx });
  const isBeginning = task.status.phase === 'Claimed';
  const notYet = isBeginning ? await begin(task, agent, { deps, ctx }) : undefined;
  if (notYet) return notYet;
  noteCut(task, agent, attempts);
  const result = await follow(task, agent, { deps, ctx });
  // A command that was just said to run: all that can be said of it was said.
  const leavesNothing = isBeginning && task.status.phase === 'Running' && task.spec.prompt === undefined && !isTalkedAbout(task);
  return leavesNothing ? { ...result, leavesNothing } : result;
}

function record(task: WithStatus<Task>, outcome: Outcome, { deps, ctx }: Means): Result {
  deps.recorded.add(keyOf(outcome));
  // One that was quick was never said to run.
  task.status.startedAt ??= deps.leases.handedOver(attemptOf(task))?.at ?? task.status.lease?.renewTime ?? ctx.now().toISOString();
  deps.leases.forget(attemptOf(task));
  // Somebody else may see what this one did not.
  if (outcome.prompt?.error?.code === NO_PROGRESS) deps.avoided.set(task.metadata.uid, task.status.owner ?? '');
  return finish(task, outcome, ctx);
}

/** Gives a result when it has not begun. */
async function begin(task: WithStatus<Task>, agent: Agent, means: Means): Promise<Result | undefined> {
  if (needsPlan(task)) return awaitPlan(task, agent, means);
  if (awaitsRelease(task, agent)) return { requeueAfterMs: RELEASE_MS };
  return handOver(task, agent, means);
}

/**
 * Gives a result where there is nothing to follow: the Task ends here, because what cannot be sent today cannot be sent tomorrow; or it may
 * be over before it is worth saying that it runs.
 */
async function handOver(task: WithStatus<Task>, agent: Agent, { deps, ctx }: Means): Promise<Result | undefined> {
  const attempt = attemptOf(task);
  let handed = deps.leases.handedOver(attempt);
  if (!handed) {
    try {
      await deps.attempts.assign(agent, task);
    } catch (error) {
      const verdict = hopeless(error);
      if (!verdict) throw error;
      fail(task, verdict, ctx);
      return {};
    }
    handed = { at: ctx.now().toISOString(), monotonicMs: deps.monotonicMs() };
    deps.leases.handOver(attempt, handed);
  }
  const leftMs = handed.monotonicMs + deps.quickMs - deps.monotonicMs();
  if (leftMs > 0 && mayBeQuick(task, agent, deps)) return { requeueAfterMs: Math.ceil(leftMs) };
  task.status.startedAt ??= handed.at;
  start(task, ctx);
  return undefined;
}

/**
 * What a prompt uses is counted while it runs, others keep off the files of what runs, a failure is taken back by what follows it, and of
 * what an earlier daemon has cut off it must be known that it ran.
 */
function mayBeQuick(task: Task, agent: Agent, { attempts }: Attending): boolean {
  const { prompt, files = [] } = task.spec;
  return prompt === undefined && files.length === 0 && isTrue(task, 'Ready') && !wasCutWithDaemon(task, agent, attempts);
}

function hopeless(error: unknown): Verdict | undefined {
  if (isCode(error, 'TooLarge')) return { reason: 'TooLarge', message: `command and env together are too large: ${messageOf(error)}` };
  return error instanceof AgentisoError && error.code === 'Invalid' ? { reason: error.reason, message: error.message } : undefined;
}

/** Why a held Task is taken from its agent, whatever the command does. Pure. */
export function whyItEnds({ spec, status }: Task, agent: Agent | undefined): Verdict | undefined {
  if (spec.cancelled) return CANCELLED;
  if (!agent) return { reason: 'AgentGone', message: `agent ${status?.owner} was deleted` };
  if (isLeaving(agent) || (isStopping(agent) && status?.phase === 'Claimed'))
    return { reason: 'AgentGone', message: `agent ${status?.owner} was stopped or deleted` };
  if (suits(agent, spec)) return undefined;
  const isForOthers = spec.assignTo !== undefined && !suits(agent, { assignTo: spec.assignTo });
  const what = isForOthers ? `assignTo is ${spec.assignTo}` : `it asks for the skills ${spec.skills?.join(', ')}`;
  return { reason: 'Reassigned', message: `${what} now, not ${status?.owner}` };
}

/** Kept with the Task: by the time the agent's next run reports the attempt, the agent itself no longer shows it. */
function noteCut(task: WithStatus<Task>, agent: Agent, attempts: Attempts): void {
  if (task.status.phase === 'Running' && wasCutWithDaemon(task, agent, attempts)) task.status.reason = 'Interrupted';
}

function wasCutWithDaemon({ status }: Task, agent: Agent, attempts: Attempts): boolean {
  const { ownerIncarnation = '' } = status ?? {};
  return attempts.wasStopped(ownerIncarnation) || (isStoppedWithDaemon(agent) && agent.status?.incarnation === ownerIncarnation);
}

async function end(task: WithStatus<Task>, agent: Agent | undefined, verdict: Verdict, { deps, ctx }: Means): Promise<Result> {
  if (!(await hasEnded(task, agent, deps))) return { requeueAfterMs: RETRY_MS };
  deps.leases.forget(attemptOf(task));
  if (verdict !== CANCELLED) return handBack(task, verdict, ctx);
  fail(task, verdict, ctx);
  return {};
}

/** Gone is gone: a run of the agent that is over has taken the attempt with it. */
async function hasEnded({ metadata, status }: Task, agent: Agent | undefined, { attempts }: Attending): Promise<boolean> {
  if (!agent || status?.claim === 'Pulled') return true;
  const answer = await attempts.revoke(agent.metadata.uid, metadata.uid, status?.attempt ?? 0);
  return answer === 'ended' || !isAlive(agent, status?.ownerIncarnation);
}

async function follow(task: WithStatus<Task>, agent: Agent, { deps, ctx }: Means): Promise<Result> {
  const { attempts, leases, monotonicMs } = deps;
  const { uid } = task.metadata;
  const { attempt = 0 } = task.status;
  const nowMs = monotonicMs();
  const seenMs = isHeldUp(agent) ? nowMs : attempts.lastSeenMs(uid, attempt);
  const leftMs = leases.leftMs(attemptOf(task), { nowMs, seenMs });
  showSilence(task, leftMs, ctx.now());
  if (leftMs > 0) {
    const budget = await watchBudget(task, agent, { deps, ctx });
    // What stands still makes no progress, and is not to blame for it.
    if (budget.isFrozen) return { requeueAfterMs: Math.min(leftMs, LOOK_MS, budget.inMs ?? LOOK_MS) };
    const look = await watchOver(task, { deps, ctx });
    if (!look.isGivenUp) return { requeueAfterMs: Math.min(leftMs, LOOK_MS, look.inMs ?? LOOK_MS, budget.inMs ?? LOOK_MS) };
    if (!(await hasEnded(task, agent, deps))) return { requeueAfterMs: RETRY_MS };
    leases.forget(attemptOf(task));
    deps.avoided.set(uid, task.status.owner ?? '');
    return countFailure(task, 'Stuck', `was taken from ${task.status.owner}: it made no progress (stuckPolicy Reassign)`, ctx);
  }
  return giveUp(task, agent, { deps, ctx, overMs: nowMs + leftMs });
}

/** Nobody else begins while it may still run: an agent that is silent for so long is ended, or is heard again. */
async function giveUp(task: WithStatus<Task>, agent: Agent, { deps, ctx, overMs }: Means & { readonly overMs: number }): Promise<Result> {
  const isUnheard = isUnheardSince(overMs, task, agent, deps.attempts);
  if (isUnheard || !(await hasEnded(task, agent, deps))) return { requeueAfterMs: RETRY_MS };
  deps.leases.forget(attemptOf(task));
  return expire(task, ctx);
}

/**
 * It lives as far as is known, and has not said what it runs since the lease was over. Its last words may be older than the attempt: whatever it
 * was told now would end one that may be heard of again.
 */
function isUnheardSince(overMs: number, { status }: Task, agent: Agent, attempts: Attempts): boolean {
  const { ownerIncarnation = '' } = status ?? {};
  if (attempts.wasStopped(ownerIncarnation) || !isAlive(agent, ownerIncarnation)) return false;
  return (attempts.agentSeenMs(agent.metadata.uid, ownerIncarnation) ?? Number.NEGATIVE_INFINITY) < overMs;
}

/** For a Task that is being deleted. */
export async function release(task: Task, deps: Attending): Promise<Result | 'done'> {
  const agent = isHeld(task) ? await ownerOf(task, deps.client) : undefined;
  if (!(await hasEnded(task, agent, deps))) return { requeueAfterMs: RETRY_MS };
  const { uid } = task.metadata;
  for (const outcome of deps.attempts.outcomes(uid)) {
    await deps.attempts.accept(outcome);
    deps.recorded.delete(keyOf(outcome));
  }
  if ((task.spec.verify ?? []).length > 0) await deps.verifier?.forget(uid);
  deps.leases.forget(attemptOf(task));
  deps.avoided.delete(uid);
  deps.teller.forget(uid);
  return 'done';
}

/** Acknowledges what the status holds by now, and what comes too late to get into it. False: not all of it could be. */
export async function settle(task: Task, { attempts, recorded }: Attending, ctx: ReconcileContext): Promise<boolean> {
  let isSettled = true;
  for (const outcome of attempts.outcomes(task.metadata.uid)) {
    if (isCurrent(task, outcome)) continue;
    if (!isRecorded(task, outcome, recorded)) {
      const message = `attempt ${outcome.attempt} with token ${outcome.fencingToken} came too late: its result is dropped`;
      ctx.events.warning(task, 'FenceLost', message);
    }
    try {
      await attempts.accept(outcome);
      recorded.delete(keyOf(outcome));
    } catch (error) {
      ctx.log.warn({ err: error, attempt: outcome.attempt }, 'an outcome was not acknowledged; trying again');
      isSettled = false;
    }
  }
  return isSettled;
}

/** The attempt that runs, by the claim that is on disk; of one that is being verified the outcome is in the status. */
export function isCurrent(task: Task, { attempt, fencingToken }: Outcome): boolean {
  return isHeld(task) && !isVerifying(task) && task.status?.attempt === attempt && task.status.fencingToken === fencingToken;
}

/** Also by the process before this one; a lost attempt has no result that could be refused. */
function isRecorded({ status }: Task, outcome: Outcome, recorded: ReadonlySet<string>): boolean {
  const { result } = outcome;
  if (!result || recorded.has(keyOf(outcome))) return true;
  return result.sourceMessageId !== undefined && result.sourceMessageId === status?.result?.sourceMessageId;
}

function keyOf({ taskUid, attempt, fencingToken }: Outcome): string {
  return `${taskUid}/${attempt}/${fencingToken}`;
}
