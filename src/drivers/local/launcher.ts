/** What differs between the drivers of this machine: how a guest is started and ended. All else is in local-driver.ts. */
import type { Duplex } from 'node:stream';
import type { ProcessIdentity } from '#lib/process-identity.ts';
import type { GuestPort, Isolation, Usage, WorkspacePlan, WorkspaceSpec } from '../driver.ts';
import type { GuestProcess } from './guest-process.ts';
import type { WorkspacePaths } from './paths.ts';
import type { WorkspaceRecord } from './record.ts';

export interface StartCommand {
  /** Program and arguments. The process it starts is the workspace: what ends with it has ended. */
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  /** Absent: the daemon's own. */
  readonly environment?: Readonly<Record<string, string>>;
  /** It watches its standard input, and ends when that ends without a word: see letLive of GuestProcess. */
  readonly endsWithDaemon?: boolean;
  /** Opened for reading, they become descriptors 3 and up. */
  readonly files: readonly string[];
}

/** Started without an identity, in a folder that becomes the workspace's. */
export interface ReadyGuest {
  readonly guest: GuestProcess;
  readonly directory: string;
  readonly groups: readonly string[];
  /** What is missing of one that was given away is done by whichever daemon comes. Otherwise the next one ends it, and starts another. */
  readonly isTakenOver: boolean;
  /** Called instead of whoever watched it so far. */
  watch(onChange: () => void): void;
  /** Ends it and takes its folder away, where that has not got its place. */
  remove(): Promise<void>;
  /** Tells it who it is; its folder has its place. */
  bind(workspace: WorkspaceSpec, paths: WorkspacePaths): Promise<void>;
}

/** Suspended workspaces that run no more: all that was in their memory is on the disk. */
export interface Sleep {
  /** Whole: what was running when it was written may be killed, and has not gone on since. */
  isSaved(paths: WorkspacePaths): boolean;
  sizeOf(paths: WorkspacePaths): { readonly path: string; readonly bytes: number };
  /** Of one that runs; it stands still from then on. When it rejects, it goes on. */
  save(paths: WorkspacePaths, signal: AbortSignal): Promise<void>;
  /** To go on from there. It is saved until that is so: whoever goes on has nothing to go back to. */
  prepare(paths: WorkspacePaths, place: Pick<WorkspaceSpec, 'network' | 'link'>): Promise<Waking>;
  discard(paths: WorkspacePaths): Promise<void>;
}

export interface Waking {
  readonly groups: readonly string[];
  readonly command: StartCommand;
}

export interface Launcher {
  readonly name: string;
  readonly isolation: Isolation;
  /** What in a workspace's folder are the agent's files, of which a workspace need not have all. */
  readonly files: readonly string[];
  /** A copy of them is about to become a workspace's: what does not belong there is taken out. */
  renewFiles?(folder: string): Promise<void>;
  /** Holds everything inside still, or lets it go on. Absent: that cannot be done. */
  readonly freeze?: ((paths: WorkspacePaths, record: WorkspaceRecord | undefined, isFrozen: boolean) => Promise<void>) | undefined;
  /** Why everything inside stands still though nobody has asked for it; it goes on by itself. */
  heldUp?(paths: WorkspacePaths): string | undefined;
  /** Called once: with each workspace that is held up, or no longer. */
  watchHoldUps?(onChange: (id: string) => void): void;
  /** Absent: what is suspended is held still in memory. */
  readonly sleep?: Sleep;
  /** Keeps everything inside from changing the workspace, or lets it. Absent: that cannot be done. */
  readonly setReadOnly?: ((main: ProcessIdentity, isReadOnly: boolean) => Promise<void>) | undefined;
  pathsOf(id: string): WorkspacePaths;
  /** A word on the command line of every guest of this workspace, and of no other process of this machine. */
  markOf(id: string): string;
  /** Before anything is made for a start: throws WaitingError when it is not its turn, StalledError when it cannot be. */
  admit?(workspace: WorkspaceSpec): Promise<void>;
  /** The control groups of a start, made when they are missing: known first, because they go into the record. */
  ensureGroups(workspace: WorkspaceSpec): readonly string[];
  /** Makes everything else a start needs but the process. Can be repeated: an earlier try may have come to nothing. */
  prepare(workspace: WorkspaceSpec, paths: WorkspacePaths, groups: readonly string[]): Promise<StartCommand>;
  /** A guest that has been started ahead is kept for this workspace, which has no folder yet. */
  reserve?(plan: WorkspacePlan): Promise<ReadyGuest | undefined>;
  /** A guest that has been started ahead and suits this workspace, which has no folder yet. What was kept for it and does not suit has ended. */
  takeReady?(workspace: WorkspaceSpec): Promise<ReadyGuest | undefined>;
  /** What was kept for this workspace is not taken; it has ended when it resolves. */
  giveUpReady?(id: string): Promise<void>;
  /** After each takeReady, when its workspace runs or failed to: what is started ahead now does not compete with it. */
  startEnded?(workspace: WorkspaceSpec): void;
  /** Resolves when the guest listens, where its sockets or its word on standard output do not tell. */
  awaitGuest?(paths: WorkspacePaths, signal: AbortSignal, pid: number): Promise<void>;
  /** Where connecting is more than opening the socket in the run directory. */
  connect?(paths: WorkspacePaths, port: GuestPort, signal: AbortSignal): Promise<Duplex>;
  /** How one that runs is reached, where there is more than one way. */
  transportOf?(paths: WorkspacePaths): Promise<string>;
  /** Whether anything was ever written, where that is not seen in the workspace's folder. */
  hasFiles?(paths: WorkspacePaths): Promise<boolean>;
  /** Why it ended, where the exit of its process does not tell; undefined: in good order. */
  explainExit?(paths: WorkspacePaths, exit: string | undefined): Promise<string | undefined>;
  /** Asks the guest to end in good order. */
  terminate(main: ProcessIdentity, paths: WorkspacePaths, incarnation: string): void;
  /** Kills what may be left when the main process is gone; true when there was something, because it takes a moment to be gone. */
  killRest(paths: WorkspacePaths, record: WorkspaceRecord | undefined): Promise<boolean>;
  usage(main: ProcessIdentity, paths: WorkspacePaths, record: WorkspaceRecord | undefined): Promise<Usage>;
  /** Takes away what prepare made outside of the workspace's folder, when nothing of it runs any more. False: not yet. */
  release(paths: WorkspacePaths, record: WorkspaceRecord | undefined): Promise<boolean>;
}
