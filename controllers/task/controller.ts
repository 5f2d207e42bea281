/**
 * Task: handed to a ready agent of its team, run there once per attempt, its result kept in status.
 * Owns every field of Task.status. A claim is durable before the command starts.
 */
import { type KindObject, keyOf } from '#api/meta.ts';
import type { Agent, Task } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import { ignoreNotFound } from '#lib/errors.ts';
import { setCondition } from '#runtime/conditions.ts';
import type { Controller, Key, ReconcileContext, Result, WithStatus } from '#runtime/controller.ts';
import { type Board, type Decision, isFinished, nextStep } from './decide.ts';
import { type Outcome, Runs } from './runs.ts';

export interface CommandResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly truncated: boolean;
  readonly elapsedSeconds: number;
}

export interface TaskDeps {
  readonly client: Client;
  /** Runs the task's command in the agent's workspace. Rejects only when the agent could not be asked. */
  readonly run: (agent: Agent, task: Task, signal: AbortSignal) => Promise<CommandResult>;
  /** Whether the incarnation that the agent's status names runs now. */
  readonly isLive: (agent: Agent, signal: AbortSignal) => Promise<boolean>;
}

export const TASK_FINALIZER = 'agentiso.dev/attempt';
/** The end of an aborted command brings the next look; this is for one that does not end. */
const ABORT_POLL_MS = 1_000;
/** A failed attempt goes again after 1 s, doubling to 30 s. */
const MAX_BACKOFF_MS = 30_000;

export function taskController({ client, run, isLive }: TaskDeps): Controller<Task> {
  const runs = new Runs();
  /** Tasks that wait for something of their team: looked at again when anything of the team changes. */
  const waiting = new Map<string, Map<string, Key>>();
  return {
    name: 'task',
    kind: 'Task',
    finalizer: TASK_FINALIZER,
    // One after the other: each decision counts the places that the one before it took.
    concurrency: 1,
    watches: [
      { kind: 'Agent', toKeys: (agent) => waitingIn(waiting, agent) },
      { kind: 'Task', toKeys: (task) => waitingIn(waiting, task) },
    ],
    wakes: [runs.wake],
    async reconcile(task, ctx) {
      task.status.observedGeneration = task.metadata.generation;
      if (isFinished(task)) return forget(waiting, task);
      const { phase, attempt = 0 } = task.status;
      if (phase === 'Claimed' || phase === 'Running') return attend(task, { client, run, runs, ctx, attempt });
      // Before the look at the team: what changes during the look must bring this task back.
      remember(waiting, task);
      return advance(task, nextStep(task, await boardOf(client, task, (agent) => isLive(agent, ctx.signal))), { runs, ctx, waiting });
    },
    async finalize(task) {
      forget(waiting, task);
      const current = runs.get(task.metadata.uid, task.status.attempt ?? 0);
      if (current?.isStarted && !current.outcome) {
        current.abort();
        return { requeueAfterMs: ABORT_POLL_MS };
      }
      runs.forget(task.metadata.uid);
      return 'done';
    },
  };
}

interface Attending {
  readonly client: Client;
  readonly run: TaskDeps['run'];
  readonly runs: Runs;
  readonly ctx: ReconcileContext;
  readonly attempt: number;
}

/** A held Task: start it once the claim is on disk, take its result, or give it up when this process never started it. */
async function attend(task: WithStatus<Task>, { client, run, runs, ctx, attempt }: Attending): Promise<Result> {
  const current = runs.get(task.metadata.uid, attempt);
  if (!current) return handBack(task, 'Interrupted', 'the daemon that ran this attempt is gone', ctx);
  if (task.spec.cancelled) current.abort();
  if (current.outcome) return finish(task, current.outcome, ctx);
  if (current.isStarted) {
    task.status.phase = 'Running';
    return {};
  }
  const { owner = '' } = task.status;
  const agent = await ignoreNotFound(client.get<Agent>({ kind: 'Agent', namespace: task.metadata.namespace, name: owner }));
  if (!agent) return handBack(task, 'AgentGone', `agent ${owner} was deleted before the attempt began`, ctx);
  task.status.phase = 'Running';
  task.status.startedAt = ctx.now().toISOString();
  runs.start(task.metadata.uid, attempt, keyOf(task), (signal) => run(agent, task, signal));
  return {};
}

interface Advancing {
  readonly runs: Runs;
  readonly ctx: ReconcileContext;
  readonly waiting: Map<string, Map<string, Key>>;
}

function advance(task: WithStatus<Task>, decision: Decision, { runs, ctx, waiting }: Advancing): Result {
  switch (decision.step) {
    case 'done':
      return {};
    case 'fail':
      fail(task, decision.reason, decision.message, ctx);
      return {};
    case 'block':
    case 'wait':
      Object.assign(task.status, { phase: decision.step === 'block' ? 'Blocked' : 'Pending', reason: decision.reason });
      if (decision.step === 'block') task.status.blockedBy = [...decision.blockedBy];
      else delete task.status.blockedBy;
      setReady(
        task,
        'False',
        decision.reason,
        decision.step === 'block' ? `waits for ${decision.blockedBy.join(', ')}` : decision.message,
        ctx,
      );
      return {};
    case 'assign':
      break;
  }
  const delayMs = backoffLeftMs(task, ctx.now());
  if (delayMs > 0) return { requeueAfterMs: delayMs };
  claim(task, decision.agent, ctx);
  runs.claim(task.metadata.uid, task.status.attempt ?? 0);
  forget(waiting, task);
  // The claim is written at the end of this pass; the next one starts the command.
  return { requeueAfterMs: 0 };
}

function claim(task: WithStatus<Task>, agent: Agent, ctx: ReconcileContext): void {
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
  setReady(task, 'True', 'Claimed', `attempt ${status.attempt} on ${agent.metadata.name}`, ctx);
}

function finish(task: WithStatus<Task>, outcome: Outcome, ctx: ReconcileContext): Result {
  const { status, spec } = task;
  status.finishedAt = ctx.now().toISOString();
  delete status.lease;
  if ('result' in outcome) status.result = { ...outcome.result };
  if (spec.cancelled) fail(task, 'Cancelled', 'spec.cancelled is true', ctx);
  else if ('result' in outcome && outcome.result.exitCode === 0) succeed(task, outcome.result, ctx);
  else return failAttempt(task, outcome, ctx);
  return {};
}

function succeed(task: WithStatus<Task>, { elapsedSeconds }: CommandResult, ctx: ReconcileContext): void {
  task.status.phase = 'Succeeded';
  delete task.status.reason;
  ctx.events.normal(task, 'Succeeded', `attempt ${task.status.attempt} exited with 0 after ${elapsedSeconds} s`);
  setReady(task, 'False', 'Finished', 'succeeded', ctx);
}

function failAttempt(task: WithStatus<Task>, outcome: Outcome, ctx: ReconcileContext): Result {
  const { attempt = 0 } = task.status;
  const { maxAttempts } = task.spec;
  const what = 'error' in outcome ? `lost its agent: ${outcome.error}` : `exited with ${outcome.result.exitCode}`;
  const message = `attempt ${attempt} of ${maxAttempts} ${what}`;
  if (attempt >= maxAttempts) {
    fail(task, 'MaxAttempts', message, ctx);
    return {};
  }
  ctx.events.warning(task, 'AttemptFailed', message);
  return handBack(task, 'AttemptFailed', message, ctx);
}

function handBack(task: WithStatus<Task>, reason: string, message: string, ctx: ReconcileContext): Result {
  const time = ctx.now().toISOString();
  Object.assign(task.status, { phase: 'Pending', reason, finishedAt: time });
  delete task.status.owner;
  delete task.status.ownerIncarnation;
  delete task.status.lease;
  task.status.notes = [...(task.status.notes ?? []), { time, author: 'system', text: `${reason}: ${message}` }];
  setReady(task, 'False', reason, message, ctx);
  return { requeueAfterMs: 0 };
}

function fail(task: WithStatus<Task>, reason: string, message: string, ctx: ReconcileContext): void {
  Object.assign(task.status, { phase: 'Failed', reason, finishedAt: ctx.now().toISOString() });
  ctx.events.warning(task, reason, message);
  setReady(task, 'False', reason, message, ctx);
}

function setReady(task: Task, status: 'True' | 'False', reason: string, message: string, ctx: ReconcileContext): void {
  setCondition(task, { type: 'Ready', status, reason, message }, ctx.now());
}

/** Only a failed attempt waits; one that was interrupted goes on at once. */
function backoffLeftMs({ status }: Task, now: Date): number {
  if (status?.reason !== 'AttemptFailed' || status.finishedAt === undefined) return 0;
  const delayMs = Math.min(MAX_BACKOFF_MS, 1_000 * 2 ** ((status.attempt ?? 1) - 1));
  return Date.parse(status.finishedAt) + delayMs - now.getTime();
}

async function boardOf(client: Client, { metadata, spec }: Task, isLive: (agent: Agent) => Promise<boolean>): Promise<Board> {
  const query = { namespace: metadata.namespace, fieldSelector: `spec.team=${spec.team}` };
  const [agents, tasks] = await Promise.all([client.list<Agent>('Agent', query), client.list<Task>('Task', query)]);
  const alive = await Promise.all(agents.items.map(isLive));
  const live = new Set(agents.items.filter((_, index) => alive[index]));
  return { agents: agents.items, tasks: tasks.items, isLive: (agent) => live.has(agent) };
}

function teamOf(object: KindObject): string {
  return `${object.metadata.namespace}/${(object as Agent | Task).spec.team}`;
}

function waitingIn(waiting: Map<string, Map<string, Key>>, object: KindObject): Key[] {
  return [...(waiting.get(teamOf(object))?.values() ?? [])];
}

function remember(waiting: Map<string, Map<string, Key>>, task: Task): void {
  const keys = waiting.get(teamOf(task)) ?? new Map<string, Key>();
  waiting.set(teamOf(task), keys.set(task.metadata.name, keyOf(task)));
}

function forget(waiting: Map<string, Map<string, Key>>, task: Task): Result {
  waiting.get(teamOf(task))?.delete(task.metadata.name);
  return {};
}
