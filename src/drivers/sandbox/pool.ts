/**
 * The warm pool: sandboxes that have been started ahead and wait for an identity. A member is given away only where everything that cannot be
 * changed any more is the same: team, limits, proxy, tools, whether there is a base. Kinds are learnt from what is asked for; a member nobody asks for
 * ends by itself after a while, like every guest without a host, and is not replaced.
 *
 * A network has to be entered at the start, when nobody knows whose it will be. So a member for a workspace with a prepared network is started in
 * one that was prepared ahead, and goes to the workspace that is given this very network.
 */
import type { Resources, WorkspaceSpec } from '../driver.ts';

export interface MemberKind {
  readonly team: number;
  readonly resources: Resources;
  readonly egress: boolean;
  readonly hasBase: boolean;
  /** Whether it is in a prepared network. */
  readonly isConnected: boolean;
  /** What is bound into it. */
  readonly tools?: string;
}

/** A network that was prepared for nobody yet. */
export interface SpareNetwork {
  readonly path: string;
}

export interface PoolMember {
  /** It listens and has not ended. */
  readonly isReady: boolean;
  readonly hasEnded: boolean;
  /** Path of the prepared network it is in. */
  readonly network?: string;
  /** Takes what is left of it away. */
  remove(): Promise<void>;
}

export interface PoolOptions<M extends PoolMember> {
  /** Members of each kind. */
  readonly size: number;
  readonly start: (kind: MemberKind, network: SpareNetwork | undefined) => Promise<M>;
  /** The next network for a member to wait in, never the same twice; undefined: none for now. Absent: no member is ever in one. */
  readonly nextNetwork?: () => Promise<SpareNetwork | undefined>;
  readonly onProblem: (error: unknown) => void;
}

/** Over all kinds. */
const MAX_MEMBERS = 10;
const MAX_MEMORY_MIB = 8_192;

/** What cannot be changed any more once a member runs. */
export function kindOf({ team, resources, egress, base, network, tools }: WorkspaceSpec): MemberKind {
  const { vcpus, memoryMiB, diskGiB } = resources;
  const limits = { vcpus, memoryMiB, diskGiB };
  const kind = { team, resources: limits, egress, hasBase: base !== undefined, isConnected: network !== undefined };
  return { ...kind, ...(tools !== undefined && { tools }) };
}

export class WarmPool<M extends PoolMember> {
  readonly #options: PoolOptions<M>;
  readonly #members = new Map<string, M[]>();
  #filling: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: PoolOptions<M>) {
    this.#options = options;
  }

  /** One that is ready, if there is one. */
  take(workspace: WorkspaceSpec): M | undefined {
    if (!this.#canServe(workspace)) return undefined;
    const key = JSON.stringify(kindOf(workspace));
    const members = this.#members.get(key) ?? [];
    const taken = members.find(({ isReady, network }) => isReady && network === workspace.network);
    this.#members.set(
      key,
      members.filter((member) => member !== taken && !member.hasEnded),
    );
    for (const member of members) if (member !== taken && member.hasEnded) this.#discard(member);
    return taken;
  }

  /** Makes the next one who asks for this kind more likely to be served. Called when the one who asked has been. */
  refill(workspace: WorkspaceSpec): void {
    if (!this.#canServe(workspace)) return;
    const kind = kindOf(workspace);
    this.#filling = this.#filling.then(() => this.#fill(kind, JSON.stringify(kind))).catch(this.#options.onProblem);
  }

  /** Ends all members and starts no more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#filling;
    const members = [...this.#members.values()].flat();
    this.#members.clear();
    await Promise.all(members.map((member) => member.remove()));
  }

  /** Settles when no member is being started. */
  async settled(): Promise<void> {
    await this.#filling;
  }

  #canServe({ network }: WorkspaceSpec): boolean {
    return !this.#isClosed && this.#options.size > 0 && (network === undefined || this.#options.nextNetwork !== undefined);
  }

  /** One after the other: the agents that are really wanted come first. */
  async #fill(kind: MemberKind, key: string): Promise<void> {
    while (!this.#isClosed && (this.#members.get(key)?.length ?? 0) < this.#options.size && this.#hasRoom(kind)) {
      const network = kind.isConnected ? await this.#options.nextNetwork?.() : undefined;
      if (kind.isConnected && network === undefined) return;
      const member = await this.#options.start(kind, network);
      this.#members.set(key, [...(this.#members.get(key) ?? []), member]);
    }
  }

  #hasRoom({ resources }: MemberKind): boolean {
    const kinds = [...this.#members].map(([key, { length }]) => ({
      length,
      memoryMiB: (JSON.parse(key) as MemberKind).resources.memoryMiB,
    }));
    const members = kinds.reduce((sum, { length }) => sum + length, 0);
    const memoryMiB = kinds.reduce((sum, { length, memoryMiB: each }) => sum + length * each, 0);
    return members < MAX_MEMBERS && memoryMiB + resources.memoryMiB <= MAX_MEMORY_MIB;
  }

  #discard(member: M): void {
    member.remove().catch(this.#options.onProblem);
  }
}
