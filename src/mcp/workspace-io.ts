/**
 * What tools ask of running workspaces; the composition answers it over the agents' sessions. Refusals are AgentisoErrors: NotFound for an
 * agent or file that is not there, Unavailable for an agent that cannot be reached, Forbidden for what lies outside the workspace.
 */
import type { Buffer } from 'node:buffer';

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

export interface RunOptions {
  readonly timeoutMs: number;
  /** Of each stream; what is cut ends with a line that says so. */
  readonly maxOutputBytes: number;
  /** Everything it writes, as it comes, also what is not kept. */
  readonly onOutput?: (chunk: Buffer) => void;
  /** Ends the command with everything it has started. */
  readonly signal: AbortSignal;
}

export interface WorkspaceRun {
  /** -1: did not start, or timed out. */
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly stdoutTruncated: boolean;
  readonly stderrTruncated: boolean;
  readonly timedOut: boolean;
  readonly elapsedMs: number;
}

export interface WorkspaceJobState {
  readonly isRunning: boolean;
  readonly exitCode?: number;
}

export interface WorkspaceJob extends WorkspaceJobState {
  readonly stdout: string;
  readonly stderr: string;
  /** To be given at the next poll: what came before is not repeated. */
  readonly stdoutOffset: number;
  readonly stderrOffset: number;
}

export interface WorkspaceLog {
  /** Whole lines, the newest last. */
  readonly text: string;
  /** Older lines that were asked for did not fit. */
  readonly isTruncated: boolean;
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
  exec(workspace: WorkspaceReference, command: WorkspaceCommand, options: RunOptions): Promise<WorkspaceRun>;
  startJob(
    workspace: WorkspaceReference,
    command: WorkspaceCommand & { /** Absent: as long as it takes. */ readonly timeoutMs?: number },
    signal: AbortSignal,
  ): Promise<{ readonly jobId: number }>;
  pollJob(
    workspace: WorkspaceReference,
    job: { readonly jobId: number; readonly stdoutOffset?: number; readonly stderrOffset?: number; readonly maxBytes?: number },
    signal: AbortSignal,
  ): Promise<WorkspaceJob>;
  /** How the job is a moment after the signal. */
  killJob(
    workspace: WorkspaceReference,
    job: { readonly jobId: number; readonly signalNumber: number },
    signal: AbortSignal,
  ): Promise<WorkspaceJobState>;
  /** All or none; gone when the workspace stops. */
  setEnv(workspace: WorkspaceReference, variables: Readonly<Record<string, string>>, signal: AbortSignal): Promise<void>;
  /** The newest lines of the agent's own log. */
  logs(
    workspace: WorkspaceReference,
    query: { readonly tailLines: number; readonly maxAgeMs?: number; readonly source?: string; readonly maxBytes: number },
    signal: AbortSignal,
  ): Promise<WorkspaceLog>;
  /** TooLarge for more than 32 MiB: ask for a part. `size` is that of the whole file. */
  readFile(
    workspace: WorkspaceReference,
    file: { readonly path: string; readonly offset?: number; readonly limit?: number },
    signal: AbortSignal,
  ): Promise<{ readonly content: Buffer; readonly size: number }>;
  /** Makes folders on the way. A new content appears whole or not at all, an addition does not. */
  writeFile(
    workspace: WorkspaceReference,
    file: { readonly path: string; readonly content: Buffer; readonly mode?: number; readonly append?: boolean },
    signal: AbortSignal,
  ): Promise<void>;
  /** Replaces the first match; says how many there were. */
  editFile(
    workspace: WorkspaceReference,
    edit: { readonly path: string; readonly oldText: string; readonly newText: string },
    signal: AbortSignal,
  ): Promise<{ readonly matches: number }>;
  listFiles(workspace: WorkspaceReference, path: string, signal: AbortSignal): Promise<readonly WorkspaceFile[]>;
}
