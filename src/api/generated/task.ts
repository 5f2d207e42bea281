// Generated from crds/ by `npm run generate`. Do not edit.

/**
 * What is to be done. People, leads and orchestrators write it.
 */
export interface TaskSpec {
  /**
   * Name of the Team in the same namespace whose agents do the Task. Cannot change after creation.
   */
  team: string;
  /**
   * What the Task is about, in one line. Absent means its name is shown.
   */
  title?: string;
  /**
   * What is to be done and why, as text or Markdown. Shown on the board and given to the agent.
   */
  description?: string;
  /**
   * What must be true when the Task is done, one sentence each. For readers; verify holds what a machine can check.
   */
  acceptanceCriteria?: string[];
  /**
   * Agent or role that should do it, by short or full name. Absent means any agent of the team may claim it.
   */
  assignTo?: string;
  /**
   * Skills an agent must have to do it, all of them. Absent means any agent that assignTo allows.
   */
  skills?: string[];
  /**
   * Order among Tasks that could start, 1 (first) to 5 (last). Equal ones start in order of creation. Default 3.
   */
  priority: number;
  /**
   * Tasks of the same team that must have succeeded before this one may start, by short or full name. Until then it is Blocked.
   */
  dependsOn?: string[];
  /**
   * Shell command to run in the workspace. Exit code 0 is success. Set either this or prompt. {{tasks.NAME.result.stdout}} (also stderr, exitCode, commit) stands for what a Task of dependsOn gave; here it is always one word and never code. Write {{"{{"}} for two braces as they are.
   */
  command?: string | null;
  /**
   * Text to give to the agent's backend, at most 100 KiB. Set either this or command. {{tasks.NAME.result.stdout}} and its like are replaced by the text as it is.
   */
  prompt?: string | null;
  /**
   * How a prompt is given to the agent. Session, which is meant when it is absent, opens a session of the Agent Client Protocol, OneShot starts the program for one answer.
   */
  promptMode?: 'Session' | 'OneShot';
  /**
   * Shell commands that must all exit with 0, run in a fresh workspace at the commit of the result. Only then does the Task succeed. All together get timeoutSeconds; they see the environment of the Task and no network.
   */
  verify?: string[];
  /**
   * Folder to run in, at or below /workspace. Default /workspace.
   */
  workdir: string;
  /**
   * Plain environment variables for this Task. Not for secrets, which belong in the role's envFrom.
   */
  env?: {
    [k: string]: string;
  };
  /**
   * Longest time one attempt may take, in seconds, 1 to 1800. Then everything it started is killed. Absent means 300 for a command and 1800 for a prompt.
   */
  timeoutSeconds?: number;
  /**
   * How often the Task is tried before it is Failed, 1 to 100. Attempts are some seconds apart. Default 3.
   */
  maxAttempts: number;
  /**
   * What the Task may use in all its attempts together. What it may use is set aside from its team's budget when it is claimed, and what it has not used is given back. A running Task that has used it up is frozen until it may use more.
   */
  budget?: {
    /**
     * Tokens that the Task may use, of the question and of the answer, cached ones included. Absent means no limit.
     */
    tokens?: number | null;
    /**
     * Money that the Task may cost, in US dollars as text, for example "2.50": a number would not be exact. Counted only for models that have a price in HOME/credentials.yaml. Absent means no limit.
     */
    usd?: string | null;
    /**
     * Wall time that the Task may take, in seconds, time it was frozen left out. Absent means no limit.
     */
    seconds?: number | null;
  };
  /**
   * If true, the agent first submits a plan and works only after the lead has approved it. Default false.
   */
  planRequired: boolean;
  /**
   * What happens when the Task runs far longer than others without progress. Report (the default) only tells the lead, Reassign also gives it to another agent.
   */
  stuckPolicy: 'Report' | 'Reassign';
  /**
   * Glob patterns of the files the Task will touch, relative to the workspace. Running Tasks that overlap are marked. One that may touch files in which branches of its team do not fit waits while others can run.
   */
  files?: string[];
  /**
   * Free words to sort and find Tasks by.
   */
  tags?: string[];
  /**
   * Raise it by one to try a Task that has Failed once more, with all its attempts. Tasks that wait for it go on if it succeeds then. Default 0.
   */
  retry: number;
  /**
   * Makes the Task an open request to the team. Nobody is assigned to it; any agent but the one that asks may claim it. Nobody has claimed it in time, and it is Failed with reason RequestExpired.
   */
  request?: {
    /**
     * Who asks, by short name; orchestrator for people.
     */
    by: string;
    /**
     * Seconds from its creation until it must be claimed, 1 to 86400. Default 30.
     */
    timeoutSeconds: number;
  };
  /**
   * Set to true to give the Task up. A running attempt is killed and the Task ends as Failed with reason Cancelled.
   */
  cancelled: boolean;
  /**
   * Seconds after its end when the Task is deleted. Absent means it stays as long as the team.
   */
  ttlSecondsAfterFinished?: number | null;
}

/**
 * What the controllers have seen. Written by controllers only.
 */
export interface TaskStatus {
  /**
   * How far the Task is. Pending, Blocked (waits for other Tasks or a decision), Claimed by an agent, Running, Succeeded, or Failed for good.
   */
  phase?: 'Pending' | 'Claimed' | 'Running' | 'Blocked' | 'Succeeded' | 'Failed';
  /**
   * One word for why it is Blocked or Failed, for example DependenciesPending or MaxAttempts.
   */
  reason?: string;
  /**
   * Full name of the Agent that has claimed it, or finished it, for example hello-greeter.
   */
  owner?: string;
  /**
   * Run of that agent the claim was made for. If the agent restarts, the next run says what became of the attempt.
   */
  ownerIncarnation?: string;
  /**
   * Number of the present or last attempt. 0 before the first claim.
   */
  attempt?: number;
  /**
   * How many attempts failed or were lost. At maxAttempts the Task is Failed. Attempts that were cut off on purpose, by a stop of the daemon or of the agent, or because the Task was reassigned, are not counted.
   */
  failures?: number;
  /**
   * The value of spec.retry that was last acted on.
   */
  retries?: number;
  /**
   * How the owner came to it. Assigned by the controller, which also starts the command; or Pulled by the agent itself, which then says when it is done.
   */
  claim?: 'Assigned' | 'Pulled';
  /**
   * Number that rises with every claim. A result that carries an older one is refused.
   */
  fencingToken?: number;
  /**
   * The owner's claim for a limited time. If it is not renewed the Task goes back to Pending.
   */
  lease?: {
    /**
     * Incarnation of the agent that holds it.
     */
    holder?: string;
    /**
     * When the claim was made or, once its holder has fallen silent, last renewed. Heartbeats renew it every 10 seconds, in memory.
     */
    renewTime?: string;
    /**
     * When it ends unless renewed, 30 seconds after renewTime. Both are written with the claim, and again when its holder falls silent.
     */
    expires?: string;
  };
  /**
   * Tasks of dependsOn that have not succeeded yet.
   */
  blockedBy?: string[];
  /**
   * Who created the Task, taken from the connection it came in on.
   */
  createdBy?: string;
  /**
   * When the present or last attempt started.
   */
  startedAt?: string;
  /**
   * A provider wants no more before this time. Until then the Task is Pending with reason RateLimited.
   */
  notBefore?: string;
  /**
   * When the Task reached Succeeded or Failed.
   */
  finishedAt?: string;
  /**
   * What the owner last said about the Task.
   */
  progress?: {
    /**
     * Its own words.
     */
    text?: string;
    /**
     * When it said so.
     */
    time?: string;
  };
  /**
   * The plan of a Task with planRequired. Whether it is approved is the condition PlanApproved.
   */
  plan?: {
    /**
     * Number of the plan submitted, 1 to 3. A third refusal fails the Task.
     */
    round?: number;
    /**
     * The plan.
     */
    text?: string;
    /**
     * When it was submitted. It must be answered within 10 minutes.
     */
    submittedAt?: string;
    /**
     * What the lead answered.
     */
    feedback?: string;
    /**
     * True if the workspace is really read-only until approval, false if the driver cannot do that.
     */
    enforced?: boolean;
  };
  /**
   * What the commands of verify gave, for the last attempt that came so far.
   */
  verification?: {
    /**
     * Attempt that was verified.
     */
    attempt?: number;
    /**
     * Commit they ran at. Absent if the workspace is no git repository; then they ran in a copy of its files.
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
   * What the Task has used, and may use. Absent while nothing of it is counted.
   */
  budget?: {
    /**
     * What all its attempts have used so far.
     */
    used?: {
      /**
       * Used in tokens.
       */
      tokens?: number;
      /**
       * Used in US dollars.
       */
      usd?: string;
      /**
       * Used in seconds.
       */
      seconds?: number;
      /**
       * Of its tokens, those of models that have no price; they are not in usd.
       */
      unpricedTokens?: number;
    };
    /**
     * What it may use in all, as far as it is set aside. Absent while it is not claimed, and where there is no limit.
     */
    reserved?: {
      /**
       * Set aside in tokens.
       */
      tokens?: number;
      /**
       * Set aside in US dollars.
       */
      usd?: string;
      /**
       * Set aside in seconds.
       */
      seconds?: number;
    };
    /**
     * How long the present attempt was frozen, before it was last thawed.
     */
    frozenSeconds?: number;
  };
  /**
   * What the last finished attempt gave.
   */
  result?: {
    /**
     * Exit code. 0 is success, -1 means it was killed at its time limit or could not start.
     */
    exitCode?: number;
    /**
     * Standard output, or the last text of the agent. Cut to keep the object small; the whole is an artifact.
     */
    stdout?: string;
    /**
     * Standard error. Cut to keep the object small; the whole is an artifact.
     */
    stderr?: string;
    /**
     * True if stdout or stderr was cut.
     */
    truncated?: boolean;
    /**
     * How long the attempt took, in seconds.
     */
    elapsedSeconds?: number;
    /**
     * Commit that holds the work. Absent if nothing was committed.
     */
    commit?: string;
    /**
     * Id of the message that assigned the attempt.
     */
    sourceMessageId?: string;
    /**
     * Of a prompt, why the agent's last turn ended, by the word of the Agent Client Protocol, for example end_turn.
     */
    stopReason?: string;
    /**
     * Of a prompt, the agent's own name for the session.
     */
    sessionId?: string;
    /**
     * Of a prompt, the traces that the agent's work has left. Without any the attempt has failed.
     */
    evidence?: {
      /**
       * How many tools it called.
       */
      toolCalls?: number;
      /**
       * How many files of the workspace are different from before.
       */
      filesChanged?: number;
    };
    /**
     * Of a prompt, what the agent says it has used. Absent if it says nothing.
     */
    usage?: {
      /**
       * Tokens that the model has read.
       */
      inputTokens?: number;
      /**
       * Tokens that the model has written.
       */
      outputTokens?: number;
      /**
       * Tokens that were in the agent's context at last.
       */
      contextTokens?: number;
      /**
       * What the agent reckons it cost, in US dollars.
       */
      costUsd?: number;
    };
    /**
     * Files kept with the Task, such as full logs.
     */
    artifacts?: {
      /**
       * Name of the artifact, unique in the Task.
       */
      name: string;
      /**
       * Where it is kept, below the artifacts folder of the team.
       */
      path?: string;
      /**
       * Size in bytes.
       */
      sizeBytes?: number;
    }[];
  };
  /**
   * Remarks of agents, oldest first.
   */
  notes?: {
    /**
     * When it was written.
     */
    time?: string;
    /**
     * Who wrote it, taken from the connection it came in on.
     */
    author?: string;
    /**
     * The remark.
     */
    text: string;
  }[];
  /**
   * What is true of the Task now, and why. Ready means it can be claimed; PlanApproved, Verified, Stuck and FileOverlap appear where they apply.
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
