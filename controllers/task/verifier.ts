/** What the task controller asks of whoever runs `verify` commands in a fresh copy of the workspace. */
import type { Agent, Task } from '#api/types.ts';
import type { Wake } from '#runtime/controller.ts';

export interface Verification {
  readonly attempt: number;
  /** Absent where the workspace is no git repository. */
  readonly commit?: string;
  readonly passed: boolean;
  readonly commands: readonly { readonly command: string; readonly exitCode: number; readonly output: string }[];
}

export interface Verifier {
  /**
   * Begins, or goes on with, the verification of the task's present attempt; idempotent by task uid and attempt. Undefined: not done yet,
   * `wake` says when. A verification that the daemon did not live to finish is begun anew; its leftovers are removed.
   */
  verify(task: Task, agent: Agent): Promise<Verification | undefined>;
  /** The status holds the outcome, or nobody wants it any more. */
  forget(taskUid: string): Promise<void>;
  readonly wake: Wake;
}
