/**
 * Task: handed to a ready agent of its team, or claimed by one; run there once per attempt, its result kept in status.
 * Owns every field of Task.status. A claim is durable before the attempt is handed over, a result before it is acknowledged.
 */
import type { Agent, Task } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import { awakeMs } from '#lib/awake-time.ts';
import type { Notices } from '#relay/notices.ts';
import type { Controller, ReconcileContext, Result, WithStatus } from '#runtime/controller.ts';
import { announce } from './announce.ts';
import type { Attempts } from './attempts.ts';
import { attend, release, settle } from './attend.ts';
import { type Attending, attemptOf, ownerOf, RETRY_MS } from './attending.ts';
import { AVOIDING_LOOK_MS, clearAvoided, endPatience, FILES_IN_CONFLICT, markAvoided } from './avoiding.ts';
import type { Board } from './board.ts';
import { type Boards, TASK_FINALIZER, taskBoards } from './boards.ts';
import { BUDGET_EXHAUSTED, Budgets, type SpentMeter } from './budgets.ts';
import { isFinished, isHeld, turnOf } from './card.ts';
import { type Decision, nextStep, wantsRetry } from './decide.ts';
import { isAtRest, isTalkedAbout, rest } from './finished.ts';
import { Leases, QUICK_MS } from './leases.ts';
import { ensureRemembered, numberIn } from './numbered.ts';
import { awaitsRelease } from './plan-hold.ts';
import { PromptRuns } from './prompt-runs.ts';
import { deadlineOf, halfTimeOf, showMaker } from './request.ts';
import { STUCK_FLOOR_MS } from './stuck.ts';
import { Teller } from './tell.ts';
import { claim, clearMarks, fail, restart, setReady, type Verdict } from './transitions.ts';
import type { Verifier } from './verifier.ts';

export { TASK_FINALIZER } from './boards.ts';

export interface TaskDeps {
  readonly client: Client;
  readonly attempts: Attempts;
  /** The same as the book's: both take places of agents. */
  readonly boards?: Boards;
  /** The same as the book's: both set aside what Tasks may use. */
  readonly budgets?: Budgets;
  /** What Tasks use of models; nothing is counted when absent. */
  readonly meter?: SpentMeter;
  /** Nobody is told anything when absent. */
  readonly notices?: Notices;
  /** A Task with `verify` fails at once when absent. */
  readonly verifier?: Verifier;
  /** Whole outputs of its attempts go with a Task. */
  readonly artifacts?: { removeTask(task: Task): Promise<void> };
  /** The clock of leases and heartbeats; awakeMs() when absent. */
  readonly monotonicMs?: () => number;
  /** Below this no Task counts as stuck; 30 s when absent. */
  readonly stuckFloorMs?: number;
  /** A command that ends sooner is never said to run; 50 ms when absent. */
  readonly quickMs?: number;
}

export function taskController(deps: TaskDeps): Controller<Task> {
  const { client, attempts, verifier, boards = taskBoards(client), budgets = new Budgets(client, deps.meter) } = deps;
  const attending: Attending = {
    client,
    attempts,
    boards,
    budgets,
    verifier,
    teller: new Teller(deps.notices),
    leases: new Leases(),
    runs: new PromptRuns(),
    recorded: new Set(),
    avoided: new Map(),
    monotonicMs: deps.monotonicMs ?? awakeMs,
    stuckFloorMs: deps.stuckFloorMs ?? STUCK_FLOOR_MS,
    quickMs: deps.quickMs ?? QUICK_MS,
  };
  return {
    name: 'task',
    kind: 'Task',
    finalizer: TASK_FINALIZER,
    isAtRest,
    // A pass mostly waits for the disk, and those that wait together share one write.
    concurrency: 64,
    watches: [
      {
        kind: 'Agent',
        toKeys: (agent, type) => {
          attending.runs.onAgent(agent as Agent);
          return [...boards.onAgent(agent, type), ...budgets.onHolder(agent, type)];
        },
      },
      {
        kind: 'Task',
        toKeys: (task, type) => {
          attending.runs.onTask(task as Task, type);
          return boards.onTask(task, type);
        },
      },
      { kind: 'Team', toKeys: (team, type) => [...boards.onTeam(team, type), ...budgets.onHolder(team, type)] },
    ],
    wakes: [
      attempts.wake,
      boards.wake,
      attending.runs.wake,
      ...(verifier ? [verifier.wake] : []),
      ...(deps.meter ? [deps.meter.wake] : []),
    ],
    async reconcile(task, ctx) {
      const isSettled = await settle(task, attending, ctx);
      // Who hears that it may begin begins at once.
      const isSaid = !(await isYetToBeReleased(task, client)) && (await announce(task, attending.teller, ctx));
      register(task);
      const result = await follow(task, attending, ctx);
      return isSettled && isSaid ? result : { requeueAfterMs: Math.min(RETRY_MS, result.requeueAfterMs ?? RETRY_MS) };
    },
    async finalize(task) {
      const result = await release(task, attending);
      if (result !== 'done') return result;
      await budgets.settle(withStatus(task));
      budgets.forget(task);
      await rememberNumber(task, attending);
      await deps.artifacts?.removeTask(task);
      boards.forget(task);
      return 'done';
    },
  };
}

async function isYetToBeReleased(task: Task, client: Client): Promise<boolean> {
  return task.spec.planRequired && isHeld(task) && awaitsRelease(task, await ownerOf(task, client));
}

function withStatus(task: Task): WithStatus<Task> {
  return { ...task, status: { ...task.status } };
}

/** What the status says of the object as a whole. */
function register(task: WithStatus<Task>): void {
  const { metadata, status } = task;
  showMaker(task);
  status.observedGeneration = metadata.generation;
}

async function follow(task: WithStatus<Task>, attending: Attending, ctx: ReconcileContext): Promise<Result> {
  if (task.status.phase !== 'Running') clearMarks(task, ['Stuck', 'FileOverlap'], { reason: 'NotRunning', message: '' }, ctx);
  if (isHeld(task)) return attend(task, attending, ctx);
  // Its last claim may have been ended by the book.
  attending.leases.forget(attemptOf(task));
  const { budgets } = attending;
  if (isFinished(task)) {
    await settleUp(task, budgets, ctx);
    return wantsRetry(task) ? restart(task, ctx) : rest(task, attending, ctx.now());
  }
  const board = await attending.boards.of(task);
  // Nobody holds it: a claim that the board remembers was not stored.
  board.unclaim(task.metadata.name);
  attending.runs.release(task.metadata.uid);
  // An agent is claiming it by the book at this moment; whether it succeeds or not, there will be another look.
  if (board.isBeingClaimed(task.metadata.name)) return {};
  endPatience(task, ctx);
  await settleUp(task, budgets, ctx);
  const avoid = attending.avoided.get(task.metadata.uid);
  // From here to the claim nothing waits, so that two tasks cannot take the same place.
  const wanted = nextStep(task, board, { now: ctx.now(), canVerify: attending.verifier !== undefined, avoid });
  const decision = withinRuns(task, wanted, attending);
  if (decision.step === 'assign') attending.avoided.delete(task.metadata.uid);
  if (decision.step === 'wait' && decision.reason === FILES_IN_CONFLICT) return avoidConflict(task, decision, ctx);
  clearAvoided(task);
  return advance(task, decision, { board, budgets, runs: attending.runs, ctx });
}

/** How long it stood still is a part of the reckoning, and forgotten after it. */
async function settleUp(task: WithStatus<Task>, budgets: Budgets, ctx: ReconcileContext): Promise<void> {
  await budgets.settle(task);
  clearMarks(task, ['Frozen'], { reason: 'NotRunning', message: '' }, ctx);
}

function avoidConflict(task: WithStatus<Task>, { reason, message }: Verdict, ctx: ReconcileContext): Result {
  wait(task, reason, ctx);
  setReady(task, 'False', { reason, message }, ctx);
  markAvoided(task, message, ctx);
  return { requeueAfterMs: AVOIDING_LOOK_MS };
}

/** A prompt starts only where there is room for one more coding agent. */
function withinRuns(task: Task, decision: Decision, { runs }: Attending): Decision {
  if (decision.step !== 'assign' || typeof task.spec.prompt !== 'string') return decision;
  const message = runs.whyNot(decision.agent);
  if (message === undefined) {
    runs.claim(task, decision.agent);
    return decision;
  }
  runs.wait(task);
  return { step: 'wait', reason: 'PromptLimit', message };
}

interface Advancing {
  readonly board: Board;
  readonly budgets: Budgets;
  readonly runs: Attending['runs'];
  readonly ctx: ReconcileContext;
}

function advance(task: WithStatus<Task>, decision: Decision, means: Advancing): Result | Promise<Result> {
  const { budgets, ctx } = means;
  if (decision.step === 'wait' && decision.reason === BUDGET_EXHAUSTED) budgets.isShort(task);
  else if (decision.step !== 'assign') budgets.noLongerShort(task);
  switch (decision.step) {
    case 'done':
    case 'hold':
      return {};
    case 'restart':
      return restart(task, ctx);
    case 'fail':
      fail(task, decision, ctx);
      return {};
    case 'pause':
      return { requeueAfterMs: decision.delayMs };
    case 'block':
      Object.assign(task.status, { phase: 'Blocked', reason: decision.reason, blockedBy: [...decision.blockedBy] });
      setReady(task, 'False', { reason: decision.reason, message: `waits for ${decision.blockedBy.join(', ')}` }, ctx);
      return untilExpiry(task, ctx);
    case 'wait':
      wait(task, decision.reason, ctx);
      setReady(task, 'False', decision, ctx);
      return { ...untilExpiry(task, ctx), leavesNothing: standsInLine(task, decision, means.board) };
    case 'open':
      wait(task, 'OpenForClaim', ctx);
      setReady(task, 'True', { reason: 'OpenForClaim', message: 'any suitable agent of the team may claim it' }, ctx);
      return untilExpiry(task, ctx);
    case 'assign':
      return assign(task, decision.agent, means);
  }
}

function wait(task: WithStatus<Task>, reason: string, ctx: ReconcileContext): void {
  sayUnblocked(task, ctx);
  Object.assign(task.status, { phase: 'Pending', reason });
  delete task.status.blockedBy;
}

async function assign(task: WithStatus<Task>, agent: Parameters<typeof claim>[1], means: Advancing): Promise<Result> {
  const { board, budgets, runs, ctx } = means;
  const attempt = (task.status.attempt ?? 0) + 1;
  // Somebody was faster: what this pass has read is old, and nothing of it may be written.
  if (!board.claim(turnOf(task), agent, attempt)) return { requeueAfterMs: 0 };
  // Its place is taken: nobody else comes to it while this waits.
  const verdict = await budgets.reserve(task, agent.metadata.name, ctx.now());
  if (verdict) {
    board.unclaim(task.metadata.name);
    // Nor does it keep a place among coding agents from those that can be paid.
    runs.release(task.metadata.uid);
    wait(task, verdict.reason, ctx);
    setReady(task, 'False', verdict, ctx);
    return untilExpiry(task, ctx);
  }
  sayUnblocked(task, ctx);
  claim(task, agent, 'Assigned', ctx);
  // The claim is written at the end of this pass; the next one hands it over.
  return { requeueAfterMs: 0 };
}

function sayUnblocked(task: WithStatus<Task>, ctx: ReconcileContext): void {
  if (task.status.phase !== 'Blocked' || (task.status.blockedBy ?? []).length === 0) return;
  ctx.events.normal(task, 'TaskUnblocked', `everything it waited for has succeeded: ${(task.spec.dependsOn ?? []).join(', ')}`);
}

/**
 * Whatever ends its waiting finds it, with what it was before this pass as with what it is then: the same decision once more would be made for
 * nothing. One that comes to the line only with what is written now looks again, for it may have missed its turn.
 */
function standsInLine(task: Task, { reason }: Verdict, board: Board): boolean {
  return board.find(task.metadata.name)?.isWilling === true && reason !== BUDGET_EXHAUSTED && !isTalkedAbout(task);
}

/** A request expires on time, and everybody is reminded of it half way. */
function untilExpiry(task: Task, ctx: ReconcileContext): Result {
  const nowMs = ctx.now().getTime();
  const times = [halfTimeOf(task), deadlineOf(task)].filter((time) => time !== undefined && time > nowMs) as number[];
  return times.length === 0 ? {} : { requeueAfterMs: Math.min(...times) - nowMs };
}

async function rememberNumber({ metadata, spec }: Task, { boards, client }: Attending): Promise<void> {
  const number = numberIn(spec.team, metadata.name);
  if (number === undefined || number < (await boards.ofTeam(metadata.namespace, spec.team)).highestNumber) return;
  await ensureRemembered(client, { namespace: metadata.namespace, team: spec.team }, number);
}
