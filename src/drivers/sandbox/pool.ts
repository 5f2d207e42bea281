/**
 * The warm pool of sandboxes. What cannot be changed any more of one that runs: team, limits, proxy, tools, whether there is a base. A member nobody
 * asks for ends by itself after a while, like every guest without a host, and is not replaced.
 *
 * A network has to be entered at the start, when nobody knows whose it will be. So a member for a workspace with a prepared network is started in
 * one that was prepared ahead, and goes to the workspace that is given this very network.
 */
import type { Resources, WorkspaceSpec } from '../driver.ts';
import { type PoolMember, WarmPool } from '../local/warm-pool.ts';

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

export interface ConnectedMember extends PoolMember {
  /** Path of the prepared network it is in. */
  readonly network?: string;
}

export interface PoolOptions<M extends ConnectedMember> {
  /** Members of each kind. */
  readonly size: number;
  readonly start: (kind: MemberKind, network: SpareNetwork | undefined) => Promise<M>;
  /** The next network for a member to wait in, never the same twice; undefined: none for now. Absent: no member is ever in one. */
  readonly nextNetwork?: () => Promise<SpareNetwork | undefined>;
  readonly onProblem: (error: unknown) => void;
}

/** What cannot be changed any more once a member runs. */
export function kindOf({ team, resources, egress, base, network, tools }: WorkspaceSpec): MemberKind {
  const { vcpus, memoryMiB, diskGiB } = resources;
  const limits = { vcpus, memoryMiB, diskGiB };
  const kind = { team, resources: limits, egress, hasBase: base !== undefined, isConnected: network !== undefined };
  return { ...kind, ...(tools !== undefined && { tools }) };
}

export class SandboxPool<M extends ConnectedMember> {
  readonly #nextNetwork: PoolOptions<M>['nextNetwork'];
  readonly #pool: WarmPool<MemberKind, M>;

  constructor({ size, start, nextNetwork, onProblem }: PoolOptions<M>) {
    this.#nextNetwork = nextNetwork;
    const startOne = async (kind: MemberKind) => {
      const network = kind.isConnected ? await nextNetwork?.() : undefined;
      return kind.isConnected && network === undefined ? undefined : start(kind, network);
    };
    this.#pool = new WarmPool({ size, start: startOne, onProblem });
  }

  /** One that is ready, if there is one. */
  take(workspace: WorkspaceSpec): M | undefined {
    if (!this.#canServe(workspace)) return undefined;
    return this.#pool.take(kindOf(workspace), ({ network }) => network === workspace.network);
  }

  /** When the one who asked has been served. */
  refill(workspace: WorkspaceSpec): void {
    if (this.#canServe(workspace)) this.#pool.refill(kindOf(workspace));
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  settled(): Promise<void> {
    return this.#pool.settled();
  }

  #canServe({ network }: WorkspaceSpec): boolean {
    return network === undefined || this.#nextNetwork !== undefined;
  }
}
