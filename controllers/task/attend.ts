/** A Task that an agent holds: handed over once the claim is on disk, followed until its outcome is known, or ended before. */
import type { Agent, Task } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import { ignoreNotFound, isCode, messageOf } from '#lib/errors.ts';
import type { ReconcileContext, Result, WithStatus } from '#runtime/controller.ts';
import type { Attempts, Outcome } from './attempts.ts';
import { isHeld } from './card.ts';
import type { Leases } from './leases.ts';
import { isAlive, isLeaving, isStoppedWithDaemon, suits } from './roster.ts';
import { expire, fail, finish, handBack, setReady, type Verdict } from './transitions.ts';

export interface Attending {
  readonly client: Client;
  readonly attempts: Attempts;
  readonly leases: Leases;
  /** Outcomes that this process has put into a status. */
  readonly recorded: Set<string>;
  readonly monotonicMs: () => number;
}

/** Until an attempt that is to end has ended; also until an outcome that could not be acknowledged is. */
const RETRY_MS = 1_000;
/** How often heartbeats are asked about: a lease must be known to be fresh when they stop. */
const LOOK_MS = 10_000;

export async function attend(task: WithStatus<Task>, deps: Attending, ctx: ReconcileContext): Promise<Result> {
  const { attempts, client } = deps;
  const outcome = attempts.outcomes(task.metadata.uid).find((reported) => isCurrent(task, reported));
  if (outcome) {
    deps.recorded.add(keyOf(outcome));
    deps.leases.forget(attemptOf(task));
    return finish(task, outcome, ctx);
  }
  const agent = await ownerOf(task, client);
  const verdict = whyItEnds(task, agent);
  if (verdict) return end(task, agent, verdict, { deps, ctx });
  if (agent && task.status.phase === 'Claimed') {
    const refusal = await handOver(task, agent, { deps, ctx });
    if (refusal) return refusal;
  }
  // Kept with the Task: by the time the agent's next run reports the attempt, the agent itself no longer shows it.
  if (agent && wasCutWithDaemon(task, agent, attempts)) task.status.reason = 'Interrupted';
  return renew(task, agent, { deps, ctx });
}

/** Gives a result only when the Task ends here: a message that is too large today is too large tomorrow. */
async function handOver(task: WithStatus<Task>, agent: Agent, { deps, ctx }: Means): Promise<Result | undefined> {
  try {
    await deps.attempts.assign(agent, task);
  } catch (error) {
    if (!isCode(error, 'TooLarge')) throw error;
    fail(task, { reason: 'TooLarge', message: `command and env together are too large: ${messageOf(error)}` }, ctx);
    return {};
  }
  task.status.phase = 'Running';
  task.status.startedAt = ctx.now().toISOString();
  setReady(task, 'True', { reason: 'Claimed', message: `attempt ${task.status.attempt} on ${task.status.owner}` }, ctx);
  return undefined;
}

/** Why a held Task is taken from its agent, whatever the command does. Pure. */
export function whyItEnds({ spec, status }: Task, agent: Agent | undefined): Verdict | undefined {
  if (spec.cancelled) return { reason: 'Cancelled', message: 'spec.cancelled is true' };
  if (!agent) return { reason: 'AgentGone', message: `agent ${status?.owner} was deleted` };
  if (isLeaving(agent)) return { reason: 'AgentGone', message: `agent ${status?.owner} was stopped or deleted` };
  if (!suits(agent, spec.assignTo)) return { reason: 'Reassigned', message: `assignTo is ${spec.assignTo} now, not ${status?.owner}` };
  return undefined;
}

function wasCutWithDaemon({ status }: Task, agent: Agent, attempts: Attempts): boolean {
  const { ownerIncarnation = '' } = status ?? {};
  if (status?.phase !== 'Running') return false;
  return attempts.wasStopped(ownerIncarnation) || (isStoppedWithDaemon(agent) && agent.status?.incarnation === ownerIncarnation);
}

interface Means {
  readonly deps: Attending;
  readonly ctx: ReconcileContext;
}

async function end(task: WithStatus<Task>, agent: Agent | undefined, verdict: Verdict, { deps, ctx }: Means): Promise<Result> {
  if (!(await hasEnded(task, agent, deps))) return { requeueAfterMs: RETRY_MS };
  deps.leases.forget(attemptOf(task));
  if (verdict.reason !== 'Cancelled') return handBack(task, verdict, ctx);
  fail(task, verdict, ctx);
  return {};
}

/** Gone is gone: a run of the agent that is over has taken the attempt with it. */
async function hasEnded({ metadata, status }: Task, agent: Agent | undefined, { attempts }: Attending): Promise<boolean> {
  if (!agent) return true;
  const answer = await attempts.revoke(agent.metadata.uid, metadata.uid, status?.attempt ?? 0);
  return answer === 'ended' || !isAlive(agent, status?.ownerIncarnation);
}

async function renew(task: WithStatus<Task>, agent: Agent | undefined, { deps, ctx }: Means): Promise<Result> {
  const { attempts, leases, monotonicMs } = deps;
  const { uid } = task.metadata;
  const { attempt = 0 } = task.status;
  const leftMs = leases.leftMs(attemptOf(task), { nowMs: monotonicMs(), seenMs: attempts.lastSeenMs(uid, attempt) });
  if (leftMs > 0) return { requeueAfterMs: Math.min(leftMs, LOOK_MS) };
  // Best effort: whoever is silent for so long cannot be asked, and is told when it is back.
  if (agent) await attempts.revoke(agent.metadata.uid, uid, attempt);
  leases.forget(attemptOf(task));
  return expire(task, ctx);
}

/** For a Task that is being deleted. */
export async function release(task: Task, deps: Attending): Promise<Result | 'done'> {
  const agent = isHeld(task) ? await ownerOf(task, deps.client) : undefined;
  if (!(await hasEnded(task, agent, deps))) return { requeueAfterMs: RETRY_MS };
  for (const outcome of deps.attempts.outcomes(task.metadata.uid)) {
    await deps.attempts.accept(outcome);
    deps.recorded.delete(keyOf(outcome));
  }
  deps.leases.forget(attemptOf(task));
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

export const SETTLE_RETRY: Result = { requeueAfterMs: RETRY_MS };

/** The attempt that runs, by the claim that is on disk. */
export function isCurrent(task: Task, { attempt, fencingToken }: Outcome): boolean {
  return isHeld(task) && task.status?.attempt === attempt && task.status.fencingToken === fencingToken;
}

/** Also by the process before this one; a lost attempt has no result that could be refused. */
function isRecorded({ status }: Task, outcome: Outcome, recorded: ReadonlySet<string>): boolean {
  const { result } = outcome;
  if (!result || recorded.has(keyOf(outcome))) return true;
  return result.sourceMessageId !== undefined && result.sourceMessageId === status?.result?.sourceMessageId;
}

function ownerOf({ metadata, status }: Task, client: Client): Promise<Agent | undefined> {
  return ignoreNotFound(client.get<Agent>({ kind: 'Agent', namespace: metadata.namespace, name: status?.owner ?? '' }));
}

function keyOf({ taskUid, attempt, fencingToken }: Outcome): string {
  return `${taskUid}/${attempt}/${fencingToken}`;
}

function attemptOf({ metadata, status }: Task): string {
  return `${metadata.uid}/${status?.attempt ?? 0}`;
}
