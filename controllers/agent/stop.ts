/**
 * desiredState Stopped: an idle agent ends at once. A busy one is asked to stop, has its team's grace period, and ends earlier when it
 * agrees or has nothing left to do; what it answers besides is kept and changes nothing. None outlives its deadline.
 */
import { type Agent, shortName } from '#api/types.ts';
import { STOP_REQUEST_ANNOTATION, type StopRequest } from '#client/stop-request.ts';
import type { Driver } from '#drivers/driver.ts';
import { getCondition, setCondition } from '#runtime/conditions.ts';
import type { ReconcileContext, Result, WithStatus } from '#runtime/controller.ts';
import { isBusy } from './busy.ts';
import type { AgentDeps } from './deps.ts';
import type { Restarts } from './restarts.ts';

const POLL_MS = 100;
/** Of the grace period: between SIGTERM and SIGKILL. */
const KILL_MS = 5_000;

interface Stopping {
  readonly deps: AgentDeps;
  readonly ctx: ReconcileContext;
  readonly restarts: Restarts;
}

export async function ensureStopped(
  driver: Driver | undefined,
  agent: WithStatus<Agent>,
  { deps, ctx, restarts }: Stopping,
): Promise<Result> {
  const { uid } = agent.metadata;
  const waitMs = driver === undefined ? 0 : await graceLeftMs(agent, deps, ctx);
  const isEnded = waitMs <= 0 && (driver === undefined || (await driver.stop(uid, ctx.signal)));
  const reason = isEnded ? 'Stopped' : 'Stopping';
  if (isEnded) await withdrawRequest(agent, deps, ctx);
  const { pid, ...status } = agent.status;
  agent.status = { ...status, ...(isEnded || pid === undefined ? {} : { pid }), phase: reason };
  for (const type of ['WorkspaceReady', 'RelayReady', 'Ready']) {
    setCondition(agent, { type, status: 'False', reason, message: 'spec.desiredState is Stopped' }, ctx.now());
  }
  if (!isEnded) return { requeueAfterMs: waitMs > 0 ? Math.min(waitMs, POLL_MS * 5) : POLL_MS };
  deps.sessions.close(uid, 'the agent was stopped');
  restarts.reset(uid);
  return {};
}

/** The agent is to run after all: a stop that was under way is off. */
export async function endStop(agent: WithStatus<Agent>, deps: AgentDeps, ctx: ReconcileContext): Promise<void> {
  if (!isUnderWay(agent)) return;
  await withdrawRequest(agent, deps, ctx);
  agent.status = withoutShutdown(agent);
}

/** How long it may go on; 0 for an agent that is idle or agrees. The period begins when the agent is first seen to be stopping. */
async function graceLeftMs(agent: WithStatus<Agent>, deps: AgentDeps, ctx: ReconcileContext): Promise<number> {
  const now = ctx.now();
  if (isOfFormerRun(agent)) agent.status = withoutShutdown(agent);
  // Who kills waits for nobody.
  if (stopRequestOf(agent).isImmediate === true || !isBusy(agent, deps)) return 0;
  if (agent.status.shutdown?.deadline === undefined) {
    const deadline = new Date(now.getTime() + (await deps.graceMsOf(agent))).toISOString();
    agent.status.shutdown = { requestedAt: now.toISOString(), deadline };
  } else {
    // Only in the next pass, when it is on disk since when: a crash in between asks under the same name again.
    await say(ctx, deps.notices?.tell(requestOf(agent)));
  }
  if (agent.status.shutdown?.answer === 'Accepted') return 0;
  return Date.parse(agent.status.shutdown?.deadline ?? '') - KILL_MS - now.getTime();
}

function isUnderWay(agent: Agent): boolean {
  return getCondition(agent, 'WorkspaceReady')?.reason === 'Stopping';
}

/** The record of a stop is kept until the next one. */
function isOfFormerRun({ status }: Agent): boolean {
  return Date.parse(status?.shutdown?.requestedAt ?? '') < Date.parse(status?.startedAt ?? '');
}

function withoutShutdown({ status }: Agent): NonNullable<Agent['status']> {
  const { shutdown: _former, ...rest } = status ?? {};
  return rest;
}

function addressOf({ metadata, spec, status }: Agent) {
  return {
    namespace: metadata.namespace,
    team: spec.team,
    to: shortName(spec.team, metadata.name),
    key: `stop/${metadata.uid}/${status?.shutdown?.requestedAt}`,
  };
}

/** Exported for its test. */
export function requestOf(agent: Agent) {
  const { from, reason } = stopRequestOf(agent);
  const { deadline = '' } = agent.status?.shutdown ?? {};
  return {
    ...addressOf(agent),
    type: 'shutdown_request' as const,
    content: `${from} wants this agent to stop${reason === '' ? '' : `: ${reason}`}. Answer with a shutdown_response. It ends at ${deadline} at the latest.`,
    metadata: { reason, deadline, requested_by: from },
  };
}

function stopRequestOf({ metadata }: Agent): StopRequest {
  const usual = { from: 'orchestrator', reason: 'spec.desiredState is Stopped' };
  try {
    const { from, reason, generation, isImmediate } = JSON.parse(metadata.annotations?.[STOP_REQUEST_ANNOTATION] ?? '{}');
    if (generation !== metadata.generation) return usual;
    return { from: String(from), reason: String(reason), ...(isImmediate === true && { isImmediate }) };
  } catch {
    // Not by us.
    return usual;
  }
}

/** The next run has nothing to do with it. */
async function withdrawRequest(agent: Agent, { notices }: AgentDeps, ctx: ReconcileContext): Promise<void> {
  if (agent.status?.shutdown?.requestedAt !== undefined) await say(ctx, notices?.withdraw(addressOf(agent)));
}

/** A stop waits for no message: a disk that takes none must not keep an agent alive. */
async function say(ctx: ReconcileContext, saying: Promise<void> | undefined): Promise<void> {
  await saying?.catch((error: unknown) => ctx.log.warn({ err: error }, 'the request to stop could not be said or taken back'));
}
