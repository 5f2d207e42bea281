/**
 * The life of workspaces that are processes of this machine, whatever they are isolated with: started, found again after the daemon
 * died, watched, ended. How a guest is started and ended is the launcher's.
 */
import { rmSync } from 'node:fs';
import { readdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Duplex } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { ConflictError, NotFoundError, UnavailableError, WaitingError } from '#lib/errors.ts';
import { KeyedLock } from '#lib/keyed-lock.ts';
import type { Logger } from '#lib/log.ts';
import { isRunning, type ProcessIdentity, signalProcess } from '#lib/process-identity.ts';
import { timeLimit } from '#lib/time-limit.ts';
import type {
  Driver,
  GuestPort,
  Isolation,
  Snapshots,
  Suspension,
  Usage,
  WorkspacePlan,
  WorkspaceSpec,
  WorkspaceState,
  WriteHold,
} from '../driver.ts';
import { processLimitHeld, processLimitMet } from './cgroup.ts';
import { dialGuest } from './dial.ts';
import { ensureDirectories, isPresent, removeDirectories, removeRun } from './directories.ts';
import { FileCopies, finishRestore } from './file-copies.ts';
import { type Room, requireRoom } from './free-disk.ts';
import { adoptGuest, type GuestProcess, type GuestStart, startGuest } from './guest-process.ts';
import type { Launcher, ReadyGuest, StartCommand } from './launcher.ts';
import { findLaunches, type Launch } from './launches.ts';
import { readLogTail } from './log-tail.ts';
import { isWorkspaceId, socketIn, type WorkspacePaths } from './paths.ts';
import { readRecord, type WorkspaceRecord, writeRecord } from './record.ts';
import { sideBySide } from './side-by-side.ts';
import { isMarked, markIn } from './suspended-mark.ts';

export interface LocalDriverOptions {
  readonly stateDir: string;
  readonly launcher: Launcher;
  readonly log: Logger;
  /** Between the polite end of a guest and SIGKILL; longer than the guest gives its commands. */
  readonly stopGraceMs: number;
  /** For what is kept of workspaces. Absent: all of the disk but what is left free. */
  readonly room?: Room;
}

/** One workspace as it was found: what is in memory, what is on disk. */
interface Found {
  readonly id: string;
  readonly paths: WorkspacePaths;
  readonly record: WorkspaceRecord | undefined;
  readonly guest: GuestProcess | undefined;
}

export class LocalDriver implements Driver {
  readonly name: string;
  readonly isolation: Isolation;
  readonly snapshots: Snapshots;
  readonly suspension?: Suspension;
  readonly writeHold?: WriteHold;
  readonly #options: LocalDriverOptions;
  readonly #room: Room;
  readonly #launcher: Launcher;
  readonly #guests = new Map<string, GuestProcess>();
  readonly #stopAskedAtMs = new Map<string, number>();
  readonly #lock = new KeyedLock();
  readonly #listeners = new Set<(id: string) => void>();
  /** Those that were started to go on from what was saved. */
  readonly #waking = new Set<string>();
  #launchedIds: Set<string> | undefined;

  constructor(options: LocalDriverOptions) {
    this.#options = options;
    this.#room = options.room ?? ((bytes, what) => requireRoom(options.stateDir, bytes, what));
    this.#launcher = options.launcher;
    this.name = options.launcher.name;
    this.isolation = options.launcher.isolation;
    options.launcher.watchHoldUps?.((id) => this.#notify(id));
    const copies = new FileCopies(options.stateDir);
    this.snapshots = {
      take: (id, snapshot, signal) => this.#lock.run(id, () => this.#take(copies, { id, snapshot }, signal)),
      restore: (id, snapshot, signal) => this.#lock.run(id, () => this.#restore(copies, { id, snapshot }, signal)),
      remove: (snapshot) => copies.remove(snapshot),
      list: () => copies.list(),
    };
    if (options.launcher.setReadOnly !== undefined)
      this.writeHold = {
        hold: (id, signal) => this.#lock.run(id, () => this.#setReadOnly(id, true, signal)),
        release: (id, signal) => this.#lock.run(id, () => this.#setReadOnly(id, false, signal)),
      };
    if (options.launcher.freeze === undefined) return;
    this.suspension = {
      suspend: (id, signal) => this.#lock.run(id, () => this.#suspend(id, signal)),
      resume: (id, signal, place) => this.#lock.run(id, () => this.#resume(id, signal, place)),
    };
  }

  create(workspace: WorkspaceSpec, signal: AbortSignal): Promise<WorkspaceState> {
    const { id, incarnation } = workspace;
    return this.#lock.run(id, async () => {
      signal.throwIfAborted();
      const found = await this.#find(id);
      const { guest, record } = found;
      const startedAs = guest?.incarnation ?? (record?.process && record.incarnation);
      if (startedAs === incarnation) return this.#observe(found);
      const previous = living(guest);
      if (previous === undefined) return this.#observe(await this.#start(workspace, found));
      await this.#askToStop(found, previous);
      throw new WaitingError('PreviousGuestEnding', `the incarnation before is still ending as pid ${previous.pid}`, 100);
    });
  }

  reserve(plan: WorkspacePlan): Promise<ProcessIdentity | undefined> {
    return this.#lock.run(plan.id, async () => {
      const isNew = await this.#isNew(plan.id, this.#launcher.pathsOf(plan.id));
      return isNew ? (await this.#launcher.reserve?.(plan))?.guest.identity : undefined;
    });
  }

  /** Under the lock too: half of a create or a delete is not a state. */
  get(id: string, signal: AbortSignal): Promise<WorkspaceState | undefined> {
    return this.#lock.run(id, async () => {
      signal.throwIfAborted();
      const found = await this.#find(id);
      // A run directory may lie elsewhere: one that is left is still ours to remove.
      const left = await Promise.all([found.paths.directory, found.paths.run].map(isPresent));
      // One that has ended may have left other things, which delete takes away.
      const isKnown = found.guest !== undefined || left.includes(true);
      return isKnown ? this.#observe(found) : undefined;
    });
  }

  /** What has a folder and what runs without one. */
  async list(signal: AbortSignal): Promise<WorkspaceState[]> {
    const names = await readdir(this.#options.stateDir);
    const launched = this.#launches().map(({ id }) => id);
    const ids = new Set([...names.filter(isWorkspaceId), ...this.#guests.keys(), ...launched]);
    const states = await Promise.all([...ids].map((id) => this.get(id, signal)));
    return states.filter((state) => state !== undefined);
  }

  stop(id: string, signal: AbortSignal): Promise<boolean> {
    return this.#lock.run(id, async () => {
      signal.throwIfAborted();
      const found = await this.#find(id);
      if (!(await this.#end(found))) return false;
      await removeRun(found.paths);
      return true;
    });
  }

  endLeftovers(id: string, signal: AbortSignal): Promise<boolean> {
    return this.#lock.run(id, async () => {
      signal.throwIfAborted();
      const { guest, paths, record } = await this.#find(id);
      return living(guest) === undefined && !(await this.#killRest(id, paths, record));
    });
  }

  delete(id: string, signal: AbortSignal): Promise<void> {
    return this.#lock.run(id, async () => {
      signal.throwIfAborted();
      const found = await this.#find(id);
      // Nobody needs what it had in memory.
      if (living(found.guest) === undefined) await this.#launcher.sleep?.discard(found.paths);
      if (!(await this.#end(found))) return;
      const wasPresent = await isPresent(found.paths.directory);
      await removeDirectories(found.paths);
      if (wasPresent) this.#options.log.info({ workspaceId: id }, 'workspace removed');
      this.#guests.delete(id);
      this.#launchedIds?.delete(id);
      this.#waking.delete(id);
      this.#stopAskedAtMs.delete(id);
    });
  }

  async connect(id: string, port: GuestPort, signal: AbortSignal): Promise<Duplex> {
    const state = await this.get(id, signal);
    if (state === undefined) throw new NotFoundError(`there is no workspace ${id}`);
    if (state.phase === 'exited') throw new UnavailableError(`workspace ${id} has exited`, { reason: 'WorkspaceExited' });
    if (state.isSuspended) throw new UnavailableError(`workspace ${id} is suspended`, { reason: 'WorkspaceSuspended' });
    const paths = this.#launcher.pathsOf(id);
    if (this.#launcher.connect !== undefined && state.phase === 'starting')
      throw new WaitingError('GuestNotListening', 'the guest is not listening yet', 100);
    return this.#launcher.connect?.(paths, port, signal) ?? dialGuest(socketIn(paths.run, port), signal);
  }

  async hasFiles(id: string): Promise<boolean> {
    const paths = this.#launcher.pathsOf(id);
    if (this.#launcher.hasFiles !== undefined) return this.#launcher.hasFiles(paths);
    const { directory, workspace } = paths;
    return (await Promise.all([workspace, join(directory, 'upper')].map(holdsAnything))).includes(true);
  }

  usage(id: string, signal: AbortSignal): Promise<Usage | undefined> {
    return this.#lock.run(id, async () => {
      signal.throwIfAborted();
      const { guest, paths, record } = await this.#find(id);
      const identity = living(guest)?.identity;
      return identity !== undefined && isRunning(identity) ? this.#launcher.usage(identity, paths, record) : undefined;
    });
  }

  async #take(copies: FileCopies, { id, snapshot }: Copying, signal: AbortSignal): Promise<{ readonly bytes: number }> {
    signal.throwIfAborted();
    const found = await this.#find(id);
    const { paths } = found;
    if (!(await isPresent(paths.directory))) throw new NotFoundError(`there is no workspace ${id}`);
    const hold = (copy: (limit: AbortSignal) => Promise<void>, until: AbortSignal) => this.#hold(found, copy, until);
    const bytes = await copies.take(
      { folder: paths.directory, name: snapshot, names: this.#launcher.files, hold, room: this.#room },
      signal,
    );
    return { bytes };
  }

  /** Not for long: who stands still for longer than its sign of life may be away would be taken for dead. */
  async #hold({ paths, record, guest }: Found, copy: (limit: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> {
    const launcher = this.#launcher;
    if (launcher.freeze === undefined || living(guest) === undefined || this.#isHeld(paths)) return copy(signal);
    const limit = timeLimit(HOLD_MS);
    await launcher.freeze(paths, record, true);
    try {
      await copy(AbortSignal.any([signal, limit]));
    } catch (error) {
      if (!limit.aborted) throw error;
      const message = `its files could not be copied within ${HOLD_MS / 1_000} s, and it may not stand still for longer`;
      throw new ConflictError(message, { reason: 'TooLargeToHold', hint: 'suspend or stop the agent first' });
    } finally {
      await launcher.freeze(paths, record, false);
    }
  }

  async #restore(copies: FileCopies, { id, snapshot }: Copying, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { paths, guest } = await this.#find(id);
    const isThere = living(guest) !== undefined || this.#isSaved(paths);
    if (isThere) throw new ConflictError(`workspace ${id} runs or is suspended; stop it first`);
    await copies.restore(paths.directory, snapshot, async (copy) => this.#launcher.renewFiles?.(copy), signal);
  }

  async #suspend(id: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const found = await this.#find(id);
    const { paths, record } = found;
    const guest = living(found.guest);
    if (guest === undefined && this.#isSaved(paths)) return;
    if (guest === undefined) throw new NotFoundError(`workspace ${id} does not run`);
    if (this.#launcher.sleep === undefined) {
      // The mark is there before it stands and goes when it moves again: whoever comes after a crash knows what was meant.
      await writeFile(markIn(paths), '', { mode: 0o600 });
      await this.#launcher.freeze?.(paths, record, true);
    } else {
      if (!guest.isListening) throw new WaitingError('GuestNotListening', 'the guest is not listening yet', 100);
      await this.#launcher.sleep.save(paths, signal);
      await this.#endSaved(found, guest);
    }
    this.#notify(id);
  }

  /** What has been written down has nothing more to say; a daemon that is killed before this is through leaves it to the next one. */
  async #endSaved({ id, paths, record }: Found, { identity, incarnation }: GuestProcess): Promise<void> {
    this.#guests.delete(id);
    const hasEnded = async () => !(await this.#killRest(id, paths, record)) && this.#launcher.release(paths, record);
    for (let waitedMs = 0; waitedMs < END_SAVED_MS; waitedMs += LOOK_MS) {
      if (identity !== undefined) signalProcess(identity, 'SIGKILL');
      if (await hasEnded()) break;
      await pause(LOOK_MS);
    }
    this.#options.log.info({ workspaceId: id, incarnation }, 'workspace suspended to disk');
  }

  async #resume(id: string, signal: AbortSignal, place: Pick<WorkspaceSpec, 'network' | 'link'> = {}): Promise<void> {
    signal.throwIfAborted();
    const found = await this.#find(id);
    const { paths, record } = found;
    if (living(found.guest) === undefined && this.#isSaved(paths)) return this.#wake(found, place);
    if (living(found.guest) === undefined) throw new NotFoundError(`workspace ${id} does not run`);
    if (!this.#isHeld(paths)) return;
    await this.#launcher.freeze?.(paths, record, false);
    await rm(markIn(paths), { force: true });
    this.#notify(id);
  }

  /** The same run, as another process. */
  async #wake({ id, paths, record }: Found, place: Pick<WorkspaceSpec, 'network' | 'link'>): Promise<void> {
    const incarnation = record?.incarnation;
    if (this.#launcher.sleep === undefined || incarnation === undefined) throw new NotFoundError(`workspace ${id} does not run`);
    if (await this.#killRest(id, paths, record))
      throw new WaitingError('LeftoversEnding', `what was suspended as ${id} is still ending`, 100);
    await ensureDirectories(paths);
    const { groups, command } = await this.#launcher.sleep.prepare(paths, place);
    const intent = { id, incarnation, ...(groups.length > 0 && { groups }) };
    await writeRecord(paths.record, intent);
    await this.#begin(intent, paths, command);
    this.#waking.add(id);
  }

  #isSaved(paths: WorkspacePaths): boolean {
    return this.#launcher.sleep?.isSaved(paths) ?? false;
  }

  /** Suspended, and in memory. */
  #isHeld(paths: WorkspacePaths): boolean {
    return this.#launcher.sleep === undefined && isMarked(paths);
  }

  async #setReadOnly(id: string, isReadOnly: boolean, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const identity = living((await this.#find(id)).guest)?.identity;
    if (identity === undefined || !isRunning(identity)) throw new NotFoundError(`workspace ${id} does not run`);
    await this.#launcher.setReadOnly?.(identity, isReadOnly);
  }

  /** One that is not let go, or has just ended, is found out about otherwise. */
  async #letGo(paths: WorkspacePaths, record: WorkspaceRecord | undefined): Promise<void> {
    try {
      await this.#launcher.freeze?.(paths, record, false);
      await rm(markIn(paths), { force: true });
    } catch (error) {
      this.#options.log.warn({ err: error, directory: paths.directory }, 'a workspace could not be let go on');
    }
  }

  runDirectory(id: string): string {
    return this.#launcher.pathsOf(id).run;
  }

  onChange(listener: (id: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The memory of this daemon comes first; without one, what an earlier daemon started is taken over. */
  async #find(id: string): Promise<Found> {
    const paths = this.#launcher.pathsOf(id);
    const record = await readRecord(paths.record);
    const guest = this.#guests.get(id);
    if (guest !== undefined) return { id, paths, record, guest };
    const found = record?.process && isRunning(record.process) ? { ...record, process: record.process } : this.#searchLaunch(id, record);
    if (found === undefined) return { id, paths, record, guest };
    const { incarnation, process } = found;
    if (this.#isSaved(paths)) {
      // The daemon before had not ended it yet, or it had not gone on yet: either way nothing has happened since it was saved.
      signalProcess(process, 'SIGKILL');
      return { id, paths, record, guest };
    }
    const adopted = adoptGuest({ incarnation, identity: process, paths, onChange: () => this.#notify(id), ...this.#waiting() });
    this.#guests.set(id, adopted);
    this.#options.log.info({ workspaceId: id, incarnation, pid: adopted.pid }, 'workspace taken over');
    // The daemon before may have ended while it held this one still.
    if (!this.#isHeld(paths)) await this.#letGo(paths, record);
    if (record === undefined || record.process !== undefined) return { id, paths, record, guest: adopted };
    const completed = { ...record, process };
    await writeRecord(paths.record, completed);
    return { id, paths, record: completed, guest: adopted };
  }

  /** A daemon that died between the start and its record, or a folder that is gone: the processes themselves are asked. */
  #searchLaunch(id: string, record: WorkspaceRecord | undefined): (WorkspaceRecord & { process: ProcessIdentity }) | undefined {
    if (record?.process !== undefined) return undefined;
    for (const { incarnation, main } of this.#launchesOf(id)) {
      if (main === undefined || (record !== undefined && record.incarnation !== incarnation)) continue;
      return { id, incarnation, process: { pid: main.pid, startTime: main.startTime, bootId: main.bootId } };
    }
    return undefined;
  }

  async #start(workspace: WorkspaceSpec, { paths, record: before }: Found): Promise<Found> {
    const { id } = workspace;
    const isNew = await this.#isNew(id, paths);
    if (!isNew && (await this.#killRest(id, paths, before)))
      throw new WaitingError('LeftoversEnding', `processes of an earlier incarnation of ${id} are ending`, 100);
    if (!isNew) {
      // What it had is not what it gets: one that came from a pool has control groups by another name, of which only this record knows.
      if (!(await this.#launcher.release(paths, before)))
        throw new WaitingError('LeftoversEnding', `what an earlier incarnation of ${id} had is being taken away`, 100);
      // Its files may have come from a snapshot meanwhile.
      await this.#launcher.giveUpReady?.(id);
      return this.#launch(workspace, paths);
    }
    try {
      const ready = await this.#launcher.takeReady?.(workspace);
      return await (ready === undefined ? this.#launch(workspace, paths) : this.#giveAway(ready, workspace, paths));
    } finally {
      this.#launcher.startEnded?.(workspace);
    }
  }

  async #isNew(id: string, { directory }: WorkspacePaths): Promise<boolean> {
    return !(await isPresent(directory)) && this.#launchesOf(id).length === 0;
  }

  async #launch(workspace: WorkspaceSpec, paths: WorkspacePaths): Promise<Found> {
    const { id, incarnation } = workspace;
    // Before anybody looks at the files.
    await finishRestore(paths.directory);
    await this.#launcher.admit?.(workspace);
    await ensureDirectories(paths);
    rmSync(markIn(paths), { force: true });
    await this.#launcher.sleep?.discard(paths);
    const groups = this.#launcher.ensureGroups(workspace);
    const intent = { id, incarnation, ...(groups.length > 0 && { groups }) };
    const [command] = await sideBySide([this.#launcher.prepare(workspace, paths, groups), writeRecord(paths.record, intent)]);
    return this.#begin(intent, paths, command);
  }

  async #begin(intent: WorkspaceRecord, paths: WorkspacePaths, command: StartCommand): Promise<Found> {
    const { id, incarnation } = intent;
    this.#launchedIds?.add(id);
    this.#waking.delete(id);
    const guest = await startGuest({ incarnation, command, paths, onChange: () => this.#notify(id), ...this.#waiting() });
    this.#guests.set(id, guest);
    this.#stopAskedAtMs.delete(id);
    this.#options.log.info({ workspaceId: id, incarnation, pid: guest.pid }, 'workspace started');
    const record = guest.identity === undefined ? intent : { ...intent, process: guest.identity };
    await writeRecord(paths.record, record);
    return { id, paths, record, guest };
  }

  /**
   * The rename makes it this workspace: before, it is one of the pool, and after, the record that came with the folder says whose it is. Where that
   * names the process only once it knows who it is, what a daemon that was killed leaves half given away is ended by the next, and started anew.
   */
  async #giveAway(ready: ReadyGuest, workspace: WorkspaceSpec, paths: WorkspacePaths): Promise<Found> {
    const { id, incarnation } = workspace;
    const { guest, groups } = ready;
    const intent = { id, incarnation, groups };
    const record = guest.identity === undefined ? intent : { ...intent, process: guest.identity };
    try {
      await writeRecord(join(ready.directory, basename(paths.record)), ready.isTakenOver ? record : intent);
      await rename(ready.directory, paths.directory);
    } catch (error) {
      // The pool does not have it any more, and nobody else does.
      await ready.remove();
      throw error;
    }
    guest.incarnation = incarnation;
    this.#guests.set(id, guest);
    this.#stopAskedAtMs.delete(id);
    ready.watch(() => this.#notify(id));
    try {
      await ready.bind(workspace, paths);
    } catch (error) {
      if (guest.identity !== undefined) signalProcess(guest.identity, 'SIGKILL');
      throw error;
    }
    this.#options.log.info({ workspaceId: id, incarnation, pid: guest.pid }, 'workspace started from the pool');
    if (!ready.isTakenOver) await writeRecord(paths.record, record);
    return { id, paths, record, guest };
  }

  /** True when neither the guest nor anything it started is alive. */
  async #end(found: Found): Promise<boolean> {
    const { id, paths, record, guest } = found;
    const running = living(guest);
    if (running !== undefined) {
      // What goes on where it was is asked when it can hear: it has files in its memory that are not on its disk.
      if (!this.#waking.has(id) || running.isListening) await this.#askToStop(found, running);
      return false;
    }
    if (this.#isSaved(paths)) {
      await this.#wake(found, {});
      return false;
    }
    if (await this.#killRest(id, paths, record)) return false;
    return this.#launcher.release(paths, record);
  }

  async #killRest(id: string, paths: WorkspacePaths, record: WorkspaceRecord | undefined): Promise<boolean> {
    const launched = this.#launchesOf(id).flatMap(({ processes }) => processes);
    const wasLaunched = launched.map((process) => signalProcess(process, 'SIGKILL')).includes(true);
    const wasLeft = await this.#launcher.killRest(paths, record);
    return wasLaunched || wasLeft;
  }

  async #observe(found: Found): Promise<WorkspaceState> {
    const { id, record, guest } = found;
    const incarnation = guest?.incarnation ?? record?.incarnation ?? '';
    const running = living(guest);
    if (running !== undefined) {
      const isSuspended = this.#isHeld(found.paths) && { isSuspended: true };
      const transport = await this.#launcher.transportOf?.(found.paths);
      const heldUp = this.#launcher.heldUp?.(found.paths);
      const phase = running.isListening ? 'running' : 'starting';
      const crowded = processLimitHeld(record?.groups ?? []);
      const more = { ...(transport !== undefined && { transport }), ...(heldUp !== undefined && { heldUp }), ...(crowded && { crowded }) };
      return { id, incarnation, phase, pid: running.pid, ...isSuspended, ...more };
    }
    const { sleep } = this.#launcher;
    if (sleep?.isSaved(found.paths)) return { id, incarnation, phase: 'running', isSuspended: true, savedAs: sleep.sizeOf(found.paths) };
    const failure = await this.#explainExit(found);
    return { id, incarnation, phase: 'exited', ...(failure !== undefined && { failure }) };
  }

  async #explainExit(found: Found): Promise<string | undefined> {
    const { guest, record, paths } = found;
    if (guest === undefined && record?.process === undefined) return 'the guest was never started';
    return this.#launcher.explainExit === undefined ? explainExit(found) : this.#launcher.explainExit(paths, guest?.exit);
  }

  /** A guest that does not heed the polite way is killed by a later call: the caller repeats, so nobody needs a timer. */
  async #askToStop({ id, paths, record }: Found, { identity, pid, incarnation }: GuestProcess): Promise<void> {
    if (identity === undefined) return;
    if (this.#isHeld(paths)) await this.#letGo(paths, record);
    const askedAtMs = this.#stopAskedAtMs.get(id);
    if (askedAtMs === undefined) {
      this.#stopAskedAtMs.set(id, performance.now());
      this.#launcher.terminate(identity, paths, incarnation);
    } else if (performance.now() - askedAtMs >= this.#options.stopGraceMs) {
      this.#options.log.warn({ workspaceId: id, pid }, 'guest did not stop in time, killed');
      signalProcess(identity, 'SIGKILL');
    }
  }

  #waiting(): Pick<GuestStart, 'awaitGuest'> {
    const { awaitGuest } = this.#launcher;
    return awaitGuest === undefined ? {} : { awaitGuest: awaitGuest.bind(this.#launcher) };
  }

  #launches(): Launch[] {
    return findLaunches((id) => this.#launcher.markOf(id));
  }

  /**
   * All processes are looked at only for what this daemon has started, or found when it looked for the first time: nobody else
   * starts guests for this home.
   */
  #launchesOf(id: string): Launch[] {
    this.#launchedIds ??= new Set(this.#launches().map((launch) => launch.id));
    return this.#launchedIds.has(id) ? this.#launches().filter((launch) => launch.id === id) : [];
  }

  #notify(id: string): void {
    for (const listener of this.#listeners) listener(id);
  }
}

/** Shorter than a guest may be silent. */
const HOLD_MS = 15_000;
/** For the end of a process that is killed; what is left then is killed when it is resumed. */
const END_SAVED_MS = 5_000;
const LOOK_MS = 20;

interface Copying {
  readonly id: string;
  readonly snapshot: string;
}

/** What cannot be read may hold anything. */
function holdsAnything(directory: string): Promise<boolean> {
  return readdir(directory).then(
    (names) => names.length > 0,
    (error: unknown) => (error as NodeJS.ErrnoException).code !== 'ENOENT',
  );
}

function living(guest: GuestProcess | undefined): GuestProcess | undefined {
  return guest?.exit === undefined ? guest : undefined;
}

async function explainExit({ guest, paths, record }: Found): Promise<string | undefined> {
  if (guest?.exit === 'exited with code 0') return undefined;
  const tail = (await isPresent(paths.log)) ? await readLogTail(paths.log) : '';
  return `the guest ${guest?.exit ?? 'ended while no daemon watched it'}${crowding(record?.groups)}\n${tail}`.trimEnd();
}

/** A guest that can start no thread aborts, and does not say why. */
function crowding(groups: readonly string[] = []): string {
  const met = processLimitMet(groups);
  if (met === undefined) return '';
  const whose = met.isOwn ? 'its workspace' : "the daemon's control group";
  return ` after ${whose} had reached its limit of ${met.limit} processes (pids.max)`;
}
