/**
 * Task: handed to a ready agent of its team, run there once per attempt, its result kept in status.
 * Owns every field of Task.status. A claim is durable before the attempt is handed over, a result before it is acknowledged.
 */
import type { Task } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import type { Controller, ReconcileContext, Result, WithStatus } from '#runtime/controller.ts';
import type { Attempts } from './attempts.ts';
import { type Attending, attend, release, SETTLE_RETRY, settle } from './attend.ts';
import type { Board } from './board.ts';
import { Boards } from './boards.ts';
import { isFinished, isHeld, turnOf } from './card.ts';
import { type Decision, nextStep } from './decide.ts';
import { Leases } from './leases.ts';
import { claim, fail, setReady } from './transitions.ts';

export interface TaskDeps {
  readonly client: Client;
  readonly attempts: Attempts;
  /** The clock of leases and heartbeats; performance.now() when absent. */
  readonly monotonicMs?: () => number;
}

export const TASK_FINALIZER = 'agentiso.dev/attempt';

export function taskController({ client, attempts, monotonicMs = () => performance.now() }: TaskDeps): Controller<Task> {
  const boards = new Boards(client, TASK_FINALIZER);
  const attending: Attending = { client, attempts, leases: new Leases(), recorded: new Set(), monotonicMs };
  return {
    name: 'task',
    kind: 'Task',
    finalizer: TASK_FINALIZER,
    watches: [
      { kind: 'Agent', toKeys: (agent, type) => boards.onAgent(agent, type) },
      { kind: 'Task', toKeys: (task, type) => boards.onTask(task, type) },
    ],
    wakes: [attempts.wake, boards.wake],
    async reconcile(task, ctx) {
      task.status.observedGeneration = task.metadata.generation;
      const isSettled = await settle(task, attending, ctx);
      const result = await follow(task, { attending, boards, ctx });
      return isSettled ? result : SETTLE_RETRY;
    },
    async finalize(task) {
      const result = await release(task, attending);
      if (result === 'done') boards.forget(task);
      return result;
    },
  };
}

interface Following {
  readonly attending: Attending;
  readonly boards: Boards;
  readonly ctx: ReconcileContext;
}

async function follow(task: WithStatus<Task>, { attending, boards, ctx }: Following): Promise<Result> {
  if (isFinished(task)) return {};
  if (isHeld(task)) return attend(task, attending, ctx);
  const board = await boards.of(task);
  // Nobody holds it: a claim that the board remembers was not stored.
  board.unclaim(task.metadata.name);
  // From here to the claim nothing waits, so that two tasks cannot take the same place.
  return advance(task, nextStep(task, board, ctx.now()), { board, ctx });
}

interface Advancing {
  readonly board: Board;
  readonly ctx: ReconcileContext;
}

function advance(task: WithStatus<Task>, decision: Decision, { board, ctx }: Advancing): Result {
  const { status } = task;
  switch (decision.step) {
    case 'done':
      return {};
    case 'fail':
      fail(task, decision, ctx);
      return {};
    case 'pause':
      return { requeueAfterMs: decision.delayMs };
    case 'block':
      Object.assign(status, { phase: 'Blocked', reason: decision.reason, blockedBy: [...decision.blockedBy] });
      setReady(task, 'False', { reason: decision.reason, message: `waits for ${decision.blockedBy.join(', ')}` }, ctx);
      return {};
    case 'wait':
      Object.assign(status, { phase: 'Pending', reason: decision.reason });
      delete status.blockedBy;
      setReady(task, 'False', decision, ctx);
      return {};
    case 'assign':
      claim(task, decision.agent, ctx);
      board.claim(turnOf(task), decision.agent, status.attempt ?? 0);
      // The claim is written at the end of this pass; the next one hands it over.
      return { requeueAfterMs: 0 };
  }
}
