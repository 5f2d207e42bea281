/** One way to isolate a workspace: process, sandbox or vm. All pass test/conformance/driver.ts. */
import type { Duplex } from 'node:stream';
import type { ProcessIdentity } from '#lib/process-identity.ts';

export interface Resources {
  readonly vcpus: number;
  readonly memoryMiB: number;
  readonly diskGiB: number;
}

export interface WorkspaceSpec {
  /** The Agent's metadata.uid: create is idempotent by it, and orphans are found by it. */
  readonly id: string;
  /** New at every start; what runs under an older one is not this workspace. */
  readonly incarnation: string;
  readonly hostname: string;
  readonly resources: Resources;
  /** The number of its team: one host uid per team, so that teams cannot touch each other's files. */
  readonly team: number;
  /** What a virtual machine is started from, by name. Absent: `base`. Of no meaning to other drivers. */
  readonly image?: string;
  /** A tree the workspace begins as a copy of, shared and never written to. Absent: the workspace begins empty. */
  readonly base?: string;
  /** Path of the prepared network namespace. Absent: the driver gives the workspace a network of its own with nothing in it. */
  readonly network?: string;
  /** What a machine of its own is to be on that network. Absent: the namespace itself is all a workspace needs. */
  readonly link?: MachineLink;
  /**
   * Whether the egress proxy will listen on egress.sock in the run directory: then programs inside reach it, and proxy variables are set there
   * unless it is not isolated.
   */
  readonly egress: boolean;
  /** A directory of programs, shared and never written to: seen inside at the place that AGENTISO_TOOLS names. */
  readonly tools?: string;
  /** The folder of `tools` that is used: where nothing can be shared there is no more than that inside. */
  readonly toolFolder?: string;
}

/** What is known of a workspace before it has a network. */
export interface WorkspacePlan extends Pick<WorkspaceSpec, 'id' | 'resources' | 'team' | 'egress' | 'tools'> {
  readonly hasBase: boolean;
}

/** The device of a virtual machine that stands for its workspace on the network; on its link there is nobody but the gateway. */
export interface MachineLink {
  readonly address: string;
  readonly mac: string;
  readonly gateway: string;
  readonly gatewayMac: string;
}

export interface WorkspaceState {
  readonly id: string;
  readonly incarnation: string;
  readonly phase: 'starting' | 'running' | 'exited';
  readonly pid?: number;
  /** Why it exited, with the last lines it wrote. */
  readonly failure?: string;
  /** It is held still, with all that is in its memory: nothing is heard of it until it is resumed. */
  readonly isSuspended?: boolean;
  /** Why it stands still though nobody has asked for it: nothing is heard of it until it goes on, which it does by itself. */
  readonly heldUp?: string;
  /** Where its memory is while it is suspended and no process of it runs. Absent: in the memory of this machine. */
  readonly savedAs?: { readonly path: string; readonly bytes: number };
  /** It has as many processes and threads as it may, and more were refused: by its own limit, or by one that all workspaces share. */
  readonly crowded?: { readonly limit: number; readonly isOwn: boolean };
  /** How a virtual machine that runs is reached: virtio-serial or vsock. Absent for other drivers. */
  readonly transport?: string;
}

/** What is really in force, for Agent.status.isolation. */
export interface Isolation {
  readonly driver: string;
  /** How a virtual machine runs its processor: kvm, or tcg, which is slow and no promise of its makers. Absent for other drivers. */
  readonly accel?: string;
  /** nftables, proxy-only or none: how the driver's workspaces are kept apart on the network, given the rights the daemon has. */
  readonly network: string;
  /** cgroup2, cgroup1, prlimit or none. */
  readonly limits: string;
}

export interface Usage {
  readonly cpuMs: number;
  readonly memoryBytes: number;
  readonly processes: number;
}

/** Logical ports 5000 and 5001. */
export type GuestPort = 'control' | 'relay';

export interface Driver {
  readonly name: string;
  readonly isolation: Isolation;
  /** Idempotent by `id`: a second create with the same id returns the same workspace. */
  create(workspace: WorkspaceSpec, signal: AbortSignal): Promise<WorkspaceState>;
  /**
   * A process that was started ahead and suits the workspace, which does not exist yet, in a network namespace with nothing in it. Who makes that
   * namespace the `network` of the workspace has it soon after it is created. Kept for a while. undefined: there is none. Absent: there never is.
   */
  reserve?(plan: WorkspacePlan): Promise<ProcessIdentity | undefined>;
  /** undefined means: proven absent. Throws when it cannot tell. */
  get(id: string, signal: AbortSignal): Promise<WorkspaceState | undefined>;
  list(signal: AbortSignal): Promise<WorkspaceState[]>;
  /** Ends what runs and keeps the disk; true when nothing runs any more. The caller repeats until then. */
  stop(id: string, signal: AbortSignal): Promise<boolean>;
  /**
   * Kills what a workspace that has exited left running, and keeps everything else of it; true when nothing of it runs. The caller repeats until then.
   * Absent: nothing can outlive its guest.
   */
  endLeftovers?(id: string, signal: AbortSignal): Promise<boolean>;
  /** Asks for deletion, disk included, and returns; the caller repeats until get() is undefined. */
  delete(id: string, signal: AbortSignal): Promise<void>;
  /** Opens a channel to the guest agent inside. Throws WaitingError while the guest is not listening yet. */
  connect(id: string, port: GuestPort, signal: AbortSignal): Promise<Duplex>;
  /** Whether anything was ever written in the workspace; true where that cannot be told. */
  hasFiles?(id: string): Promise<boolean>;
  /** What it uses now; undefined when nothing runs. */
  usage(id: string, signal: AbortSignal): Promise<Usage | undefined>;
  /** The host's side of the workspace's run directory: the egress proxy listens there. */
  runDirectory(id: string): string;
  /** Whole copies of the files of workspaces. Absent: there are none. */
  readonly snapshots?: Snapshots;
  /** Holds a workspace still without ending it. Absent: that cannot be done here. */
  readonly suspension?: Suspension;
  /** Keeps programs inside from changing the workspace while they run. Absent: that cannot be done here. */
  readonly writeHold?: WriteHold;
  /** Calls back when a workspace starts or exits, so that nobody has to poll. Returns the unsubscribe function. */
  onChange(listener: (id: string) => void): () => void;
}

/** Each is known by a word of the caller's, the uid of a Snapshot, and belongs to no workspace: it outlives the one it was taken of. */
export interface Snapshots {
  /**
   * Keeps the files as they are at one moment, all of them or none. What is there by this name stays as it is. What runs stands still
   * meanwhile, where it can be held; rejects with Conflict when that would take too long. NotFound: there is no such workspace.
   */
  take(id: string, snapshot: string, signal: AbortSignal): Promise<{ readonly bytes: number }>;
  /**
   * In place of the files of a workspace that does not run; one that does not exist is made of them. After a crash in the middle, the files are
   * the old or the new ones, and whole. The guest's own memory is not among them. NotFound: there is no such snapshot.
   */
  restore(id: string, snapshot: string, signal: AbortSignal): Promise<void>;
  remove(snapshot: string): Promise<void>;
  /** All there are, also those that are not whole. */
  list(): Promise<string[]>;
}

/** Both are idempotent, and reject with NotFound when nothing runs. */
export interface Suspension {
  /** Rejects with QuotaExceeded when there is no room for what is in its memory; then it goes on. */
  suspend(id: string, signal: AbortSignal): Promise<void>;
  /** `place`: where on the network it goes on, for one that does not run meanwhile; absent: nowhere. */
  resume(id: string, signal: AbortSignal, place?: Pick<WorkspaceSpec, 'network' | 'link'>): Promise<void>;
}

/** Both are idempotent, and reject with NotFound when nothing runs. Another run of the workspace is not held. */
export interface WriteHold {
  /** /workspace is read-only from then on. Rejects with Conflict while anything in it is open for writing. */
  hold(id: string, signal: AbortSignal): Promise<void>;
  release(id: string, signal: AbortSignal): Promise<void>;
}
