/** What tools ask of running workspaces; the composition answers it over the agents' sessions. Refusals are AgentisoErrors. */

/** Namespace and the object's name, such as `sprint-coder-1`. */
export interface WorkspaceReference {
  readonly namespace: string;
  readonly agent: string;
}

export interface WorkspaceCommand {
  /** For /bin/sh -c; or argv. Exactly one. */
  readonly command?: string;
  readonly argv?: readonly string[];
  /** Below the workspace root. */
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface WorkspaceRun {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly stdoutTruncated: boolean;
  readonly stderrTruncated: boolean;
  readonly timedOut: boolean;
  readonly elapsedMs: number;
}

export interface WorkspaceJob {
  readonly isRunning: boolean;
  readonly exitCode?: number;
  readonly stdout: string;
  readonly stderr: string;
  /** To be given at the next poll: what came before is not repeated. */
  readonly stdoutOffset: number;
  readonly stderrOffset: number;
}

export interface WorkspaceFile {
  readonly name: string;
  readonly kind: 'file' | 'directory' | 'link' | 'other';
  readonly size: number;
  /** Octal, such as 644. */
  readonly permissions: string;
  readonly modified: string;
}

export interface WorkspaceIo {
  exec(
    workspace: WorkspaceReference,
    command: WorkspaceCommand,
    options: { readonly timeoutMs: number; readonly signal: AbortSignal },
  ): Promise<WorkspaceRun>;
  startJob(workspace: WorkspaceReference, command: WorkspaceCommand, signal: AbortSignal): Promise<{ readonly jobId: number }>;
  pollJob(
    workspace: WorkspaceReference,
    job: { readonly jobId: number; readonly stdoutOffset?: number; readonly stderrOffset?: number },
    signal: AbortSignal,
  ): Promise<WorkspaceJob>;
  killJob(
    workspace: WorkspaceReference,
    job: { readonly jobId: number; readonly signalNumber: number },
    signal: AbortSignal,
  ): Promise<{ readonly wasRunning: boolean }>;
  setEnv(workspace: WorkspaceReference, variables: Readonly<Record<string, string>>, signal: AbortSignal): Promise<void>;
  /** The newest lines of the agent's own log. */
  logs(
    workspace: WorkspaceReference,
    query: { readonly tailLines: number; readonly maxAgeMs?: number },
    signal: AbortSignal,
  ): Promise<string>;
  readFile(workspace: WorkspaceReference, path: string, signal: AbortSignal): Promise<Buffer>;
  /** Makes folders on the way. */
  writeFile(
    workspace: WorkspaceReference,
    file: { readonly path: string; readonly content: Buffer; readonly mode?: number },
    signal: AbortSignal,
  ): Promise<void>;
  listFiles(workspace: WorkspaceReference, path: string, signal: AbortSignal): Promise<readonly WorkspaceFile[]>;
}
