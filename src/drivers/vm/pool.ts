/** The warm pool of machines: when one is started ahead, from what, and for whom. What a member is, is in member.ts. */
import { setTimeout as pause } from 'node:timers/promises';
import { newUid } from '#lib/clock.ts';
import { AgentisoError } from '#lib/errors.ts';
import type { Logger } from '#lib/log.ts';
import type { Resources, WorkspaceSpec } from '../driver.ts';
import type { ReadyGuest, StartCommand } from '../local/launcher.ts';
import type { WorkspacePaths } from '../local/paths.ts';
import { memberPaths } from '../local/pool-member.ts';
import { uidOf } from '../local/team-uid.ts';
import { type PoolSize, WarmPool, type WarmPoolOptions } from '../local/warm-pool.ts';
import type { CommandPlan, Startable } from './command.ts';
import type { Machine } from './machine.ts';
import { KILLED, type MachineMember, startMember } from './member.ts';
import type { Start } from './start-plan.ts';
import type { StartSlots } from './start-slots.ts';
import type { TemplateKind, Templates } from './templates.ts';

/** What cannot be changed any more once a member waits. */
export interface MachineKind {
  readonly team: number;
  readonly resources: Resources;
  readonly template: TemplateKind;
  /** Path of the disk with its tools. */
  readonly tools?: string;
  /** The tree that its disk was made of, which never changes. */
  readonly base?: string;
}

/** Pure. undefined: no such machine can wait. One whose memory another program shares cannot begin as a copy. */
export function machineKindOf({ team, resources, base }: WorkspaceSpec, { kind, tools, vsock }: Start): MachineKind | undefined {
  if (vsock !== undefined) return undefined;
  const { vcpus, memoryMiB } = resources;
  return {
    ...{ team, resources: { vcpus, memoryMiB, diskGiB: kind.diskGiB }, template: kind },
    ...(tools && { tools: tools.path }),
    ...(base !== undefined && { base }),
  };
}

/** A member that is about to be somebody's. */
export interface Giving {
  readonly guest: ReadyGuest['guest'];
  /** As it was in the pool. */
  readonly from: WorkspacePaths;
  readonly start: Start;
}

/** How many are started ahead, and when. */
export type PoolRules = Pick<WarmPoolOptions<MachineKind, MachineMember>, 'size' | 'quietMs' | 'hasRoom'>;

export interface MachinePoolOptions extends PoolRules {
  readonly stateDir: string;
  readonly templates: Templates;
  readonly slots: StartSlots;
  /** Settles when nothing of an earlier daemon's pool is left. */
  readonly swept: Promise<void>;
  readonly hasRoomFor: (diskGiB: number) => Promise<boolean>;
  readonly ensureGroups: (member: { readonly id: string; readonly resources: Resources }) => readonly string[];
  /** A word on its command line, by which it is found again. */
  readonly markOf: (name: string) => string;
  readonly command: (member: Startable, paths: WorkspacePaths, plan: CommandPlan) => Promise<StartCommand>;
  readonly machineOf: (paths: WorkspacePaths) => Machine;
  readonly giveAway: (giving: Giving, workspace: WorkspaceSpec, place: WorkspacePaths) => Promise<void>;
  /** It has been taken away. */
  readonly forget: (paths: WorkspacePaths) => void;
  readonly onProblem: (error: unknown) => void;
  readonly log: Logger;
}

/** Members that nobody has asked for in so long end. */
const IDLE_MS = 300_000;
/** How often is looked whether the agents that are wanted have started. */
const TICK_MS = 2_000;

export class MachinePool {
  readonly #options: MachinePoolOptions;
  readonly #pool: WarmPool<MachineKind, MachineMember>;
  readonly #closing = new AbortController();

  constructor(options: MachinePoolOptions) {
    this.#options = options;
    const onProblem = (error: unknown) => {
      if (!this.#closing.signal.aborted) options.onProblem(error);
    };
    const { size, quietMs, hasRoom } = options;
    this.#pool = new WarmPool({ size, quietMs, hasRoom, start: (kind) => this.#start(kind), onProblem, idleMs: IDLE_MS });
  }

  get size(): PoolSize {
    return this.#pool.size;
  }

  async take(workspace: WorkspaceSpec, start: Start): Promise<MachineMember | undefined> {
    const kind = machineKindOf(workspace, start);
    return kind && this.#pool.take(workspace.id, kind);
  }

  shrink(team?: number): void {
    this.#pool.shrink(team);
  }

  refill(workspace: WorkspaceSpec, start: Start): void {
    const kind = machineKindOf(workspace, start);
    if (kind !== undefined) this.#pool.refill(kind);
  }

  settled(): Promise<void> {
    return this.#pool.settled();
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('the daemon is stopping'));
    await this.#pool.close();
  }

  /** undefined: there is no template to begin as a copy of, or no room. */
  async #start(kind: MachineKind): Promise<MachineMember | undefined> {
    const { templates, hasRoomFor } = this.#options;
    await this.#untilIdle();
    const template = await templates.find(kind.template, uidOf(kind.team));
    if (template === undefined || !(await hasRoomFor(kind.resources.diskGiB))) return undefined;
    try {
      const member = await this.#startFrom(kind, template);
      templates.worked(kind.template);
      this.#options.log.info({ team: kind.team, memoryMiB: kind.resources.memoryMiB }, 'a machine waits for its agent');
      return member;
    } catch (error) {
      const isKilled = error instanceof AgentisoError && error.reason === KILLED;
      if (!this.#closing.signal.aborted && !isKilled) await templates.failed(kind.template);
      throw error;
    }
  }

  async #startFrom({ team, resources, template: kind, tools, base }: MachineKind, template: NonNullable<Start['template']>) {
    const { stateDir, ensureGroups, markOf, command, machineOf, giveAway, forget } = this.#options;
    const name = newUid();
    const paths = memberPaths(stateDir, name);
    const groups = ensureGroups({ id: name, resources });
    const { kernel, initrd, root } = kind.image;
    const files = { kernel, initrd, root, memory: template.memory, ...(tools !== undefined && { tools }) };
    const nobody = { id: name, incarnation: 'pool', team, resources, ...(base !== undefined && { base }) };
    const plan: CommandPlan = { kind: { ...kind, memory: 'copy' }, files, groups, waitsAs: markOf(name) };
    const disk = tools !== undefined && { tools: { path: tools, gib: kind.toolsGiB ?? 0 } };
    return startMember({
      ...{ paths, groups, hasTools: tools !== undefined, state: template.state },
      prepare: async () => ({ command: await command(nobody, paths, plan), machine: machineOf(paths) }),
      bind: (guest, workspace, place) => giveAway({ guest, from: paths, start: { kind, template, ...disk } }, workspace, place),
      onRemoved: () => forget(paths),
      signal: this.#closing.signal,
    });
  }

  /** Agents that are wanted come first, and so does the template that others are waiting for. */
  async #untilIdle(): Promise<void> {
    const { swept, templates, slots } = this.#options;
    const { signal } = this.#closing;
    await swept;
    await templates.settled();
    while (!slots.isIdle) {
      await pause(TICK_MS, undefined, { signal, ref: false });
      await templates.settled();
    }
    signal.throwIfAborted();
  }
}
