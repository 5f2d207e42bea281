/**
 * The warm pool: sandboxes that have been started ahead and wait for an identity. A member is given away only where everything that cannot be
 * changed any more is the same: team, limits, proxy, tools, whether there is a base. Kinds are learnt from what is asked for; a member nobody asks for
 * ends by itself after a while, like every guest without a host, and is not replaced.
 *
 * A network has to be entered at the start, when nobody knows whose it will be. So a member for a workspace with a prepared network waits in one
 * of its own that leads nowhere. It is reserved before the workspace has its network: whoever prepares that does it around the member.
 */
import type { Resources, WorkspacePlan, WorkspaceSpec } from '../driver.ts';

export interface MemberKind {
  readonly team: number;
  readonly resources: Resources;
  readonly egress: boolean;
  readonly hasBase: boolean;
  /** Whether its network is prepared for it. */
  readonly isConnected: boolean;
  /** What is bound into it. */
  readonly tools?: string;
}

export interface PoolMember {
  /** It listens and has not ended. */
  readonly isReady: boolean;
  readonly ended: Promise<void>;
  /** Whether this is the path of the network it is in. */
  isIn(network: string): boolean;
  /** Takes what is left of it away. */
  remove(): Promise<void>;
}

export interface PoolSize {
  readonly agents: number;
  readonly memoryMiB: number;
}

export interface PoolOptions<M extends PoolMember> {
  /** Members of each kind. */
  readonly size: number;
  /** Nothing is started ahead until nobody has asked for so long: agents that are really wanted come first. */
  readonly quietMs: number;
  /** Whether the machine has room for so many beside its agents. Absent: it has. */
  readonly hasRoom?: (waiting: PoolSize) => boolean;
  readonly start: (kind: MemberKind) => Promise<M>;
  readonly onProblem: (error: unknown) => void;
}

/** Over all kinds. */
const MAX_MEMBERS = 10;
const MAX_MEMORY_MIB = 8_192;
/** Who has not come for its member by then is held up by something, and need not keep it. */
const RESERVED_MS = 30_000;

/** What cannot be changed any more once a member runs. */
export function kindOf({ base, network, ...workspace }: WorkspaceSpec): MemberKind {
  return kindWith(workspace, { hasBase: base !== undefined, isConnected: network !== undefined });
}

/** The same of a workspace whose network will be prepared. */
export function plannedKind({ hasBase, ...plan }: WorkspacePlan): MemberKind {
  return kindWith(plan, { hasBase, isConnected: true });
}

function kindWith(
  { team, resources, egress, tools }: Pick<WorkspaceSpec, 'team' | 'resources' | 'egress' | 'tools'>,
  more: Pick<MemberKind, 'hasBase' | 'isConnected'>,
): MemberKind {
  const { vcpus, memoryMiB, diskGiB } = resources;
  return { team, resources: { vcpus, memoryMiB, diskGiB }, egress, ...more, ...(tools !== undefined && { tools }) };
}

interface Waiting<M> {
  readonly kind: MemberKind;
  readonly key: string;
  readonly member: M;
  /** Whose it will be. */
  reservedFor?: string;
}

export class WarmPool<M extends PoolMember> {
  readonly #options: PoolOptions<M>;
  #waiting: Waiting<M>[] = [];
  /** Kinds that may lack members. */
  readonly #wanted = new Map<string, MemberKind>();
  #askedAtMs = 0;
  #filling: Promise<void> | undefined;
  #endQuiet = () => {};
  #isClosed = false;

  constructor(options: PoolOptions<M>) {
    this.#options = options;
  }

  /** Without those that are as good as given away. */
  get size(): PoolSize {
    return sizeOf(this.#waiting.filter(({ reservedFor }) => reservedFor === undefined));
  }

  /** One that is ready, if there is one, kept for this workspace alone until it is taken or given up. The same one when asked again. */
  reserve(plan: WorkspacePlan): M | undefined {
    this.#askedAtMs = performance.now();
    const key = JSON.stringify(plannedKind(plan));
    const isFree = ({ reservedFor }: Waiting<M>) => reservedFor === undefined || reservedFor === plan.id;
    const [found] = this.#waiting
      .filter((each) => each.key === key && each.member.isReady && isFree(each))
      .sort((a, b) => Number(b.reservedFor === plan.id) - Number(a.reservedFor === plan.id));
    if (found === undefined || found.reservedFor === plan.id) return found?.member;
    found.reservedFor = plan.id;
    setTimeout(() => this.#discard([found]), RESERVED_MS).unref();
    return found.member;
  }

  /** The one that was reserved for it, or any that is ready and in no prepared network. What was reserved in vain has ended when it resolves. */
  async take(workspace: WorkspaceSpec): Promise<M | undefined> {
    this.#askedAtMs = performance.now();
    const key = JSON.stringify(kindOf(workspace));
    const { network } = workspace;
    const isSuited = ({ reservedFor, member, ...each }: Waiting<M>) =>
      each.key === key &&
      member.isReady &&
      (network === undefined ? reservedFor === undefined : reservedFor === workspace.id && member.isIn(network));
    const taken = this.#waiting.find(isSuited);
    this.#waiting = this.#waiting.filter((each) => each !== taken);
    await this.giveUp(workspace.id);
    return taken?.member;
  }

  /** Nobody comes for what was reserved for this workspace; it has ended when it resolves. */
  async giveUp(id: string): Promise<void> {
    await Promise.all(this.#leave(this.#waiting.filter(({ reservedFor }) => reservedFor === id)).map((member) => member.remove()));
  }

  /** Makes the next one who asks for this kind more likely to be served. Called when the one who asked has been. */
  refill(workspace: WorkspaceSpec): void {
    if (this.#isClosed) return;
    const kind = kindOf(workspace);
    this.#askedAtMs = performance.now();
    this.#wanted.set(JSON.stringify(kind), kind);
    this.#ensureFilling();
  }

  /** Ends what waits for nobody in particular: of one team, which is gone, or all of it, because its room is needed. */
  shrink(team?: number): void {
    const isMeant = ({ kind, reservedFor }: Waiting<M>) => (team === undefined ? reservedFor === undefined : kind.team === team);
    for (const [key, kind] of this.#wanted) if (team === undefined || kind.team === team) this.#wanted.delete(key);
    this.#discard(this.#waiting.filter(isMeant));
  }

  /** Ends all members and starts no more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#endQuiet();
    await this.#filling;
    await Promise.all(this.#leave(this.#waiting).map((member) => member.remove()));
  }

  /** Settles when no member is being started, nor about to be. */
  async settled(): Promise<void> {
    await this.#filling;
  }

  #ensureFilling(): void {
    this.#filling ??= this.#fill().finally(() => {
      this.#filling = undefined;
      // Somebody may have asked just when it had found nothing more to do.
      if (this.#wanted.size > 0 && !this.#isClosed) this.#ensureFilling();
    });
  }

  /** One after the other. */
  async #fill(): Promise<void> {
    for (;;) {
      await this.#quiet();
      const [next] = this.#wanted;
      if (next === undefined || this.#isClosed) return;
      const [key, kind] = next;
      if (!this.#isLacking(key, kind)) this.#wanted.delete(key);
      else await this.#add(key, kind);
    }
  }

  async #add(key: string, kind: MemberKind): Promise<void> {
    try {
      const added = { kind, key, member: await this.#options.start(kind) };
      this.#waiting.push(added);
      void added.member.ended.then(() => this.#discard([added]));
    } catch (error) {
      this.#wanted.delete(key);
      this.#options.onProblem(error);
    }
  }

  async #quiet(): Promise<void> {
    const leftMs = () => (this.#isClosed ? 0 : this.#askedAtMs + this.#options.quietMs - performance.now());
    for (let ms = leftMs(); ms > 0; ms = leftMs())
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms).unref();
        this.#endQuiet = () => {
          clearTimeout(timer);
          resolve();
        };
      });
  }

  #isLacking(key: string, kind: MemberKind): boolean {
    const { size, hasRoom } = this.#options;
    const isOfKind = (each: Waiting<M>) => each.key === key && each.reservedFor === undefined;
    if (this.#waiting.filter(isOfKind).length >= size) return false;
    const { agents, memoryMiB } = sizeOf([...this.#waiting, { kind }]);
    return agents <= MAX_MEMBERS && memoryMiB <= MAX_MEMORY_MIB && (hasRoom?.({ agents, memoryMiB }) ?? true);
  }

  /** Those of them that wait now wait no more. */
  #leave(leaving: readonly Waiting<M>[]): M[] {
    const left = this.#waiting.filter((each) => leaving.includes(each));
    this.#waiting = this.#waiting.filter((each) => !leaving.includes(each));
    return left.map(({ member }) => member);
  }

  #discard(members: readonly Waiting<M>[]): void {
    for (const member of this.#leave(members)) member.remove().catch(this.#options.onProblem);
  }
}

function sizeOf(members: readonly { readonly kind: MemberKind }[]): PoolSize {
  return { agents: members.length, memoryMiB: members.reduce((sum, { kind }) => sum + kind.resources.memoryMiB, 0) };
}
