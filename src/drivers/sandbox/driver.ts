/** The sandbox driver: a guest agent behind Linux namespaces, without capabilities, with a system call filter, limited by control groups. */
import { createHash } from 'node:crypto';
import { mkdirSync, realpathSync } from 'node:fs';
import { basename, join } from 'node:path';
import { newUid } from '#lib/clock.ts';
import { messageOf, NotFoundError, StalledError } from '#lib/errors.ts';
import type { Logger } from '#lib/log.ts';
import { type ProcessIdentity, signalProcess } from '#lib/process-identity.ts';
import type { Driver, Usage, WorkspacePlan, WorkspaceSpec } from '../driver.ts';
import { ensureGroups, groupPrefix, groupUsage, joinFiles, killGroups, ownGroups, removeGroups } from '../local/cgroup.ts';
import type { CgroupPlaces } from '../local/cgroup-places.ts';
import { closeInheritedOnExec } from '../local/descriptors.ts';
import type { Room } from '../local/free-disk.ts';
import { canFreeze, freezeGroups } from '../local/freeze.ts';
import type { Launcher, StartCommand } from '../local/launcher.ts';
import { LocalDriver } from '../local/local-driver.ts';
import { type WorkspacePaths, workspacePaths } from '../local/paths.ts';
import { memberPaths } from '../local/pool-member.ts';
import { sweep } from '../local/pool-sweep.ts';
import { readTree } from '../local/processes.ts';
import type { WorkspaceRecord } from '../local/record.ts';
import { uidOf } from '../local/team-uid.ts';
import { sumUsage } from '../local/usage.ts';
import type { PoolSize } from '../local/warm-pool.ts';
import { TOOL_PATH } from './args.ts';
import type { SandboxSupport } from './detect.ts';
import { type BindGuest, type SandboxMember, startMember } from './member.ts';
import { type MemberKind, type PoolOptions, SandboxPool } from './pool.ts';
import { setReadOnly } from './read-only.ts';
import { prepareSandbox, type SandboxAbilities, type SandboxStart } from './sandbox.ts';

export interface SandboxDriverOptions {
  /** One directory per workspace below it. Made when missing. */
  readonly stateDir: string;
  /** The bundled guest agent. */
  readonly guestAgentPath: string;
  readonly log: Logger;
  /** Of detectSandbox, and not unavailable. */
  readonly support: SandboxSupport;
  /** Between SIGTERM and SIGKILL of a guest; longer than the guest gives its commands. */
  readonly stopGraceMs?: number;
  /** For what is kept of workspaces. Absent: all of the disk but what is left free. */
  readonly room?: Room;
  /** Sandboxes started ahead, `size` of each kind in use; root mode only. Absent: none. */
  readonly pool?: { readonly bind: BindGuest } & Pick<PoolOptions<never>, 'size' | 'quietMs' | 'hasRoom'>;
}

export interface SandboxDriver extends Driver {
  /** Ends what was started ahead and is nobody's yet. Workspaces go on. */
  closePool(): Promise<void>;
  /** Settles when no sandbox is being started ahead, nor about to be. */
  poolSettled(): Promise<void>;
  /** What was started ahead and is nobody's. */
  poolSize(): PoolSize;
  /** Ends what was started ahead: for a team that is gone, or all that is nobody's, where its room is needed. */
  shrinkPool(team?: number): void;
}

export function sandboxDriver({ stopGraceMs = 5_000, ...options }: SandboxDriverOptions): SandboxDriver {
  const { support, log } = options;
  if (support.abilities === undefined) throw new StalledError('SandboxUnavailable', support.reason);
  mkdirSync(options.stateDir, { recursive: true, mode: 0o700 });
  const stateDir = realpathSync(options.stateDir);
  closeInheritedOnExec();
  const launcher = new SandboxLauncher({ ...options, stateDir, abilities: support.abilities });
  const driver = new LocalDriver({ stateDir, launcher, log, stopGraceMs, ...(options.room && { room: options.room }) });
  return Object.assign(driver, {
    closePool: () => launcher.closePool(),
    poolSettled: () => launcher.poolSettled(),
    poolSize: () => launcher.poolSize(),
    shrinkPool: (team?: number) => launcher.shrinkPool(team),
  });
}

interface LauncherOptions extends SandboxDriverOptions {
  readonly abilities: SandboxAbilities;
}

class SandboxLauncher implements Launcher {
  readonly name = 'sandbox';
  readonly files = ['upper', 'workspace', 'home'];
  readonly isolation;
  readonly freeze: Launcher['freeze'];
  readonly setReadOnly: Launcher['setReadOnly'];
  readonly #options: LauncherOptions;
  readonly #places: CgroupPlaces | undefined;
  /** Tells the homes of one machine apart. */
  readonly #home: string;
  readonly #pool: SandboxPool<SandboxMember> | undefined;
  readonly #swept: Promise<void>;

  constructor(options: LauncherOptions) {
    const { support, pool, abilities, log } = options;
    this.#options = options;
    this.#places = support.places;
    this.#home = hash(options.stateDir).slice(0, 8);
    if (canFreeze(support.places)) this.freeze = (paths, record, isFrozen) => freezeGroups(this.#groups(paths, record), isFrozen);
    if (abilities.mode === 'root') this.setReadOnly = (main, isReadOnly) => setReadOnlyIn(main, isReadOnly);
    this.isolation = { driver: 'sandbox', network: support.network, limits: support.limits };
    const onProblem = (error: unknown) => log.warn({ error: messageOf(error) }, 'the pool of sandboxes has a problem');
    this.#swept = sweep({
      stateDir: options.stateDir,
      places: this.#places,
      groupPrefix: this.#groupName(''),
      markPrefix: `agentiso-pool-${this.#home}-`,
    }).catch(onProblem);
    if (pool !== undefined && abilities.mode === 'root')
      this.#pool = new SandboxPool({ ...pool, start: (kind) => this.#startMember(kind, pool.bind), onProblem });
  }

  async reserve(plan: WorkspacePlan): Promise<SandboxMember | undefined> {
    return this.#canBeMember(plan.hasBase) ? this.#pool?.reserve(plan) : undefined;
  }

  async takeReady(workspace: WorkspaceSpec): Promise<SandboxMember | undefined> {
    // A member of an earlier daemon may be in the network of this workspace.
    await this.#swept;
    if (this.#canBeMember(workspace.base !== undefined)) return this.#pool?.take(workspace);
    await this.#pool?.giveUp(workspace.id);
    return undefined;
  }

  async giveUpReady(id: string): Promise<void> {
    await this.#swept;
    await this.#pool?.giveUp(id);
  }

  startEnded(workspace: WorkspaceSpec): void {
    if (this.#canBeMember(workspace.base !== undefined)) this.#pool?.refill(workspace);
  }

  #canBeMember(hasBase: boolean): boolean {
    return !hasBase || this.#options.abilities.canOverlay;
  }

  async closePool(): Promise<void> {
    await this.#swept;
    await this.#pool?.close();
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

  pathsOf(id: string): WorkspacePaths {
    return workspacePaths(id, { stateDir: this.#options.stateDir });
  }

  /** Not the path itself: it can be read inside. */
  markOf(id: string): string {
    return `agentiso-${hash(join(this.#options.stateDir, id)).slice(0, 32)}`;
  }

  ensureGroups({ id, resources }: WorkspaceSpec): readonly string[] {
    return this.#places === undefined ? [] : ensureGroups(this.#places, this.#groupName(id), resources);
  }

  async prepare(workspace: WorkspaceSpec, paths: WorkspacePaths, groups: readonly string[]): Promise<StartCommand> {
    const { abilities, guestAgentPath } = this.#options;
    const { argv, seccompPath } = await prepareSandbox(
      {
        ...workspace,
        identity: workspace,
        mark: this.markOf(workspace.id),
        directory: paths.directory,
        guestAgentPath,
        uid: uidOf(workspace.team),
        groups: joinFiles(this.#places, groups),
      },
      abilities,
    );
    return { argv, cwd: '/', environment: { PATH: TOOL_PATH }, files: [seccompPath] };
  }

  async #startMember({ team, resources, egress, hasBase, isConnected, tools }: MemberKind, bind: BindGuest): Promise<SandboxMember> {
    await this.#swept;
    const name = newUid();
    const { abilities, stateDir, guestAgentPath } = this.#options;
    const paths = memberPaths(stateDir, name);
    const { directory } = paths;
    const groups = this.#places === undefined ? [] : ensureGroups(this.#places, this.#groupName(name), resources);
    const start: SandboxStart = {
      ...{ mark: `agentiso-pool-${this.#home}-${name}`, hostname: 'agent', directory, guestAgentPath, uid: uidOf(team), resources, egress },
      isBaseComing: hasBase,
      isNetworkComing: isConnected,
      ...(tools !== undefined && { tools }),
      groups: joinFiles(this.#places, groups),
    };
    return startMember({ paths, groups, bind, prepare: () => prepareSandbox(start, abilities) });
  }

  /** The launcher and bubblewrap would die at once and everything inside with them: the signal is for the guest, the first that they started. */
  terminate(main: ProcessIdentity): void {
    const guest = guestOf(main);
    if (guest === undefined) signalProcess(main, 'SIGKILL');
    else signalProcess(guest, 'SIGTERM');
  }

  async killRest(paths: WorkspacePaths, record: WorkspaceRecord | undefined): Promise<boolean> {
    return killGroups(this.#groups(paths, record));
  }

  async usage(main: ProcessIdentity, paths: WorkspacePaths, record: WorkspaceRecord | undefined): Promise<Usage> {
    return groupUsage(this.#groups(paths, record)) ?? sumUsage(readTree(main.pid));
  }

  async release(paths: WorkspacePaths, record: WorkspaceRecord | undefined): Promise<boolean> {
    return removeGroups(this.#groups(paths, record));
  }

  /** Those it was started with, and those it would be started with now: its record may be gone. */
  #groups({ directory }: WorkspacePaths, record: WorkspaceRecord | undefined): string[] {
    const name = this.#groupName(basename(directory));
    const usual = Object.values(this.#places?.parents ?? {}).map((parent) => join(parent, name));
    return [...new Set([...ownGroups(record?.groups, this.#groupName('')), ...usual])];
  }

  #groupName(id: string): string {
    return `${groupPrefix(this.#options.stateDir)}${id}`;
  }
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** The first that launcher and bubblewrap have started. */
function guestOf({ pid }: ProcessIdentity) {
  return readTree(pid).find(({ namespacePids }) => namespacePids.length === 2 && namespacePids[1] === 2);
}

async function setReadOnlyIn(main: ProcessIdentity, isReadOnly: boolean): Promise<void> {
  const guest = guestOf(main);
  if (guest === undefined) throw new NotFoundError('no guest runs in the sandbox');
  await setReadOnly(guest.pid, isReadOnly);
}
