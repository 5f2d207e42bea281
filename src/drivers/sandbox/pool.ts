/**
 * The warm pool of sandboxes. What cannot be changed any more of one that runs: team, limits, proxy, tools, whether there is a base. A member nobody
 * asks for ends by itself after a while, like every guest without a host, and is not replaced.
 *
 * A network has to be entered at the start, when nobody knows whose it will be. So a member for a workspace with a prepared network waits in one
 * of its own that leads nowhere. It is reserved before the workspace has its network: whoever prepares that does it around the member.
 */
import type { Resources, WorkspacePlan, WorkspaceSpec } from '../driver.ts';
import { type PoolMember, type PoolSize, WarmPool, type WarmPoolOptions } from '../local/warm-pool.ts';

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

export interface PlacedMember extends PoolMember {
  /** Whether this is the path of the network it is in. */
  isIn(network: string): boolean;
}

export type PoolOptions<M extends PlacedMember> = Omit<WarmPoolOptions<MemberKind, M>, 'idleMs'>;

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

export class SandboxPool<M extends PlacedMember> {
  readonly #pool: WarmPool<MemberKind, M>;

  constructor(options: PoolOptions<M>) {
    this.#pool = new WarmPool(options);
  }

  get size(): PoolSize {
    return this.#pool.size;
  }

  reserve(plan: WorkspacePlan): M | undefined {
    return this.#pool.reserve(plan.id, plannedKind(plan));
  }

  /** The one that was reserved for it, or any that is ready and in no prepared network. */
  take(workspace: WorkspaceSpec): Promise<M | undefined> {
    const { id, network } = workspace;
    return this.#pool.take(id, kindOf(workspace), network === undefined ? undefined : (member) => member.isIn(network));
  }

  giveUp(id: string): Promise<void> {
    return this.#pool.giveUp(id);
  }

  refill(workspace: WorkspaceSpec): void {
    this.#pool.refill(kindOf(workspace));
  }

  shrink(team?: number): void {
    this.#pool.shrink(team);
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  settled(): Promise<void> {
    return this.#pool.settled();
  }
}
