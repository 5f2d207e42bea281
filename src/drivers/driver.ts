/** One way to isolate a workspace: process, sandbox or vm. Each passes test/conformance/driver.ts. */
import type { Duplex } from 'node:stream';

export interface WorkspaceSpec {
  /** The Agent's metadata.uid: create is idempotent by it, and orphans are found by it. */
  readonly id: string;
  /** New at every start; what runs under an older one is not this workspace. */
  readonly incarnation: string;
  readonly hostname: string;
}

export interface WorkspaceState {
  readonly id: string;
  readonly incarnation: string;
  readonly phase: 'starting' | 'running' | 'exited';
  readonly pid?: number;
  /** Why it exited, with the last lines it wrote. */
  readonly failure?: string;
}

/** What is really in force, for Agent.status.isolation. */
export interface Isolation {
  readonly driver: string;
  readonly network: string;
  readonly limits: string;
}

export interface Driver {
  readonly name: string;
  readonly isolation: Isolation;
  /** Idempotent by `id`: a second create with the same id returns the same workspace. */
  create(workspace: WorkspaceSpec, signal: AbortSignal): Promise<WorkspaceState>;
  /** undefined means: proven absent. Throws when it cannot tell. */
  get(id: string, signal: AbortSignal): Promise<WorkspaceState | undefined>;
  list(signal: AbortSignal): Promise<WorkspaceState[]>;
  /** Ends what runs and keeps the disk; true when nothing runs any more. The caller repeats until then. */
  stop(id: string, signal: AbortSignal): Promise<boolean>;
  /** Asks for deletion, disk included, and returns; the caller repeats until get() is undefined. */
  delete(id: string, signal: AbortSignal): Promise<void>;
  /** Opens the control channel to the guest agent inside. Throws WaitingError while the guest is not listening yet. */
  connect(id: string, signal: AbortSignal): Promise<Duplex>;
  /** Calls back when a workspace starts or exits, so that nobody has to poll. Returns the unsubscribe function. */
  onChange(listener: (id: string) => void): () => void;
}
