/**
 * The warm pool: workspaces that have been started ahead and wait for an identity. A member is given away only where everything that cannot be
 * changed any more is the same: its kind. Kinds are learnt from what is asked for.
 */
export interface PoolKind {
  readonly resources: { readonly memoryMiB: number };
}

export interface PoolMember {
  /** It waits, and has not ended. */
  readonly isReady: boolean;
  readonly hasEnded: boolean;
  /** Takes what is left of it away. */
  remove(): Promise<void>;
}

export interface WarmPoolOptions<K extends PoolKind, M extends PoolMember> {
  /** Members of each kind. */
  readonly size: number;
  /** undefined: none can be for now. */
  readonly start: (kind: K) => Promise<M | undefined>;
  readonly onProblem: (error: unknown) => void;
  /** Members of a kind that nobody has asked for in so long are taken away. Absent: they end by themselves. */
  readonly idleMs?: number;
}

/** Over all kinds. */
const MAX_MEMBERS = 10;
const MAX_MEMORY_MIB = 8_192;

/** Members of one kind. */
interface Shelf<K, M> {
  readonly kind: K;
  members: readonly M[];
  timer?: NodeJS.Timeout;
}

export class WarmPool<K extends PoolKind, M extends PoolMember> {
  readonly #options: WarmPoolOptions<K, M>;
  /** By kind. */
  readonly #shelves = new Map<string, Shelf<K, M>>();
  #filling: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: WarmPoolOptions<K, M>) {
    this.#options = options;
  }

  /** One that is ready and suits, if there is one. */
  take(kind: K, suits: (member: M) => boolean = () => true): M | undefined {
    if (!this.#isOpen) return undefined;
    const shelf = this.#shelf(kind);
    this.#keep(shelf);
    const taken = shelf.members.find((member) => member.isReady && suits(member));
    const ended = shelf.members.filter((member) => member !== taken && member.hasEnded);
    shelf.members = shelf.members.filter((member) => member !== taken && !ended.includes(member));
    this.#remove(ended);
    return taken;
  }

  /** Makes the next one who asks for this kind more likely to be served. Called when the one who asked has been. */
  refill(kind: K): void {
    if (!this.#isOpen) return;
    const shelf = this.#shelf(kind);
    this.#keep(shelf);
    this.#filling = this.#filling.then(() => this.#fill(shelf)).catch(this.#options.onProblem);
  }

  /** Ends all members and starts no more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#filling;
    const shelves = [...this.#shelves.values()];
    this.#shelves.clear();
    for (const { timer } of shelves) clearTimeout(timer);
    await Promise.all(shelves.flatMap(({ members }) => members.map((member) => member.remove())));
  }

  /** Settles when no member is being started. */
  async settled(): Promise<void> {
    await this.#filling;
  }

  get #isOpen(): boolean {
    return !this.#isClosed && this.#options.size > 0;
  }

  #shelf(kind: K): Shelf<K, M> {
    const key = JSON.stringify(kind);
    const shelf = this.#shelves.get(key) ?? { kind, members: [] };
    this.#shelves.set(key, shelf);
    return shelf;
  }

  /** From now on for as long as a kind is kept. */
  #keep(shelf: Shelf<K, M>): void {
    const { idleMs } = this.#options;
    if (idleMs === undefined) return;
    clearTimeout(shelf.timer);
    shelf.timer = setTimeout(() => {
      this.#remove(shelf.members);
      shelf.members = [];
    }, idleMs).unref();
  }

  /** One after the other: the agents that are really wanted come first. */
  async #fill(shelf: Shelf<K, M>): Promise<void> {
    while (!this.#isClosed && shelf.members.length < this.#options.size && this.#hasRoom(shelf.kind)) {
      const member = await this.#options.start(shelf.kind);
      if (member === undefined) return;
      shelf.members = [...shelf.members, member];
      this.#keep(shelf);
    }
  }

  #hasRoom({ resources }: K): boolean {
    const shelves = [...this.#shelves.values()];
    const members = shelves.reduce((sum, each) => sum + each.members.length, 0);
    const memoryMiB = shelves.reduce((sum, { kind, members: { length } }) => sum + length * kind.resources.memoryMiB, 0);
    return members < MAX_MEMBERS && memoryMiB + resources.memoryMiB <= MAX_MEMORY_MIB;
  }

  #remove(members: readonly M[]): void {
    for (const member of members) member.remove().catch(this.#options.onProblem);
  }
}
