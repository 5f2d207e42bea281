/** The process driver: a guest agent as a plain child process. Always available, isolates nothing. */
import { mkdirSync, realpathSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { NotFoundError, UnavailableError, WaitingError } from '#lib/errors.ts';
import type { Logger } from '#lib/log.ts';
import { isRunning, type ProcessIdentity, signalProcess } from '#lib/process-identity.ts';
import type { Driver, WorkspaceSpec, WorkspaceState } from '../driver.ts';
import { dialGuest } from './dial.ts';
import { ensureDirectories, isPresent, removeDirectories, removeSocket } from './directories.ts';
import { type GuestProcess, startGuest } from './guest-process.ts';
import { KeyedLock } from './keyed-lock.ts';
import { killLeftovers } from './leftovers.ts';
import { readLogTail } from './log-tail.ts';
import { isWorkspaceId, type WorkspacePaths, workspacePaths } from './paths.ts';
import { readRecord, type WorkspaceRecord, writeRecord } from './record.ts';

export interface ProcessDriverOptions {
  /** One directory per workspace below it. Made when missing. */
  readonly stateDir: string;
  /** The bundled guest agent. */
  readonly guestAgentPath: string;
  readonly log: Logger;
  /** Between SIGTERM and SIGKILL of a guest; longer than the guest gives its commands. */
  readonly stopGraceMs?: number;
}

export function processDriver(options: ProcessDriverOptions): Driver {
  mkdirSync(options.stateDir, { recursive: true, mode: 0o700 });
  return new ProcessDriver({ stopGraceMs: 5_000, ...options, stateDir: realpathSync(options.stateDir) });
}

class ProcessDriver implements Driver {
  readonly name = 'process';
  readonly isolation = { driver: 'process', network: 'none', limits: 'none' };
  readonly #options: Required<ProcessDriverOptions>;
  readonly #guests = new Map<string, GuestProcess>();
  readonly #stopAskedAtMs = new Map<string, number>();
  readonly #lock = new KeyedLock();
  readonly #listeners = new Set<(id: string) => void>();

  constructor(options: Required<ProcessDriverOptions>) {
    this.#options = options;
  }

  create(workspace: WorkspaceSpec, signal: AbortSignal): Promise<WorkspaceState> {
    const { id, incarnation } = workspace;
    return this.#lock.run(id, async () => {
      signal.throwIfAborted();
      const paths = this.#paths(id);
      const record = await readRecord(paths.record);
      const identity = this.#runningProcess(id, record);
      if (identity !== undefined && !this.#guests.has(id)) {
        throw new WaitingError('PreviousGuestEnding', `the guest of an earlier daemon is still ending as pid ${identity.pid}`, 500);
      }
      const startedAs = this.#guests.get(id)?.incarnation ?? (record?.process && record.incarnation);
      if (identity === undefined && this.#liveGuest(id) === undefined && startedAs !== incarnation) await this.#start(workspace, paths);
      return this.#observe(id, paths);
    });
  }

  /** Under the lock too: half of a create or a delete is not a state. */
  get(id: string, signal: AbortSignal): Promise<WorkspaceState | undefined> {
    return this.#lock.run(id, async () => {
      signal.throwIfAborted();
      const paths = this.#paths(id);
      const isKnown = this.#liveGuest(id) !== undefined || (await isPresent(paths.directory));
      return isKnown ? this.#observe(id, paths) : undefined;
    });
  }

  async list(signal: AbortSignal): Promise<WorkspaceState[]> {
    const names = await readdir(this.#options.stateDir);
    const ids = new Set([...names.filter(isWorkspaceId), ...this.#guests.keys()]);
    const states = await Promise.all([...ids].map((id) => this.get(id, signal)));
    return states.filter((state) => state !== undefined);
  }

  stop(id: string, signal: AbortSignal): Promise<boolean> {
    return this.#lock.run(id, async () => {
      signal.throwIfAborted();
      const paths = this.#paths(id);
      const hasEnded = await this.#end(id, paths);
      if (hasEnded) await removeSocket(paths);
      return hasEnded;
    });
  }

  delete(id: string, signal: AbortSignal): Promise<void> {
    return this.#lock.run(id, async () => {
      signal.throwIfAborted();
      const paths = this.#paths(id);
      if (!(await this.#end(id, paths))) return;
      if (await isPresent(paths.directory)) {
        await removeDirectories(paths);
        this.#options.log.info({ workspaceId: id }, 'workspace removed');
      }
      this.#guests.delete(id);
      this.#stopAskedAtMs.delete(id);
    });
  }

  async connect(id: string, signal: AbortSignal): Promise<Socket> {
    const state = await this.get(id, signal);
    if (state === undefined) throw new NotFoundError(`there is no workspace ${id}`);
    if (state.phase === 'exited') throw new UnavailableError(`workspace ${id} has exited`, { reason: 'WorkspaceExited' });
    return dialGuest(this.#paths(id).socket, signal);
  }

  onChange(listener: (id: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async #start(workspace: WorkspaceSpec, paths: WorkspacePaths): Promise<void> {
    const { id, incarnation } = workspace;
    if (await killLeftovers(paths.workspace))
      throw new WaitingError('LeftoversEnding', `commands of an earlier incarnation of ${id} are ending`, 100);
    await ensureDirectories(paths);
    await writeRecord(paths.record, { id, incarnation });
    const guest = await startGuest({ workspace, paths, guestAgentPath: this.#options.guestAgentPath, onChange: () => this.#notify(id) });
    this.#guests.set(id, guest);
    this.#stopAskedAtMs.delete(id);
    this.#options.log.info({ workspaceId: id, incarnation, pid: guest.pid }, 'workspace started');
    if (guest.identity !== undefined) await writeRecord(paths.record, { id, incarnation, process: guest.identity });
  }

  /** True when neither the guest nor anything it started is alive. */
  async #end(id: string, paths: WorkspacePaths): Promise<boolean> {
    const identity = this.#runningProcess(id, await readRecord(paths.record));
    if (identity !== undefined) {
      this.#askToStop(id, identity);
      return false;
    }
    return this.#liveGuest(id) === undefined && !(await killLeftovers(paths.workspace));
  }

  async #observe(id: string, paths: WorkspacePaths): Promise<WorkspaceState> {
    const guest = this.#guests.get(id);
    const record = await readRecord(paths.record);
    const identity = this.#runningProcess(id, record);
    const incarnation = guest?.incarnation ?? record?.incarnation ?? '';
    if (guest !== undefined && guest.exit === undefined)
      return { id, incarnation, phase: guest.isListening ? 'running' : 'starting', pid: guest.pid };
    if (identity !== undefined) return { id, incarnation, phase: 'running', pid: identity.pid };
    const failure = await this.#explainExit(guest, { record, paths });
    return { id, incarnation, phase: 'exited', ...(failure !== undefined && { failure }) };
  }

  async #explainExit(
    guest: GuestProcess | undefined,
    { record, paths }: { record: WorkspaceRecord | undefined; paths: WorkspacePaths },
  ): Promise<string | undefined> {
    if (guest === undefined && record?.process === undefined) return 'the guest was never started';
    if (guest?.exit === 'exited with code 0') return undefined;
    const tail = (await isPresent(paths.log)) ? await readLogTail(paths.log) : '';
    return `the guest ${guest?.exit ?? 'ended while no daemon watched it'}\n${tail}`.trimEnd();
  }

  /** A guest that does not heed SIGTERM is killed by a later call: the caller repeats, so nobody needs a timer. */
  #askToStop(id: string, identity: ProcessIdentity): void {
    const askedAtMs = this.#stopAskedAtMs.get(id);
    if (askedAtMs === undefined) {
      this.#stopAskedAtMs.set(id, performance.now());
      signalProcess(identity, 'SIGTERM');
    } else if (performance.now() - askedAtMs >= this.#options.stopGraceMs) {
      this.#options.log.warn({ workspaceId: id, pid: identity.pid }, 'guest did not stop in time, killed');
      signalProcess(identity, 'SIGKILL');
    }
  }

  #liveGuest(id: string): GuestProcess | undefined {
    const guest = this.#guests.get(id);
    return guest?.exit === undefined ? guest : undefined;
  }

  /** The memory of this daemon comes before the record, which may be a moment behind. */
  #runningProcess(id: string, record: WorkspaceRecord | undefined): ProcessIdentity | undefined {
    const identity = this.#liveGuest(id)?.identity ?? record?.process;
    return identity !== undefined && isRunning(identity) ? identity : undefined;
  }

  #paths(id: string): WorkspacePaths {
    return workspacePaths(id, { stateDir: this.#options.stateDir, tempDir: tmpdir() });
  }

  #notify(id: string): void {
    for (const listener of this.#listeners) listener(id);
  }
}
