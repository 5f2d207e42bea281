// Generated from crds/ by `npm run generate`. Do not edit.

/**
 * What is to be kept. Cannot change after creation.
 */
export interface SnapshotSpec {
  /**
   * Name of the Team in the same namespace that the agent belongs to.
   */
  team: string;
  /**
   * Full name of the Agent whose files are kept. Absent for the golden snapshot of a Team.
   */
  agent?: string;
  /**
   * Hash of the Team's spec.golden that the files are prepared for. Set by the Team, which makes and removes such a Snapshot itself; people leave it out.
   */
  golden?: string;
}

/**
 * What the controllers have seen. Written by controllers only.
 */
export interface SnapshotStatus {
  /**
   * How far it is. Pending, Ready when its files are kept, or Failed.
   */
  phase?: 'Pending' | 'Ready' | 'Failed';
  /**
   * Disk it takes, in bytes. Blocks it shares with others are counted too.
   */
  bytes?: number;
  /**
   * The moment it shows.
   */
  takenAt?: string;
  /**
   * Uid of the agent.
   */
  agentUid?: string;
  /**
   * Run of the agent it was taken in. Absent when it was taken of an agent that did not run.
   */
  incarnation?: string;
  /**
   * What ran the workspace; only that can use it.
   */
  driver?: string;
  /**
   * Last commit of the agent that the team's repository had then; forks begin there. Absent without a repository.
   */
  commit?: string;
  /**
   * What is true of the snapshot now, and why. Ready is True once its files are kept.
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
