/** The vm driver: a guest agent in a machine of its own, which QEMU runs without any right on this one. */
import { createHash } from 'node:crypto';
import { mkdirSync, realpathSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Duplex } from 'node:stream';
import { AgentisoError, ConflictError, isCode, messageOf, StalledError, WaitingError } from '#lib/errors.ts';
import { Gate } from '#lib/gate.ts';
import type { Logger } from '#lib/log.ts';
import type { ProcessIdentity } from '#lib/process-identity.ts';
import { timeLimit } from '#lib/time-limit.ts';
import type { Driver, GuestPort, Resources, Usage, WorkspaceSpec } from '../driver.ts';
import { ensureGroups, groupPrefix, groupUsage, killGroups, ownGroups, removeGroups } from '../local/cgroup.ts';
import { closeInheritedOnExec } from '../local/descriptors.ts';
import { isPresent } from '../local/directories.ts';
import { type Room, requireRoom } from '../local/free-disk.ts';
import { canFreeze, freezeGroups } from '../local/freeze.ts';
import type { Launcher, Sleep, StartCommand, Waking } from '../local/launcher.ts';
import { LocalDriver } from '../local/local-driver.ts';
import { type WorkspacePaths, workspacePaths } from '../local/paths.ts';
import { MEMBER_FOLDER } from '../local/pool-member.ts';
import { sweep } from '../local/pool-sweep.ts';
import { readTree } from '../local/processes.ts';
import { readRecord, type WorkspaceRecord } from '../local/record.ts';
import { sideBySide } from '../local/side-by-side.ts';
import { uidOf } from '../local/team-uid.ts';
import { sumUsage } from '../local/usage.ts';
import type { PoolSize } from '../local/warm-pool.ts';
import type { Board } from './args.ts';
import { bindMachine } from './bind.ts';
import { type CommandPlan, machineCommand, type Startable } from './command.ts';
import { diskSize } from './disk.ts';
import { isEndedByKill } from './ended-by-kill.ts';
import { explainMachineExit } from './exit.ts';
import { fairLimit, waitedForProcessorMs } from './fair-limit.ts';
import { DISK, diskIn } from './folder.ts';
import { joinNetwork } from './join-network.ts';
import { leaveNetwork } from './leave-network.ts';
import { Machine } from './machine.ts';
import { type MachineFile, readMachineFile, writeMachineFile } from './machine-file.ts';
import type { MachineMember } from './member.ts';
import { restoreState } from './migration.ts';
import { pauseMachine } from './pause.ts';
import { type Giving, MachinePool, type MachinePoolOptions, type PoolRules } from './pool.ts';
import { powerOff, quit } from './power-off.ts';
import { renewDisk } from './renew-disk.ts';
import { discard, isSaved, savedFiles, savedState } from './saved.ts';
import { cannotBeSaved, saveMachine, wakeMachine } from './sleep.ts';
import { placeOf, type Start, toMachineFile } from './start-plan.ts';
import { StartSlots } from './start-slots.ts';
import type { VmSupport } from './support.ts';
import { type TemplateKind, Templates } from './templates.ts';
import { type ToolDisk, ToolDisks } from './tool-disks.ts';
import type { TransportProblem, VsockDaemon } from './vsock.ts';
import { answerCall } from './vsock-call.ts';

/** What a machine is started with; src/images makes them. */
export interface MachineImage {
  readonly name: string;
  readonly hash: string;
  readonly kernel: string;
  readonly initrd: string;
  readonly root: string;
}

export interface VmDriverOptions {
  /** One directory per workspace below it. Made when missing. */
  readonly stateDir: string;
  readonly log: Logger;
  /** Of detectVm, and not unavailable. */
  readonly support: VmSupport;
  /** undefined: it has not been built. */
  readonly findImage: (name: string) => Promise<MachineImage | undefined>;
  /** Between the polite end of a machine and SIGKILL. */
  readonly stopGraceMs?: number;
  /** For what is kept of machines. Absent: all of the disk but what is left free. */
  readonly room?: Room;
  /** Of templates and disks of tools together. */
  readonly cacheMiB?: () => number;
  /** How many machines start at once. */
  readonly starts?: Gate;
  /** False: every machine boots. */
  readonly hasTemplates?: boolean;
  /** Folder of templates, which other homes may share. Absent: one of this driver's own. */
  readonly templates?: string;
  /** Machines that wait for their agents, `size` of each kind in use; only where there are templates. Absent: none. */
  readonly pool?: PoolRules;
}

export interface VmDriver extends Driver {
  /** Settles when no template is being made. */
  templatesSettled(): Promise<void>;
  /** Settles when no machine is being started ahead. */
  poolSettled(): Promise<void>;
  /** What was started ahead and is nobody's. */
  poolSize(): PoolSize;
  /** Ends what was started ahead: for a team that is gone, or all that is nobody's, where its room is needed. */
  shrinkPool(team?: number): void;
  /** Lets go of all machines, which go on, and ends what is nobody's. */
  close(): Promise<void>;
}

const STARTS_AT_ONCE = 10;
const CACHE_MIB = 16_384;
const MIB = 1024 ** 2;
const GIB = 1024 ** 3;
/** Nobody tells when there is room again. */
const NO_ROOM_MS = 5_000;
const BOOT_MS = { kvm: 30_000, tcg: 120_000 } as const;
const BIND_MS = 60_000;
const STOP_GRACE_MS = 16_000;
/** What QEMU itself needs beside the memory of its guest. */
const OVERHEAD_MIB = 256;
/** After so many in a row what was saved of a machine is given up. */
const FAILED_WAKES = 3;

/** Of a machine that did not come up. */
interface Failure {
  readonly known: MachineFile;
  readonly isLate: boolean;
  /** Of its process. */
  readonly ended: AbortSignal;
}

export function vmDriver({ stopGraceMs = STOP_GRACE_MS, ...options }: VmDriverOptions): VmDriver {
  mkdirSync(options.stateDir, { recursive: true, mode: 0o700 });
  const stateDir = realpathSync(options.stateDir);
  closeInheritedOnExec();
  const launcher = new VmLauncher({ ...options, stateDir });
  const driver = new LocalDriver({ stateDir, launcher, log: options.log, stopGraceMs, ...(options.room && { room: options.room }) });
  return Object.assign(driver, {
    templatesSettled: () => launcher.templatesSettled(),
    poolSettled: () => launcher.poolSettled(),
    poolSize: () => launcher.poolSize(),
    shrinkPool: (team?: number) => launcher.shrinkPool(team),
    close: () => launcher.close(),
  });
}

const STANDS_STILL = 'the disk of this machine is full; it stands still with all that is in its memory, and goes on when there is room';

export function imageNotFound(name: string): StalledError {
  return new StalledError('ImageNotFound', `the image ${name} has not been built; run: agentiso image build ${name}`);
}

function cannotBeHeld(): ConflictError {
  return new ConflictError('a machine that is reached by vsock cannot be held still without a freezer of control groups', {
    ...{ reason: 'HoldUnsupported', hint: 'stop the agent first' },
  });
}

function transportUnavailable({ problem, hint }: TransportProblem): StalledError {
  return new StalledError('IsolationUnavailable', `${problem}; ${hint}`);
}

class VmLauncher implements Launcher {
  readonly name = 'vm';
  readonly files = [DISK];
  readonly isolation;
  readonly #options: VmDriverOptions;
  /** Tells the homes of one machine apart. */
  readonly #home: string;
  /** By folder. */
  readonly #machines = new Map<string, Machine>();
  /** By folder. */
  readonly #slots: StartSlots;
  /** What a start that was admitted will be, by folder. */
  readonly #starts = new Map<string, Start>();
  /** What it will be when it is admitted, while it is looked whether one waits for it. */
  readonly #plans = new WeakMap<WorkspaceSpec, Start>();
  /** Absent where they cannot be: files of others cannot be bound without root. */
  readonly #templates: Templates | undefined;
  readonly #toolDisks: ToolDisks;
  readonly #pool: MachinePool | undefined;
  /** Settles when nothing of an earlier daemon's pool is left. */
  readonly #swept: Promise<void>;
  readonly #room: Room;
  /** In a row, by folder. */
  readonly #failedWakes = new Map<string, number>();
  #board: Board;
  #onHoldUp: (id: string) => void = () => {};
  #isClosed = false;

  constructor(options: VmDriverOptions) {
    const { support, stateDir } = options;
    this.#options = options;
    this.#board = support.board;
    this.#room = options.room ?? ((bytes, what) => requireRoom(stateDir, bytes, what));
    this.#home = hash(stateDir).slice(0, 8);
    const { log, hasTemplates = true } = options;
    const [copies, tools] = [join(stateDir, '.templates'), join(stateDir, '.tools')];
    const { cacheMiB = () => CACHE_MIB, templates = join(stateDir, '.shared') } = options;
    const caches = { directories: [templates, copies, tools], budgetBytes: () => cacheMiB() * MIB };
    this.#slots = new StartSlots(options.starts ?? new Gate(() => STARTS_AT_ONCE));
    this.#toolDisks = new ToolDisks({ directory: tools, log, caches });
    if (hasTemplates && support.isRoot) this.#templates = new Templates({ directory: templates, copies, support, log, caches });
    const onProblem = (error: unknown) => log.warn({ err: error }, 'the pool of machines has a problem');
    const [groupPrefix, markPrefix] = [this.#groupName(''), `agentiso-vm-pool-${this.#home}-`];
    this.#swept = sweep({ stateDir, places: support.places, groupPrefix, markPrefix }).catch(onProblem);
    if (options.pool !== undefined && this.#templates !== undefined) {
      const found = { markOf: (name: string) => `${markPrefix}${name}`, swept: this.#swept, onProblem };
      this.#pool = new MachinePool({ ...options.pool, ...found, ...this.#poolMeans(this.#templates) });
    }
    this.isolation = { driver: 'vm', accel: support.accel, network: support.network, limits: support.limits };
  }

  pathsOf(id: string): WorkspacePaths {
    return workspacePaths(id, { stateDir: this.#options.stateDir });
  }

  markOf(id: string): string {
    return `agentiso-vm-${hash(join(this.#options.stateDir, id)).slice(0, 32)}`;
  }

  /** A copy of a template takes no time worth mentioning; of those that boot only a few may at once. */
  async admit(workspace: WorkspaceSpec): Promise<void> {
    const { directory } = this.pathsOf(workspace.id);
    const start = this.#plans.get(workspace) ?? (await this.#plan(workspace));
    const template = start.vsock === undefined ? await this.#templates?.find(start.kind, uidOf(workspace.team)) : undefined;
    if (!(await isPresent(diskIn(directory)))) await this.#requireDisk(start.kind.diskGiB);
    this.#slots.take(directory, template === undefined);
    this.#starts.set(directory, { ...start, ...(template && { template }) });
  }

  /** But for the template. */
  async #plan(workspace: WorkspaceSpec): Promise<Start> {
    const { support } = this.#options;
    const { directory } = this.pathsOf(workspace.id);
    const image = await this.#image(workspace.image ?? 'base');
    const { vcpus, memoryMiB } = workspace.resources;
    const vsock = this.#vsock();
    const disk = await diskSize(diskIn(directory));
    // One that is there stays as large as it was made.
    const diskGiB = disk === undefined ? workspace.resources.diskGiB : Math.ceil(disk / GIB);
    const tools = await this.#tools(workspace);
    const kind: TemplateKind = {
      ...{ image, vcpus, memoryMiB, diskGiB, board: this.#board, accel: support.accel },
      // Also where nobody is on the other end: with or without a network, one template serves both.
      hasNetwork: support.isRoot,
      ...(tools && { toolsGiB: tools.gib }),
      ...(support.tscKhz !== undefined && { tscKhz: support.tscKhz }),
      ...(vsock && { transport: 'vsock' }),
    };
    return { kind, ...(tools && { tools }), ...(vsock && { vsock }) };
  }

  async takeReady(workspace: WorkspaceSpec): Promise<MachineMember | undefined> {
    if (this.#pool === undefined) return undefined;
    const start = await this.#plan(workspace);
    this.#plans.set(workspace, start);
    return this.#pool.take(workspace, start);
  }

  startEnded(workspace: WorkspaceSpec): void {
    const start = this.#plans.get(workspace);
    this.#plans.delete(workspace);
    if (start !== undefined) this.#pool?.refill(workspace, start);
  }

  #poolMeans(templates: Templates): Omit<MachinePoolOptions, keyof PoolRules | 'markOf' | 'swept' | 'onProblem'> {
    const { stateDir, log } = this.#options;
    return {
      ...{ stateDir, log, templates, slots: this.#slots },
      hasRoomFor: (diskGiB) =>
        this.#requireDisk(diskGiB).then(
          () => true,
          () => false,
        ),
      ensureGroups: (member) => this.ensureGroups(member),
      command: (member, paths, plan) => this.#command(member, paths, plan),
      machineOf: (paths) => this.#machineOf(paths),
      giveAway: (giving, workspace, place) => this.#giveAway(giving, workspace, place),
      forget: ({ directory }) => void this.#machines.delete(directory),
    };
  }

  /** Its folder has its place. From the word that it is to live, whoever looks after it next does what is missing: the machine file has it. */
  async #giveAway({ guest, from, start }: Giving, workspace: WorkspaceSpec, place: WorkspacePaths): Promise<void> {
    const machine = this.#machineOf(from);
    this.#machines.delete(from.directory);
    machine.moveTo(place.run);
    this.#machines.set(place.directory, machine);
    const known = { ...toMachineFile(workspace, start), isWaiting: true };
    await writeMachineFile(place.directory, known);
    guest.letLive?.();
    const limit = timeLimit(BIND_MS);
    await this.#takeIn(place, known, [limit, limit]);
    if (known.egress) machine.carryEgress(known);
  }

  ensureGroups({ id, resources }: Pick<WorkspaceSpec, 'id'> & { readonly resources: Resources }): readonly string[] {
    const { places } = this.#options.support;
    const limits = { ...resources, memoryMiB: resources.memoryMiB + OVERHEAD_MIB };
    return places === undefined ? [] : ensureGroups(places, this.#groupName(id), limits);
  }

  async prepare(workspace: WorkspaceSpec, paths: WorkspacePaths, groups: readonly string[]): Promise<StartCommand> {
    const { directory } = paths;
    const start = this.#starts.get(directory);
    if (start === undefined) throw new AgentisoError('Internal', 'a machine was not admitted before its start');
    try {
      const { kind, template, tools, vsock } = start;
      const { kernel, initrd, root } = kind.image;
      const files = {
        ...{ kernel, initrd, root },
        ...(tools && { tools: tools.path }),
        ...(template && { memory: template.memory }),
        ...(vsock && { vsock: vsock.program }),
      };
      await writeMachineFile(directory, toMachineFile(workspace, start));
      return await this.#command(workspace, paths, { kind: { ...kind, ...(template && { memory: 'copy' }) }, files, groups });
    } catch (error) {
      this.#slots.leave(directory);
      throw error;
    }
  }

  readonly sleep: Sleep = {
    isSaved: ({ directory }) => isSaved(directory),
    sizeOf: ({ directory }) => savedState(directory),
    save: (paths, signal) => saveMachine(this.#machineOf(paths), paths, { room: this.#room, signal }),
    prepare: (paths, place) => this.#prepareWaking(paths, place),
    discard: ({ directory }) => discard(directory),
  };

  /** As the same machine, with the files that it had. */
  async #prepareWaking(paths: WorkspacePaths, place: Pick<WorkspaceSpec, 'network' | 'link'>): Promise<Waking> {
    const { directory } = paths;
    const known = await readMachineFile(directory);
    if (known?.started === undefined) throw cannotBeSaved();
    const { kind, team } = known.started;
    const { link: _before, network: _there, state: _template, ...same } = known;
    await writeMachineFile(directory, { ...same, ...placeOf(place, kind), isResumed: true });
    const groups = this.ensureGroups({ id: known.id, resources: kind });
    const { network } = place;
    const workspace = { ...same, team, resources: kind, ...(network !== undefined && { network }) };
    const plan = { kind: { ...kind, memory: 'saved' as const }, files: savedFiles(directory), groups };
    return { groups, command: await this.#command(workspace, paths, plan) };
  }

  async #command(workspace: Startable, paths: WorkspacePaths, plan: CommandPlan): Promise<StartCommand> {
    const { support } = this.#options;
    const command = await machineCommand(workspace, plan, { directory: paths.directory, mark: this.markOf(workspace.id), support });
    this.#renewMachine(paths);
    return command;
  }

  /** From the start to a guest that knows who it is. Also for a machine that another daemon has started: whatever is missing is done. */
  async awaitGuest(paths: WorkspacePaths, signal: AbortSignal, pid: number): Promise<void> {
    const machine = this.#machineOf(paths);
    const known = await readMachineFile(paths.directory);
    if (known === undefined) return;
    const limit = fairLimit(BOOT_MS[known.accel], () => waitedForProcessorMs(pid));
    try {
      const either = AbortSignal.any([signal, limit]);
      if (known.isResumed) await wakeMachine(machine, paths.directory, known, either);
      else await this.#startMachine(paths, known, [signal, either]);
      if (known.egress) machine.carryEgress(known);
    } catch (error) {
      if (signal.aborted) return;
      this.#options.log.warn({ workspaceId: known.id, board: known.board, err: error }, 'the machine did not come up');
      await this.#giveUp(machine, paths, { known, isLate: limit.aborted, ended: signal });
      throw error;
    } finally {
      this.#slots.leave(paths.directory);
    }
    this.#failedWakes.delete(paths.directory);
    if (!known.isResumed) this.#tellTemplates(this.#starts.get(paths.directory));
  }

  /** Of a start that has worked. A machine whose memory another program shares cannot begin as a copy: there is no template of it. */
  #tellTemplates(start: Start | undefined): void {
    if (start === undefined || start.vsock !== undefined) return;
    if (start.template === undefined) this.#templates?.makeSoon(start.kind);
    else this.#templates?.worked(start.kind);
  }

  async #startMachine(paths: WorkspacePaths, known: MachineFile, [signal, limited]: readonly [AbortSignal, AbortSignal]): Promise<void> {
    if (known.isWaiting) return this.#takeIn(paths, known, [signal, limited]);
    const machine = this.#machineOf(paths);
    if (known.state === undefined) await machine.qmp(limited);
    else await restoreState(machine, { path: known.state, hasMemory: false, signal: limited });
    if ((await machine.transport()) === 'vsock' && !known.hasCalled) {
      const onCalled = () => writeMachineFile(paths.directory, { ...known, hasCalled: true });
      await answerCall({ run: paths.run, onCalled }, AbortSignal.any([limited, machine.letGo]));
    }
    await this.#bind(machine, known, [signal, limited]);
  }

  async #bind(machine: Machine, known: MachineFile, [signal, limited]: readonly [AbortSignal, AbortSignal]): Promise<void> {
    const bind = (stream: Duplex) => bindMachine(stream, known, AbortSignal.any([signal, timeLimit(BIND_MS)]));
    await machine.tell(bind, limited);
  }

  /** One that has waited: it is put on the network, goes on and is told who it is. Can be repeated. */
  async #takeIn(paths: WorkspacePaths, known: MachineFile, signals: readonly [AbortSignal, AbortSignal]): Promise<void> {
    const machine = this.#machineOf(paths);
    const connect = async () => {
      const launcher = (await readRecord(paths.record))?.process?.pid;
      if (known.network !== undefined && launcher !== undefined) await joinNetwork(launcher, known.network);
    };
    const begin = async () => {
      await pauseMachine(machine, false);
      await this.#bind(machine, known, signals);
    };
    await sideBySide([connect(), begin()]);
    const { isWaiting: _, ...taken } = known;
    await writeMachineFile(paths.directory, taken);
  }

  async freeze(paths: WorkspacePaths, record: WorkspaceRecord | undefined, isFrozen: boolean): Promise<void> {
    const machine = this.#machineOf(paths);
    if ((await machine.transport()) !== 'vsock') return pauseMachine(machine, isFrozen);
    // What has its vsock must stand still with it: it ends its work when it is spoken to while its machine is stopped.
    if (isFrozen && !canFreeze(this.#options.support.places)) throw cannotBeHeld();
    await freezeGroups(this.#groups(paths, record), isFrozen);
  }

  heldUp({ directory }: WorkspacePaths): string | undefined {
    return this.#machines.get(directory)?.wantsRoom ? STANDS_STILL : undefined;
  }

  watchHoldUps(onChange: (id: string) => void): void {
    this.#onHoldUp = onChange;
  }

  renewFiles(folder: string): Promise<void> {
    return renewDisk(diskIn(folder));
  }

  async close(): Promise<void> {
    await this.#swept;
    await this.#pool?.close();
    this.#isClosed = true;
    await Promise.all([...this.#machines.values()].map((machine) => machine.close()));
    await this.#templates?.close();
  }

  async templatesSettled(): Promise<void> {
    await this.#templates?.settled();
  }

  async poolSettled(): Promise<void> {
    await this.#pool?.settled();
  }

  poolSize(): PoolSize {
    return this.#pool?.size ?? { agents: 0, memoryMiB: 0 };
  }

  shrinkPool(team?: number): void {
    this.#pool?.shrink(team);
  }

  /** The next start is another way: without the template that it was a copy of, or on a board that does not depend on its clock. */
  async #giveUp(machine: Machine, paths: WorkspacePaths, { known, isLate, ended }: Failure): Promise<void> {
    // It goes on, and whoever looks after it next does what is missing.
    if (machine.letGo.aborted) return;
    const start = this.#starts.get(paths.directory);
    if (known.isResumed) await this.#giveUpWaking(paths);
    else if (isLate && known.state === undefined && known.board === 'microvm') this.#board = 'q35';
    // What it said on its console is known when it has ended.
    await quit(machine);
    const isCopy = !known.isResumed && known.state !== undefined && start !== undefined;
    if (isCopy && !(await isEndedByKill(ended))) await this.#templates?.failed(start.kind);
  }

  /** Somebody may have killed it; what fails again and again will not work ever, and it starts anew with its files. */
  async #giveUpWaking({ directory }: WorkspacePaths): Promise<void> {
    const failures = (this.#failedWakes.get(directory) ?? 0) + 1;
    this.#failedWakes.set(directory, failures);
    if (failures < FAILED_WAKES) return;
    this.#failedWakes.delete(directory);
    await discard(directory);
  }

  connect(paths: WorkspacePaths, port: GuestPort, signal: AbortSignal): Promise<Duplex> {
    return this.#machineOf(paths).connect(port, signal);
  }

  transportOf(paths: WorkspacePaths): Promise<string> {
    return this.#machineOf(paths).transport();
  }

  /** What is on the disk can be told by nobody but the guest. */
  async hasFiles({ directory }: WorkspacePaths): Promise<boolean> {
    return isPresent(diskIn(directory));
  }

  explainExit(paths: WorkspacePaths, exit: string | undefined): Promise<string | undefined> {
    return explainMachineExit({ directory: paths.directory, log: paths.log, exit, reason: this.#machineOf(paths).shutdownReason });
  }

  terminate(main: ProcessIdentity, paths: WorkspacePaths, incarnation: string): void {
    void powerOff(this.#machineOf(paths), main, { id: basename(paths.directory), incarnation }).catch((error: unknown) =>
      this.#options.log.warn({ err: error }, 'a machine could not be told to end'),
    );
  }

  async killRest(paths: WorkspacePaths, record: WorkspaceRecord | undefined): Promise<boolean> {
    return killGroups(this.#groups(paths, record));
  }

  async usage(main: ProcessIdentity, paths: WorkspacePaths, record: WorkspaceRecord | undefined): Promise<Usage> {
    return groupUsage(this.#groups(paths, record)) ?? sumUsage(readTree(main.pid));
  }

  async release(paths: WorkspacePaths, record: WorkspaceRecord | undefined): Promise<boolean> {
    void this.#machines.get(paths.directory)?.close();
    this.#machines.delete(paths.directory);
    this.#starts.delete(paths.directory);
    this.#slots.leave(paths.directory);
    if (!removeGroups(this.#groups(paths, record))) return false;
    await this.#leaveNetwork(paths.directory);
    return true;
  }

  /** Once for each start: whoever has ended is asked to end again and again. */
  async #leaveNetwork(directory: string): Promise<void> {
    try {
      const known = await readMachineFile(directory);
      if (known?.network === undefined) return;
      const { network, ...apart } = known;
      await leaveNetwork(network);
      await writeMachineFile(directory, apart);
    } catch (error) {
      // No reason to keep it from ending.
      this.#options.log.warn({ err: error, directory }, 'a machine was not taken off its network');
    }
  }

  async #image(name: string): Promise<MachineImage> {
    const image = await this.#options.findImage(name);
    if (image !== undefined) return image;
    throw imageNotFound(name);
  }

  /** undefined: machines are reached by virtio ports. */
  #vsock(): VsockDaemon | undefined {
    const { transport } = this.#options.support;
    if (transport === undefined) return undefined;
    if ('problem' in transport) throw transportUnavailable(transport);
    return transport.name === 'vsock' ? transport : undefined;
  }

  async #tools({ tools, toolFolder }: WorkspaceSpec): Promise<ToolDisk | undefined> {
    return tools === undefined || toolFolder === undefined ? undefined : this.#toolDisks.find(tools, toolFolder);
  }

  /** The one that it keeps from now on; it is as large as it may become, one day. */
  async #requireDisk(diskGiB: number): Promise<void> {
    const { stateDir } = this.#options;
    await requireRoom(stateDir, diskGiB * GIB, 'its disk').catch((error: unknown) => {
      throw isCode(error, 'QuotaExceeded') ? new WaitingError('QuotaExceeded', messageOf(error), NO_ROOM_MS) : error;
    });
  }

  #machineOf({ directory, run }: WorkspacePaths): Machine {
    const known = this.#machines.get(directory);
    if (known !== undefined) return known;
    const machine: Machine = new Machine(run, {
      transportOf: async () => (await readMachineFile(directory))?.started?.kind.transport ?? 'virtio-serial',
      onStandstill: () => this.#tellHoldUp(machine),
    });
    // Whoever is still on the way to it comes too late.
    if (this.#isClosed) void machine.close();
    this.#machines.set(directory, machine);
    return machine;
  }

  /** One that has waited has another folder since. */
  #tellHoldUp(machine: Machine): void {
    const folders = [...this.#machines].filter(([, each]) => each === machine).map(([directory]) => basename(directory));
    for (const name of folders) if (!name.startsWith(MEMBER_FOLDER)) this.#onHoldUp(name);
  }

  #renewMachine(paths: WorkspacePaths): void {
    void this.#machines.get(paths.directory)?.close();
    this.#machines.delete(paths.directory);
    this.#machineOf(paths);
  }

  /** Those it was started with, and those it would be started with now: its record may be gone. */
  #groups({ directory }: WorkspacePaths, record: WorkspaceRecord | undefined): string[] {
    const name = this.#groupName(basename(directory));
    const usual = Object.values(this.#options.support.places?.parents ?? {}).map((parent) => join(parent, name));
    return [...new Set([...ownGroups(record?.groups, this.#groupName('')), ...usual])];
  }

  #groupName(id: string): string {
    return `${groupPrefix(this.#options.stateDir)}${id}`;
  }
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
