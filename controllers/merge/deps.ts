/** What the merge controller needs from the rest of the daemon. */
import type { Agent, Merge } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import type { Landing, TeamRepositories, TeamRepository } from '#git/team-repository.ts';
import type { Notices } from '#relay/notices.ts';
import type { Wake } from '#runtime/controller.ts';

/** The commits of an agent, as they are in its team's repository now. */
export type Collected =
  | { readonly state: 'collected'; readonly head: string; readonly uncommittedFiles: readonly string[] }
  | { readonly state: 'failed'; readonly reason: string; readonly message: string };

/** What is in workspaces comes out, and goes in, through their guests. */
export interface AgentWork {
  /** Out of the workspace, now; of an agent that does not run, what was last saved. */
  collect(agent: Agent, path: string, signal: AbortSignal): Promise<Collected>;
  /** The branch of the agent's own repository; the one that is checked out when none is named. */
  target(
    agent: Agent,
    wanted: { readonly path: string; readonly branch?: string },
    signal: AbortSignal,
  ): Promise<{ readonly branch: string; readonly commit: string | undefined } | { readonly problem: string; readonly message: string }>;
  land(
    agent: Agent,
    move: { readonly path: string; readonly branch: string; readonly from: string | undefined; readonly to: string },
    repository: TeamRepository,
    signal: AbortSignal,
  ): Promise<Landing>;
}

export interface CommitVerification {
  readonly commit: string;
  readonly passed: boolean;
  readonly commands: readonly { readonly command: string; readonly exitCode: number; readonly output: string }[];
}

export interface CommitVerifier {
  /** Begins, or goes on with it; idempotent by merge uid and commit. Undefined: not done yet, `wake` says when. */
  verify(merge: Merge, commit: string, commands: readonly string[], repository: TeamRepository): Promise<CommitVerification | undefined>;
  forget(mergeUid: string): Promise<void>;
  readonly wake: Wake;
}

export interface MergeDeps {
  readonly client: Client;
  readonly repositories: TeamRepositories;
  readonly work: AgentWork;
  /** Tasks have a verifier of their own. */
  readonly mergeVerifier: CommitVerifier;
  readonly notices: Notices;
}
