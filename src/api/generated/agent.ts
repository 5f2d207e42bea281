// Generated from crds/ by `npm run generate`. Do not edit.

/**
 * What the agent should be. The Team's controller writes it; people do for an Agent made by hand.
 */
export interface AgentSpec {
  /**
   * Name of the Team in the same namespace that the agent belongs to. Cannot change after creation.
   */
  team: string;
  /**
   * What the agent should do. Running (the default), Suspended keeps it in memory without running (sandbox and vm, and not while it holds a Task), Stopped ends it in good order and keeps its disk.
   */
  desiredState: 'Running' | 'Suspended' | 'Stopped';
  /**
   * What the workspace begins as a copy of. Absent means what its team works on. Cannot change after creation.
   */
  source?: {
    /**
     * Full name of the Agent that it is a copy of.
     */
    agent: string;
    /**
     * Name of the Snapshot of that agent.
     */
    snapshot: string;
  };
  /**
   * Takes the agent's files back to a Snapshot of its own, once. The agent is ended, its files are replaced, another run begins. Acted on again when at is another time.
   */
  restore?: {
    /**
     * Name of the Snapshot.
     */
    snapshot: string;
    /**
     * When this was asked for; tells one restore from the next.
     */
    at: string;
  };
  /**
   * Name of the entry in the Team's roles that the agent was made from. Absent for an Agent made by hand.
   */
  roleName?: string;
  /**
   * A free word for what the agent is, for example developer or reviewer. Absent means the name of the role.
   */
  role?: string;
  /**
   * What the agent should do and know. The agent is given this text and others see it on its card.
   */
  description?: string;
  /**
   * What the agent is good at, for example rust or sql. Others find it by them.
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
   * How many Tasks the agent may have in work at once, 1 to 64. Further ones wait on the board. Default 4.
   */
  maxConcurrentTasks: number;
  /**
   * Image of the catalogue the workspace starts from, for example base, python, rust or agents. Default base, which has git and node.
   */
  image: string;
  /**
   * How strongly the workspace is kept apart from the machine. Filled in from the Team; what is absent follows the Team.
   */
  isolation?: {
    /**
     * What runs the workspace. auto takes the strongest that works on this machine.
     */
    driver?: 'auto' | 'process' | 'sandbox' | 'vm';
    /**
     * Weakest isolation that is acceptable. If the machine cannot give it, the agent does not start.
     */
    minimum?: 'process' | 'sandbox' | 'vm';
    /**
     * If true, the agent starts only where limits on memory, processor and processes can be enforced.
     */
    requireLimits?: boolean;
  };
  /**
   * Size of the workspace. A change replaces the workspace when it has no running Task.
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
   * JSON Schema of the input the agent accepts. Shown on its card; absent means any.
   */
  inputSchema?: {
    [k: string]: unknown;
  };
  /**
   * JSON Schema of the output the agent gives. Shown on its card; absent means any.
   */
  outputSchema?: {
    [k: string]: unknown;
  };
}

/**
 * What the controllers have seen. Written by controllers only.
 */
export interface AgentStatus {
  /**
   * What the agent is doing. Pending before its workspace is made, Starting, Ready when idle, Working on a Task, Suspended, Stopping, Stopped, or Failed.
   */
  phase?: 'Pending' | 'Starting' | 'Ready' | 'Working' | 'Suspended' | 'Stopping' | 'Stopped' | 'Failed';
  /**
   * Names of the Tasks it has claimed or is running.
   */
  currentTasks?: string[];
  /**
   * What the agent last said about its work.
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
   * Backend really in use. Differs from spec.backend when the fallback stepped in.
   */
  backend?: string;
  /**
   * Isolation that is really in force, whatever was asked for.
   */
  isolation?: {
    /**
     * What runs the workspace; process, sandbox or vm.
     */
    driver?: string;
    /**
     * How a vm runs its processor, kvm (fast) or tcg (emulated). Absent for the other drivers.
     */
    accel?: string;
    /**
     * How the daemon reaches a vm that runs, virtio-serial or vsock. Absent for the other drivers.
     */
    transport?: string;
    /**
     * How network rules are enforced, for example nftables, proxy-only or none.
     */
    network?: string;
    /**
     * How limits on memory, processor and processes are enforced, for example cgroup2, cgroup1, prlimit or none.
     */
    limits?: string;
  };
  /**
   * Id of the present run, a UUID. New at every start; leases and tokens of older runs are void.
   */
  incarnation?: string;
  /**
   * Id of the workspace, which is the uid of this Agent.
   */
  workspaceId?: string;
  /**
   * Process id of the workspace on the machine.
   */
  pid?: number;
  /**
   * Address of the workspace. Absent if it has none of its own.
   */
  ip?: string;
  /**
   * Where the agent can really be reached. What is not bound is not listed.
   */
  endpoints?: {
    /**
     * Address of its HTTP interface for the other agents. Absent when they cannot reach it.
     */
    http?: string | null;
    /**
     * Port of the message relay channel.
     */
    relayPort?: number;
    /**
     * Port forwards in force.
     */
    portForwards?: {
      /**
       * TCP port inside the workspace.
       */
      guestPort: number;
      /**
       * TCP port on 127.0.0.1 that leads there.
       */
      hostPort: number;
    }[];
  };
  /**
   * When the present run started.
   */
  startedAt?: string;
  /**
   * What the present run was started with. When the spec asks for something else, another run follows as soon as the agent holds no Task.
   */
  startedWith?: {
    /**
     * Image of the catalogue.
     */
    image?: string;
    /**
     * Virtual processors.
     */
    vcpus?: number;
    /**
     * Memory in MiB.
     */
    memoryMiB?: number;
    /**
     * Disk in GiB.
     */
    diskGiB?: number;
  };
  /**
   * How often the agent was started again after it had ended by itself.
   */
  restarts?: number;
  /**
   * Last sign of life from its supervisor, sent every 10 seconds. After 30 seconds without one the agent counts as dead.
   */
  lastHeartbeat?: string;
  /**
   * When the agent last called a tool, wrote a message or changed a Task.
   */
  lastActivity?: string;
  /**
   * Messages in its inbox that it has not acknowledged.
   */
  messagesPending?: number;
  /**
   * State of its inbox.
   */
  mailbox?: {
    /**
     * Number the next message will get. The first is 1.
     */
    nextSeq?: number;
    /**
     * All messages up to this number are acknowledged.
     */
    ackedSeq?: number;
    /**
     * Messages not acknowledged. At 100 the inbox is full and further messages are refused.
     */
    unacked?: number;
    /**
     * When the oldest of them arrived.
     */
    oldestUnackedAt?: string | null;
    /**
     * Messages given up, because they stayed unacknowledged for 24 hours or belonged to an older attempt.
     */
    deadLetters?: number;
  };
  /**
   * State of the repository in its workspace.
   */
  git?: {
    /**
     * Commit the workspace started from. Merges take what came after it.
     */
    forkBase?: string;
    /**
     * Branch the agent works on.
     */
    branch?: string;
    /**
     * Last commit of it that the team's repository has.
     */
    head?: string;
    /**
     * Commit that holds what was not committed at the last look. Absent when nothing was.
     */
    wip?: string;
    /**
     * When its work was last brought to safety.
     */
    savedAt?: string;
  };
  /**
   * What the workspace really began as a copy of.
   */
  source?: {
    /**
     * Full name of the Agent. Absent when it is the snapshot that the team has prepared.
     */
    agent?: string;
    /**
     * Name of the Snapshot.
     */
    snapshot?: string;
    /**
     * Commit that agent was at; the work of this one begins there.
     */
    commit?: string;
  };
  /**
   * The last restore that was carried out.
   */
  restored?: {
    /**
     * Name of the Snapshot.
     */
    snapshot?: string;
    /**
     * When it was asked for.
     */
    at?: string;
    /**
     * When it was carried out.
     */
    time?: string;
  };
  /**
   * Team mates whose branches do not fit with its own, as of the commits that the team's repository has of both. Tasks that declare these files wait while others can run. Absent when all fit.
   */
  conflicts?: {
    /**
     * Short name of the team mate.
     */
    agent: string;
    /**
     * Files that do not fit, the first 100 of them.
     */
    files: string[];
  }[];
  /**
   * The agent's answer when it was asked to stop. It is kept for the record and does not prevent the stop.
   */
  shutdown?: {
    /**
     * What it answered; Accepted, Deferred or Refused. Absent while it has not answered.
     */
    answer?: 'Accepted' | 'Deferred' | 'Refused';
    /**
     * Why, in its own words.
     */
    reason?: string;
    /**
     * When it was asked.
     */
    requestedAt?: string;
    /**
     * When it is killed at the latest.
     */
    deadline?: string;
  };
  /**
   * Git ref of the team's repository that holds work which was not merged when the workspace was removed.
   */
  rescued?: string;
  /**
   * What of the agent's tokens, money and time is used or set aside. Absent while the agent has no such limit.
   */
  spending?: {
    /**
     * What Tasks that it has not claimed any more have used, deleted ones included.
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
     * What is set aside for Tasks that it has claimed.
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
   * What is true of the agent now, and why. WorkspaceReady, NetworkReady and RelayReady together make Ready; InboxFull is True while its inbox takes no more messages.
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
