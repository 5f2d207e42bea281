// Generated from crds/ by `npm run generate`. Do not edit.

/**
 * What is to be merged, and how.
 */
export interface MergeSpec {
  /**
   * Name of the Team in the same namespace whose work is merged. Cannot change after creation.
   */
  team: string;
  /**
   * The agents whose commits are merged, in this order.
   */
  sources: {
    /**
     * Short or full name of the agent.
     */
    agent: string;
    /**
     * Commit after which the agent's work begins. Absent means the commit its workspace started from.
     */
    base?: string | null;
  }[];
  /**
   * What receives the work; an agent's repository, a branch, or a branch of an agent's repository.
   */
  target: {
    /**
     * Short or full name of the agent whose repository receives the work. Absent means the team's repository.
     */
    agent?: string;
    /**
     * Branch that receives the work. Absent means the branch the target has checked out.
     */
    branch?: string;
  };
  /**
   * How the work is joined. sequential (the default) merges one source after the other, branch-per-source keeps a branch for each, cherry-pick takes commit by commit.
   */
  strategy: 'sequential' | 'branch-per-source' | 'cherry-pick';
  /**
   * Message of the commits that the merge itself makes. Absent means one that names the sources.
   */
  commitMessage?: string | null;
  /**
   * Shell commands that must all exit with 0, run in a fresh workspace at the merged commit before the target moves.
   */
  verify?: string[];
  /**
   * Required means that somebody who wrote none of it must approve the merged commit before it lands; None (the default) that nobody needs to.
   */
  approval: 'None' | 'Required';
  /**
   * What happens on a conflict. Report (the default) tells the lead, CreateTask also opens a Task for the agent whose work does not fit.
   */
  onConflict: 'Report' | 'CreateTask';
  /**
   * If true, uncommitted changes in a source are listed and left behind. If false (the default) they stop the merge.
   */
  allowDirty: boolean;
  /**
   * Folder of the repository inside the workspaces. Default /workspace.
   */
  path: string;
}

/**
 * What the controllers have seen. Written by controllers only.
 */
export interface MergeStatus {
  /**
   * How far the merge is. Pending, Queued behind another merge into the same repository, Merging, Merged, Conflicted, or Failed.
   */
  phase?: 'Pending' | 'Queued' | 'Merging' | 'Merged' | 'Conflicted' | 'Failed';
  /**
   * One word for why it Failed, for example TargetDirty or VerifyFailed.
   */
  reason?: string;
  /**
   * Place in the queue of its target; 1 is next. Absent when it is not waiting.
   */
  position?: number;
  /**
   * What it waits for, for people.
   */
  waitsFor?: string;
  /**
   * The merged commit that is verified, approved or about to land.
   */
  candidate?: string;
  /**
   * Who approved which commit. Void when the merged commit is another.
   */
  approval?: {
    /**
     * Who, taken from the connection it came in on.
     */
    by?: string;
    /**
     * The commit.
     */
    commit?: string;
    /**
     * When.
     */
    time?: string;
  };
  /**
   * What the commands of verify gave, at the commit they last ran at.
   */
  verification?: {
    /**
     * Commit they ran at.
     */
    commit?: string;
    /**
     * True if all of them exited with 0.
     */
    passed?: boolean;
    /**
     * One entry per command that ran. The first that fails is the last.
     */
    commands?: {
      /**
       * The command.
       */
      command: string;
      /**
       * Its exit code. -1 means it timed out or could not start.
       */
      exitCode: number;
      /**
       * The end of what it printed.
       */
      output?: string;
    }[];
  };
  /**
   * Commits of all sources that reached the target.
   */
  totalCommitsApplied?: number;
  /**
   * Commit of the target before the merge.
   */
  targetBefore?: string;
  /**
   * Commit of the target after the merge. Absent unless it moved.
   */
  targetAfter?: string;
  /**
   * What became of each source.
   */
  sources?: {
    /**
     * The agent, as named in spec.sources.
     */
    agent: string;
    /**
     * How far this source is. Merged also when it had nothing new.
     */
    phase?: 'Pending' | 'Merged' | 'Conflicted' | 'Failed';
    /**
     * One word for why it Failed, for example NoForkBase or UncommittedChanges.
     */
    reason?: string;
    /**
     * A sentence that says why, for people.
     */
    message?: string;
    /**
     * Commit its work began after.
     */
    base?: string;
    /**
     * Last commit of its work.
     */
    head?: string;
    /**
     * Commits of it that reached the target.
     */
    commitsApplied?: number;
    /**
     * Branch kept for it by branch-per-source.
     */
    branch?: string;
    /**
     * Files with changes that were not committed and therefore not merged.
     */
    uncommittedFiles?: string[];
  }[];
  /**
   * What does not fit. Complete, because later sources are still tried after a conflict.
   */
  conflicts?: {
    /**
     * The agent whose work does not fit.
     */
    source: string;
    /**
     * Commit that does not fit. Absent when a source was merged as a whole.
     */
    commit?: string;
    /**
     * Tasks whose commits are on either side of the conflict.
     */
    tasks?: string[];
    /**
     * The files in conflict.
     */
    files?: {
      /**
       * Path in the repository.
       */
      path: string;
      /**
       * What clashes. content (same lines changed), add/add, modify/delete, rename, or binary.
       */
      kind: 'content' | 'add/add' | 'modify/delete' | 'rename' | 'binary';
      /**
       * Where in the target's side of the file, for files that have lines.
       */
      hunks?: {
        /**
         * First line, from 1.
         */
        startLine: number;
        /**
         * Lines there in the target.
         */
        oursLines?: number;
        /**
         * Lines that the source would put there.
         */
        theirsLines?: number;
      }[];
    }[];
  }[];
  /**
   * When the merge left the queue.
   */
  startedAt?: string;
  /**
   * When it ended.
   */
  finishedAt?: string;
  /**
   * What is true of the merge now, and why. Ready is True once the work has landed.
   */
  conditions?: {
    /**
     * Name of the condition.
     */
    type: string;
    /**
     * Whether it holds; True, False or Unknown.
     */
    status: 'True' | 'False' | 'Unknown';
    /**
     * One word that says why, for programs.
     */
    reason: string;
    /**
     * A sentence that says why, for people. May be empty.
     */
    message: string;
    /**
     * When status last changed.
     */
    lastTransitionTime: string;
    /**
     * Generation of the spec this was seen for.
     */
    observedGeneration?: number;
  }[];
  /**
   * Generation of the spec that the whole status was computed for.
   */
  observedGeneration?: number;
}
