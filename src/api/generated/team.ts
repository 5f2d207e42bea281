// Generated from crds/ by `npm run generate`. Do not edit.

/**
 * What the team should be. People write it; controllers make the machine match.
 */
export interface TeamSpec {
  /**
   * What the team is for, in a sentence or two. Shown to people and to the agents.
   */
  description?: string;
  /**
   * Name of the Team in the same namespace that this one is nested in. Its policy and budget bound this team, and deleting it deletes this team. Cannot change after creation; absent means a top-level team.
   */
  parent?: string | null;
  /**
   * Holds the team while true. No further Task is handed out, its agents are stopped, and a Task that runs is handed back. Sub-teams go on. Default false.
   */
  suspend: boolean;
  /**
   * The git repository that every workspace starts as a copy of, given by path or by url. Absent means empty workspaces.
   */
  repo?: {
    /**
     * Absolute path of a git repository on the machine that runs agentiso.
     */
    path?: string | null;
    /**
     * Address of a remote git repository, for example https://example.com/shop.git or git@example.com:shop.git. Do not put a password in it.
     */
    url?: string | null;
    /**
     * Branch, tag or commit the workspaces start from. Default main.
     */
    ref: string;
  };
  /**
   * The kinds of agents the team has, and how many of each. A role with count 1 gives the agent <team>-<role>, a larger count <team>-<role>-1 and so on.
   */
  roles: {
    /**
     * Name of the role inside the team, and the start of its agents' names. Tasks are assigned to it by this name. The name lead marks the one agent that leads the team.
     */
    name: string;
    /**
     * How many agents of this role to run. Lowering it removes the highest numbers once they are idle. Default 1.
     */
    count: number;
    /**
     * A free word for what these agents are, for example developer or reviewer. Absent means the name of the role.
     */
    role?: string;
    /**
     * What an agent of this role should do and know. The agent is given this text and others see it on its card.
     */
    description?: string;
    /**
     * What these agents are good at, for example rust or sql. Others find them by it.
     */
    skills?: string[];
    /**
     * What does the work inside the workspace. shell (the default) only runs commands; the others are coding agents, acp is any agent that speaks the Agent Client Protocol.
     */
    backend: 'shell' | 'claude-code' | 'codex' | 'gemini' | 'qwen' | 'droid' | 'opencode' | 'acp';
    /**
     * Backend to use when the first one is not installed. Absent means none, and the agent then reports BackendMissing instead of starting.
     */
    fallback?: string | null;
    /**
     * Model the backend should use, by the backend's own name for it. Absent means the backend's configured model.
     */
    model?: string | null;
    /**
     * What the agent may do of what it asks about first. Some things are never allowed, whatever is said here: forced pushes, hard resets, recursive forced removals, writes to raw devices, destructive SQL, power-off, and changes of files outside the workspace. Absent means that everything else is allowed: the workspace is the boundary.
     */
    permissions?: {
      /**
       * The first rule that fits decides. What none fits is denied.
       */
      rules?: {
        /**
         * allow, deny, or ask the lead, who is a person where the team has no agent lead.
         */
        action: 'allow' | 'ask' | 'deny';
        /**
         * What kind of thing the tool does. Absent means any.
         */
        kind?: 'read' | 'edit' | 'delete' | 'move' | 'search' | 'execute' | 'think' | 'fetch' | 'switch_mode' | 'other';
        /**
         * Name or title of the tool; * stands for anything. Absent means any.
         */
        tool?: string;
        /**
         * Command line that the tool would run; * stands for anything. Absent means any, and tools that run none.
         */
        command?: string;
      }[];
      /**
       * How long an answer may take, 1 to 1800 seconds. Then it is no. Default 300.
       */
      askSeconds: number;
    };
    /**
     * Provider of models whose key the agent's requests are given, by its name in HOME/credentials.yaml. Absent means the backend's own: anthropic for claude-code, gemini for gemini, openai for codex, qwen, droid and opencode, none for shell and acp.
     */
    provider?: string | null;
    /**
     * What the Tasks of the agent together may use, beside what their teams allow; each agent of a role has it for itself. Set aside when it claims a Task; what was not used is given back. With nothing left the agent gets no new Task, and what runs is frozen until it may use more.
     */
    budget?: {
      /**
       * Tokens that the agent may use, of the question and of the answer, cached ones included. Absent means no limit.
       */
      tokens?: number | null;
      /**
       * Money that the agent may cost, in US dollars as text, for example "2.50": a number would not be exact. Counted only for models that have a price in HOME/credentials.yaml. Absent means no limit.
       */
      usd?: string | null;
      /**
       * Wall time that the agent's Tasks may take, in seconds, time they were frozen left out. Absent means no limit.
       */
      seconds?: number | null;
    };
    /**
     * Image of the catalogue the workspace starts from, for example base, python, rust or agents. Default base, which has git and node.
     */
    image: string;
    /**
     * Size of each workspace. A change replaces the workspace when it has no running Task.
     */
    resources: {
      /**
       * Processor cores, 1 to 8. Default 2.
       */
      vcpus: number;
      /**
       * Memory in MiB, 64 to 8192. Default 512.
       */
      memoryMiB: number;
      /**
       * Disk in GiB, 1 to 100. Default 10.
       */
      diskGiB: number;
    };
    /**
     * What happens when the agent's process ends. OnFailure (the default) restarts it after an error, Always also after a clean end, Never leaves it stopped. The disk is kept.
     */
    restartPolicy: 'Always' | 'OnFailure' | 'Never';
    /**
     * How many Tasks each agent of the role may have in work at once, 1 to 64. Without it each Agent says so itself, 4 unless it is changed there.
     */
    maxConcurrentTasks?: number;
    /**
     * Secrets to pass in as environment variables. Only their names are written here; the values stay in memory.
     */
    envFrom?: {
      /**
       * Name of an environment variable of the agentiso daemon. The agent gets it under the same name; if it is missing the agent does not start and says SecretMissing.
       */
      hostEnv: string;
    }[];
    /**
     * Ports of the workspace that are reachable on 127.0.0.1 of the machine.
     */
    portForwards?: {
      /**
       * TCP port inside the workspace, 1 to 65535.
       */
      guestPort: number;
      /**
       * TCP port on 127.0.0.1, 1024 to 65535 and not one that agentiso itself uses. Absent means a free one from 30000 to 32767, shown in the agent's status.
       */
      hostPort?: number | null;
    }[];
    /**
     * JSON Schema of the input these agents accept. Shown on their cards; absent means any.
     */
    inputSchema?: {
      [k: string]: unknown;
    };
    /**
     * JSON Schema of the output these agents give. Shown on their cards; absent means any.
     */
    outputSchema?: {
      [k: string]: unknown;
    };
  }[];
  /**
   * Work the team starts with. Each entry becomes a Task named <team>-<name>; more can be added at any time as Task documents of their own.
   */
  tasks?: {
    /**
     * Short name of the task inside the team. Other tasks name it in dependsOn.
     */
    name: string;
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
     * Set to true to give the Task up. A running attempt is killed and the Task ends as Failed with reason Cancelled.
     */
    cancelled: boolean;
    /**
     * Seconds after its end when the Task is deleted. Absent means it stays as long as the team.
     */
    ttlSecondsAfterFinished?: number | null;
  }[];
  /**
   * If present, the work of every agent is merged once all Tasks of the team are done. Absent means nothing is merged by itself.
   */
  merge?: {
    /**
     * How the work is joined. sequential (the default) merges one source after the other, branch-per-source keeps a branch for each, cherry-pick takes commit by commit.
     */
    strategy: 'sequential' | 'branch-per-source' | 'cherry-pick';
    /**
     * Branch of the team's repository that receives the work. Default main.
     */
    into: string;
  };
  /**
   * Most Tasks of this team that are worked on at once, those of sub-teams not counted. Absent means as many as its agents take.
   */
  maxParallelTasks?: number | null;
  /**
   * How large the team may grow, and what its Tasks may use. Agents of a sub-team are reserved from it when the sub-team is created, tokens, money and time of a Task when the Task is claimed.
   */
  budget: {
    /**
     * Most agents of this team and all its sub-teams together, whatever their driver. Default 10.
     */
    maxAgents: number;
    /**
     * Deepest level a sub-team may have; a top-level team is level 0, its sub-team level 1. Default 3.
     */
    maxDepth: number;
    /**
     * Tokens that the Tasks of this team and of its sub-teams together may use, of the question and of the answer, cached ones included. Absent means no limit.
     */
    tokens?: number | null;
    /**
     * Money that the Tasks of this team and of its sub-teams together may cost, in US dollars as text, for example "2.50": a number would not be exact. Counted only for models that have a price in HOME/credentials.yaml. Absent means no limit.
     */
    usd?: string | null;
    /**
     * Wall time that the Tasks of this team and of its sub-teams together may take, in seconds, time it was frozen left out. Absent means no limit.
     */
    seconds?: number | null;
  };
  /**
   * How strongly workspaces are kept apart from the machine. From weak to strong, process, sandbox, vm.
   */
  isolation: {
    /**
     * What runs the workspaces. auto (the default) takes the strongest that works on this machine.
     */
    driver: 'auto' | 'process' | 'sandbox' | 'vm';
    /**
     * Weakest isolation that is acceptable. If the machine cannot give it, agents do not start. Default process.
     */
    minimum: 'process' | 'sandbox' | 'vm';
    /**
     * If true, agents start only where limits on memory, processor and processes can be enforced. Default false.
     */
    requireLimits: boolean;
  };
  /**
   * What the agents may reach. Everything is denied unless allowed here; a sub-team never gets more than its parent.
   */
  network: {
    /**
     * If true, agents reach the internet, but never private or host addresses. Default false.
     */
    allowInternet: boolean;
    /**
     * If true, agents of the team reach each other directly. Messages work without it. Default false.
     */
    allowInterAgent: boolean;
    /**
     * TCP ports, 1 to 65535, that agents may use among each other. Empty or absent means all, if allowInterAgent is true.
     */
    allowedPorts?: number[];
    /**
     * IPv4 ranges that agents may reach in addition, private ones included, for example 192.168.7.0/24.
     */
    allowCidrs?: string[];
    /**
     * Names that agents may reach by HTTP and HTTPS through the proxy of agentiso, even without internet. An exact name such as registry.npmjs.org, or *.example.com for everything below one.
     */
    allowDomains?: string[];
  };
  /**
   * How agents of the team talk to each other.
   */
  messaging: {
    /**
     * If false, the message tools of the team are off and answer Unavailable. Default true.
     */
    enabled: boolean;
    /**
     * Who may write to all agents at once. Lead (the default) means the lead and the orchestrator, Any means every agent.
     */
    broadcast: 'Lead' | 'Any';
  };
  /**
   * Which agents may create sub-teams of this team; None, only the Lead, or Any. Default Any.
   */
  subTeams: 'None' | 'Lead' | 'Any';
  /**
   * A prepared snapshot that every member starts from, made once and again when this part changes. Absent means members start from the image of their role.
   */
  golden?: {
    /**
     * Take the snapshot of this agent, written <team>/<agent>, instead of preparing one.
     */
    from?: string | null;
    /**
     * Image of the catalogue the preparation starts from. Default base.
     */
    image: string;
    /**
     * Address of a git repository to clone into the workspace first. Do not put a password in it.
     */
    gitUrl?: string | null;
    /**
     * Shell commands to run in order, at most 300 seconds each. One that fails stops the preparation.
     */
    setupCommands?: string[];
    /**
     * Name of the snapshot. Default golden.
     */
    snapshot: string;
    /**
     * If true, the preparation may use the internet. The members still follow network. Default false.
     */
    allowInternet: boolean;
  };
  /**
   * Seconds an agent gets to end in good order before it is killed, 0 to 3600. Default 30.
   */
  terminationGracePeriodSeconds: number;
}

/**
 * What the controllers have seen. Written by controllers only.
 */
export interface TeamStatus {
  /**
   * Where the team is in its life. Creating until every agent is ready, Ready, Working while a Task is claimed or runs, Completing while results are collected or merged, Terminating while it is being deleted, Destroyed when gone.
   */
  phase?: 'Creating' | 'Ready' | 'Working' | 'Completing' | 'Terminating' | 'Destroyed';
  /**
   * The agents of the team, sub-teams not counted.
   */
  members?: {
    /**
     * Short name of the agent inside the team.
     */
    name: string;
    /**
     * Name of the role it was made from.
     */
    role?: string;
    /**
     * Phase of the agent.
     */
    phase?: string;
    /**
     * Driver that really runs it; process, sandbox or vm.
     */
    isolation?: string;
    /**
     * Address of its workspace. Absent if it has none of its own.
     */
    ip?: string;
    /**
     * Messages in its inbox that it has not acknowledged.
     */
    messagesPending?: number;
    /**
     * Id of its workspace, which is the uid of the Agent.
     */
    workspaceId?: string;
    /**
     * Id of its present run. New at every start.
     */
    incarnation?: string;
  }[];
  /**
   * How many Tasks of the team are in each phase.
   */
  taskSummary?: {
    /**
     * All Tasks.
     */
    total?: number;
    /**
     * Tasks that wait for an agent.
     */
    pending?: number;
    /**
     * Tasks an agent has taken but not started.
     */
    claimed?: number;
    /**
     * Tasks in work.
     */
    running?: number;
    /**
     * Tasks that wait for other Tasks or for a decision.
     */
    blocked?: number;
    /**
     * Tasks done.
     */
    succeeded?: number;
    /**
     * Tasks that failed for good.
     */
    failed?: number;
  };
  /**
   * Messages for people that nobody has acknowledged; agentiso inbox shows them.
   */
  messagesPending?: number;
  /**
   * What of budget.maxAgents is taken.
   */
  budget?: {
    /**
     * Agents of the team itself.
     */
    used?: number;
    /**
     * Agents set aside for direct sub-teams, the sum of their maxAgents.
     */
    reserved?: number;
    /**
     * Agents that may still be added, here or set aside for a sub-team.
     */
    remaining?: number;
    /**
     * What is set aside for whom. A sub-team starts only when it stands here with its whole maxAgents.
     */
    reservations?: {
      /**
       * Uid of the sub-team.
       */
      uid: string;
      /**
       * Its name.
       */
      name: string;
      /**
       * Agents set aside for it and its own sub-teams.
       */
      maxAgents: number;
    }[];
  };
  /**
   * What of the team's tokens, money and time is used or set aside. Absent while the team has no such limit.
   */
  spending?: {
    /**
     * What Tasks that are not claimed any more have used, those of sub-teams and deleted ones included.
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
    };
    /**
     * What is set aside for claimed Tasks.
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
     * What may still be set aside. Absent where there is no limit.
     */
    remaining?: {
      /**
       * Left in tokens.
       */
      tokens?: number;
      /**
       * Left in US dollars.
       */
      usd?: string;
      /**
       * Left in seconds.
       */
      seconds?: number;
    };
    /**
     * What is set aside for which Task.
     */
    claims?: {
      /**
       * Uid of the Task.
       */
      uid: string;
      /**
       * Its name.
       */
      task: string;
      /**
       * What is set aside for it in this claim.
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
       * What it had used before this claim.
       */
      before?: {
        /**
         * Used before in tokens.
         */
        tokens?: number;
        /**
         * Used before in US dollars.
         */
        usd?: string;
        /**
         * Used before in seconds.
         */
        seconds?: number;
      };
    }[];
  };
  /**
   * Nesting level. 0 for a top-level team, one more than the parent otherwise.
   */
  depth?: number;
  /**
   * What the workspaces of the team take together, sub-teams not counted.
   */
  resources?: {
    /**
     * Sum of processor cores.
     */
    vcpus?: number;
    /**
     * Sum of memory in MiB.
     */
    memoryMiB?: number;
    /**
     * Sum of disk in GiB.
     */
    diskGiB?: number;
  };
  /**
   * What is true of the team now, and why. Ready is True when every agent has its workspace, network and relay for the present spec.
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
