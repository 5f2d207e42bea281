/** A Task that an agent has claimed by itself, or whose plan is awaited: nothing runs that heartbeats would name, the agent's own life is the lease. */
import { timeoutSecondsOf } from '#api/task-timeout.ts';
import type { Agent, Task } from '#api/types.ts';
import { shortName } from '#api/types.ts';
import { getCondition } from '#runtime/conditions.ts';
import type { Result, WithStatus } from '#runtime/controller.ts';
import { attemptOf, LOOK_MS, type Means, RETRY_MS } from './attending.ts';
import { isVerifying, needsPlan } from './card.ts';
import { showSilence } from './leases.ts';
import { planLimit } from './plan.ts';
import { isPlanEnforced } from './plan-hold.ts';
import { isAlive, isStoppedWithDaemon } from './roster.ts';
import { said } from './tell.ts';
import { CANCELLED, countFailure, expire, fail, handBack, INTERRUPTED, LOST, timeOutPlan, type Verdict } from './transitions.ts';
import { verifyAttempt } from './verifying.ts';
import { watchOver } from './watch-over.ts';

/** Until the agent's controller has said whether its workspace is read-only. */
const UNDECIDED_MS = 500;

interface Holder {
  readonly agent: Agent | undefined;
  readonly verdict: Verdict | undefined;
}

export async function attendPulled(task: WithStatus<Task>, { agent, verdict }: Holder, means: Means): Promise<Result> {
  if (!agent || verdict) return takeAway(task, verdict ?? CANCELLED, means);
  // Its work is done: the agent is needed no more.
  if (isVerifying(task)) return verifyAttempt(task, agent, means);
  if (needsPlan(task)) return awaitPlan(task, agent, means);
  const gone = isOver(task, agent, means);
  if (gone) return gone;
  const leftMs = leaseLeftMs(task, agent, means);
  if (leftMs <= 0) return lose(task, agent, means);
  const timeMs = timeLeftMs(task, means.ctx.now());
  if (timeMs <= 0) return timeOut(task, means);
  await giveMore(task, means);
  const look = await watchOver(task, means);
  if (!look.isGivenUp) return { requeueAfterMs: Math.min(leftMs, timeMs, LOOK_MS, look.inMs ?? LOOK_MS) };
  means.deps.avoided.set(task.metadata.uid, task.status.owner ?? '');
  await sayItIsGone(task, 'it made no progress', means);
  return countFailure(task, 'Stuck', `was taken from ${task.status.owner}: it made no progress (stuckPolicy Reassign)`, means.ctx);
}

/** Of spec.timeoutSeconds: since it was begun, or claimed when its owner never said so, or its plan was approved. Pure. */
export function timeLeftMs(task: Task, now: Date): number {
  const { startedAt, lease } = task.status ?? {};
  const approved = getCondition(task, 'PlanApproved');
  const times = [startedAt ?? lease?.renewTime, approved?.status === 'True' ? approved.lastTransitionTime : undefined];
  const sinceMs = Math.max(...times.flatMap((time) => (time === undefined ? [] : [Date.parse(time)])));
  return sinceMs + timeoutSecondsOf(task.spec) * 1_000 - now.getTime();
}

/** Nothing of it can be killed: its owner is told, and what it may still say of it is refused. */
async function timeOut(task: WithStatus<Task>, means: Means): Promise<Result> {
  const timeoutSeconds = timeoutSecondsOf(task.spec);
  means.deps.leases.forget(attemptOf(task));
  await sayItIsGone(task, `its time is over (timeoutSeconds ${timeoutSeconds})`, means);
  return countFailure(task, 'AttemptFailed', `timed out after ${timeoutSeconds} s`, means.ctx);
}

/** What it works with is not ours to stop; it is only counted. */
async function giveMore(task: WithStatus<Task>, { deps: { budgets }, ctx }: Means): Promise<void> {
  budgets.record(task);
  if (budgets.usedUp(task, ctx.now()).over !== undefined) await budgets.reserve(task, task.status.owner ?? '', ctx.now());
}

/** Claimed, and not begun before somebody has approved how. */
export async function awaitPlan(task: WithStatus<Task>, agent: Agent, means: Means): Promise<Result> {
  const { ctx } = means;
  const gone = isOver(task, agent, means);
  if (gone) return gone;
  const leftMs = leaseLeftMs(task, agent, means);
  if (leftMs <= 0) return lose(task, agent, means);
  const limit = planLimit(task);
  const waitMs = limit.atMs - ctx.now().getTime();
  const enforced = isPlanEnforced(agent);
  if (enforced !== undefined) task.status.plan = { ...task.status.plan, enforced };
  if (waitMs > 0) return { requeueAfterMs: Math.min(leftMs, enforced === undefined ? UNDECIDED_MS : LOOK_MS, waitMs) };
  await sayItIsGone(task, limit.message, means);
  means.deps.leases.forget(attemptOf(task));
  return timeOutPlan(task, limit.message, ctx);
}

/** That run of the agent has ended, and taken the claim with it. */
function isOver(task: WithStatus<Task>, agent: Agent, means: Means): Result | undefined {
  const { deps, ctx } = means;
  const { ownerIncarnation = '', reason } = task.status;
  const isSame = agent.status?.incarnation === ownerIncarnation;
  if (deps.attempts.wasStopped(ownerIncarnation) || (isSame && isStoppedWithDaemon(agent)) || (!isSame && reason === 'Interrupted')) {
    deps.leases.forget(attemptOf(task));
    return handBack(task, INTERRUPTED, ctx);
  }
  if (isSame && !hasExited(agent)) return undefined;
  // It was ended for its silence.
  const isExpired = leaseLeftMs(task, agent, means) <= 0;
  deps.leases.forget(attemptOf(task));
  return isExpired ? expire(task, ctx) : countFailure(task, 'AttemptLost', LOST, ctx);
}

/** Seen by its driver; whether another run follows does not matter. */
function hasExited(agent: Agent): boolean {
  return getCondition(agent, 'WorkspaceReady')?.reason === 'Exited';
}

function leaseLeftMs(task: WithStatus<Task>, agent: Agent, { deps, ctx }: Means): number {
  const seenMs = deps.attempts.agentSeenMs(agent.metadata.uid, task.status.ownerIncarnation ?? '');
  const leftMs = deps.leases.leftMs(attemptOf(task), { nowMs: deps.monotonicMs(), seenMs });
  showSilence(task, leftMs, ctx.now());
  return leftMs;
}

/** Nobody else begins while a command of it may still run: an agent that is silent for so long is ended, or is heard again. */
function lose(task: WithStatus<Task>, agent: Agent, { deps, ctx }: Means): Result {
  if (isAlive(agent, task.status.ownerIncarnation)) return { requeueAfterMs: RETRY_MS };
  deps.leases.forget(attemptOf(task));
  return expire(task, ctx);
}

async function takeAway(task: WithStatus<Task>, verdict: Verdict, means: Means): Promise<Result> {
  means.deps.leases.forget(attemptOf(task));
  if (verdict.reason !== 'AgentGone') await sayItIsGone(task, verdict.message, means);
  if (verdict !== CANCELLED) return handBack(task, verdict, means.ctx);
  fail(task, verdict, means.ctx);
  return {};
}

/** There is nothing to kill: the agent itself has to hear that its work is wanted no more. */
async function sayItIsGone(task: Task, why: string, { deps }: Means): Promise<void> {
  const { metadata, spec, status } = task;
  const attempt = String(status?.attempt ?? 0);
  const content = `Task ${shortName(spec.team, metadata.name)} is no longer yours: ${why}. Stop working on it; a result would be refused.`;
  const to = shortName(spec.team, status?.owner ?? '');
  await deps.teller.tell(metadata.uid, said(task, { to, type: 'task_update', content, metadata: { attempt }, key: `taken/${attempt}` }));
}
