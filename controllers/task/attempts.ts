/** What the task controller asks of whoever carries attempts to agents and their results back. Nothing here is lost with the daemon. */
import type { Agent, Task } from '#api/types.ts';
import type { Wake } from '#runtime/controller.ts';

export interface CommandResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly truncated: boolean;
  readonly elapsedSeconds: number;
  /** The message that assigned the attempt. */
  readonly sourceMessageId?: string;
  /** HEAD of the workspace when the command ended; absent without git. */
  readonly commit?: string;
  readonly artifacts?: readonly { readonly name: string; readonly path?: string; readonly sizeBytes?: number }[];
  /** Of a prompt only. */
  readonly stopReason?: string;
  readonly sessionId?: string;
  readonly evidence?: { readonly toolCalls: number; readonly filesChanged: number };
  readonly usage?: {
    readonly inputTokens: number;
    readonly outputTokens: number;
    readonly costUsd?: number;
    readonly contextTokens?: number;
  };
}

/** What whoever ran a prompt says of it beyond its result. */
export interface PromptEnd {
  /** Absent: done, as far as anybody can tell. */
  readonly error?: { readonly code: string; readonly message: string };
  /** The provider wants no more before this time. */
  readonly retryAt?: string;
  /** For people to hear of. */
  readonly notes: readonly { readonly reason: string; readonly message: string }[];
}

/** What a guest says of an attempt and goes on saying until it is accepted. */
export interface Outcome {
  readonly agentUid: string;
  readonly taskUid: string;
  readonly attempt: number;
  readonly fencingToken: number;
  /** Absent: the attempt was started and is lost; nobody knows how far it came. */
  readonly result?: CommandResult;
  readonly timedOut?: boolean;
  readonly prompt?: PromptEnd;
}

export interface Attempts {
  /** Idempotent by task uid and attempt; on disk when it resolves. Rejects with InboxFull or Unavailable. */
  assign(agent: Agent, task: Task): Promise<void>;
  /** What was reported of this task and is not accepted yet. */
  outcomes(taskUid: string): readonly Outcome[];
  /** Call it only when Task.status holds the outcome, durably, or is not going to. Idempotent; a guest that cannot be asked is told later. */
  accept(outcome: Outcome): Promise<void>;
  /**
   * After `ended` the attempt neither runs nor will ever start in that workspace. `unreachable`: not known to have ended by now; ask
   * again, it is tried until the guest answers.
   */
  revoke(agentUid: string, taskUid: string, attempt: number): Promise<'ended' | 'unreachable'>;
  /**
   * Lets an attempt stand still, or go on; its lease goes on, and its time limit does not. Idempotent. False: the guest could not be told.
   */
  freeze(agentUid: string, asked: { readonly taskUid: string; readonly attempt: number; readonly isFrozen: boolean }): Promise<boolean>;
  /** When a heartbeat last said that the attempt is running, by the clock of awakeMs(). */
  lastSeenMs(taskUid: string, attempt: number): number | undefined;
  /** When that run of an agent last said what it does, by the clock of awakeMs(). Undefined: it has not, to this process and in this session. */
  agentSeenMs(agentUid: string, incarnation: string): number | undefined;
  /** Whether that run of an agent was ended on purpose, by the stop of the daemon before this one. */
  wasStopped(incarnation: string): boolean;
  /** Wakes a Task of which something was reported. */
  readonly wake: Wake;
}
