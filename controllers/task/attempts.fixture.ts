/** Guests in memory that do what real ones promise: an attempt starts once, its outcome is offered until it is accepted. */
import type { Agent, Task } from '#api/types.ts';
import type { AgentisoError } from '#lib/errors.ts';
import type { Key } from '#runtime/controller.ts';
import type { Attempts, CommandResult, Outcome } from './attempts.ts';

export interface FakeRun {
  readonly agent: Agent;
  readonly task: Task;
  readonly attempt: number;
  isRevoked: boolean;
  isFrozen: boolean;
  /** Offers an outcome, as the guest would: also for one that nobody waits for. */
  end(result: CommandResult, more?: Partial<Outcome>): void;
  lose(): void;
}

export interface FakeAttempts extends Attempts {
  readonly runs: FakeRun[];
  readonly accepted: string[];
  readonly revoked: string[];
  /** `task uid/attempt` → what lastSeenMs says. */
  readonly seenMs: Map<string, number>;
  /** `agent uid/incarnation` → what agentSeenMs says. */
  readonly agentsSeenMs: Map<string, number>;
  readonly stoppedIncarnations: Set<string>;
  isReachable: boolean;
  /** What the next assign or accept throws. */
  failure: AgentisoError | undefined;
  /** The daemon restarts: everything in memory is forgotten, the guests and what they offer stay. */
  restart(): FakeAttempts;
}

export function fakeAttempts(before?: FakeAttempts, offered = new Map<string, Outcome>()): FakeAttempts {
  const listeners = new Set<(key: Key) => void>();
  const runs = before?.runs ?? [];
  const offer = (run: FakeRun, outcome: Outcome) => {
    if (run.isRevoked) return;
    offered.set(keyOf(outcome), outcome);
    const { namespace, name } = run.task.metadata;
    for (const listener of listeners) listener({ kind: 'Task', namespace, name });
  };
  const throwFailure = () => {
    const { failure } = fake;
    fake.failure = undefined;
    if (failure) throw failure;
  };
  const start = (agent: Agent, task: Task): void => {
    const { attempt = 0, fencingToken = 0 } = task.status ?? {};
    const key = { agentUid: agent.metadata.uid, taskUid: task.metadata.uid, attempt, fencingToken };
    const run: FakeRun = {
      agent,
      task,
      attempt,
      isRevoked: false,
      isFrozen: false,
      end: (result, more = {}) => offer(run, { ...key, result: { sourceMessageId: `m-${keyOf(key)}`, ...result }, ...more }),
      lose: () => offer(run, key),
    };
    runs.push(run);
  };
  const fake: FakeAttempts = {
    runs,
    accepted: before?.accepted ?? [],
    revoked: before?.revoked ?? [],
    seenMs: new Map(),
    agentsSeenMs: new Map(),
    stoppedIncarnations: new Set(),
    isReachable: true,
    failure: undefined,
    async assign(agent, task) {
      throwFailure();
      const isKnown = runs.some((run) => run.task.metadata.uid === task.metadata.uid && run.attempt === task.status?.attempt);
      if (!isKnown) start(agent, task);
    },
    outcomes: (taskUid) => [...offered.values()].filter((outcome) => outcome.taskUid === taskUid),
    async accept(outcome) {
      throwFailure();
      offered.delete(keyOf(outcome));
      fake.accepted.push(keyOf(outcome));
    },
    async revoke(_agentUid, taskUid, attempt) {
      fake.revoked.push(`${taskUid}/${attempt}`);
      if (!fake.isReachable) return 'unreachable';
      offered.delete(`${taskUid}/${attempt}`);
      for (const run of runs) if (run.task.metadata.uid === taskUid && run.attempt === attempt) run.isRevoked = true;
      return 'ended';
    },
    async freeze(_agentUid, { taskUid, attempt, isFrozen }) {
      if (!fake.isReachable) return false;
      for (const run of runs) if (run.task.metadata.uid === taskUid && run.attempt === attempt) run.isFrozen = isFrozen;
      return true;
    },
    lastSeenMs: (taskUid, attempt) => fake.seenMs.get(`${taskUid}/${attempt}`),
    agentSeenMs: (agentUid, incarnation) => fake.agentsSeenMs.get(`${agentUid}/${incarnation}`),
    wasStopped: (incarnation) => fake.stoppedIncarnations.has(incarnation),
    wake(enqueue) {
      listeners.add(enqueue);
      return () => listeners.delete(enqueue);
    },
    restart: () => fakeAttempts(fake, offered),
  };
  return fake;
}

function keyOf({ taskUid, attempt }: { readonly taskUid: string; readonly attempt: number }): string {
  return `${taskUid}/${attempt}`;
}
