/**
 * The warm pool: workspaces that have been started ahead and wait for an identity. A member is given away only where everything that cannot be
 * changed any more is the same: its kind. Kinds are learnt from what is asked for.
 */
export interface PoolKind {
  readonly team: number;
  readonly resources: { readonly memoryMiB: number };
}

export interface PoolMember {
  /** It waits, and has not ended. */
  readonly isReady: boolean;
  readonly ended: Promise<void>;
  /** Takes what is left of it away. */
  remove(): Promise<void>;
}

export interface PoolSize {
  readonly agents: number;
  readonly memoryMiB: number;
}

export interface WarmPoolOptions<K extends PoolKind, M extends PoolMember> {
  /** Members of each kind. */
  readonly size: number;
  /** Nothing is started ahead until nobody has asked for so long: agents that are really wanted come first. */
  readonly quietMs: number;
  /** Members of a kind that nobody has asked for in so long are taken away. Absent: they end by themselves. */
  readonly idleMs?: number;
  /** Whether the machine has room for so many beside its agents. Absent: it has. */
  readonly hasRoom?: ((waiting: PoolSize) => boolean) | undefined;
  /** undefined: none can be for now. */
  readonly start: (kind: K) => Promise<M | undefined>;
  readonly onProblem: (error: unknown) => void;
}

/** Over all kinds. */
const MAX_MEMBERS = 10;
const MAX_MEMORY_MIB = 8_192;
/** Who has not come for its member by then is held up by something, and need not keep it. */
const RESERVED_MS = 30_000;

interface Waiting<K, M> {
  readonly kind: K;
  readonly key: string;
  readonly member: M;
  /** Whose it will be. */
  reservedFor?: string;
}

export class WarmPool<K extends PoolKind, M extends PoolMember> {
  readonly #options: WarmPoolOptions<K, M>;
  #waiting: Waiting<K, M>[] = [];
  /** The one that is being started. It takes room already, and may not be wanted any more when it is there. */
  #starting: { readonly kind: K; isWanted: boolean } | undefined;
  /** Kinds that may lack members. */
  readonly #wanted = new Map<string, K>();
  /** Until the members of a kind are taken away. */
  readonly #idle = new Map<string, NodeJS.Timeout>();
  #askedAtMs = 0;
  #filling: Promise<void> | undefined;
  #endQuiet = () => {};
  #isClosed = false;

  constructor(options: WarmPoolOptions<K, M>) {
    this.#options = options;
  }

  /** Without those that are as good as given away. */
  get size(): PoolSize {
    const waiting = this.#waiting.filter(({ reservedFor }) => reservedFor === undefined);
    return sizeOf(this.#starting?.isWanted ? [...waiting, this.#starting] : waiting);
  }

  /** One that is ready, if there is one, kept for this workspace alone until it is taken or given up. The same one when asked again. */
  reserve(id: string, kind: K): M | undefined {
    const key = this.#asked(kind);
    const isFree = ({ reservedFor }: Waiting<K, M>) => reservedFor === undefined || reservedFor === id;
    const [found] = this.#waiting
      .filter((each) => each.key === key && each.member.isReady && isFree(each))
      .sort((a, b) => Number(b.reservedFor === id) - Number(a.reservedFor === id));
    if (found === undefined || found.reservedFor === id) return found?.member;
    found.reservedFor = id;
    setTimeout(() => this.#discard([found]), RESERVED_MS).unref();
    return found.member;
  }

  /**
   * Any that is ready, or the one that was reserved for the workspace where `isPlaced` is given and says that it still fits. What was reserved in vain
   * has ended when it resolves.
   */
  async take(id: string, kind: K, isPlaced?: (member: M) => boolean): Promise<M | undefined> {
    const key = this.#asked(kind);
    const isMeant = ({ reservedFor, member }: Waiting<K, M>) =>
      isPlaced === undefined ? reservedFor === undefined : reservedFor === id && isPlaced(member);
    const taken = this.#waiting.find((each) => each.key === key && each.member.isReady && isMeant(each));
    this.#waiting = this.#waiting.filter((each) => each !== taken);
    await this.giveUp(id);
    return taken?.member;
  }

  /** Nobody comes for what was reserved for this workspace; it has ended when it resolves. */
  async giveUp(id: string): Promise<void> {
    await Promise.all(this.#leave(this.#waiting.filter(({ reservedFor }) => reservedFor === id)).map((member) => member.remove()));
  }

  /** Makes the next one who asks for this kind more likely to be served. Called when the one who asked has been. */
  refill(kind: K): void {
    if (this.#isClosed || this.#options.size === 0) return;
    this.#wanted.set(this.#asked(kind), kind);
    this.#ensureFilling();
  }

  /** Ends what waits for nobody in particular: of one team, which is gone, or all of it, because its room is needed. */
  shrink(team?: number): void {
    const isOfTeam = (kind: K) => team === undefined || kind.team === team;
    for (const [key, kind] of this.#wanted) if (isOfTeam(kind)) this.#wanted.delete(key);
    if (this.#starting && isOfTeam(this.#starting.kind)) this.#starting.isWanted = false;
    this.#discard(this.#waiting.filter(({ kind, reservedFor }) => (team === undefined ? reservedFor === undefined : kind.team === team)));
  }

  /** Ends all members and starts no more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#endQuiet();
    for (const timer of this.#idle.values()) clearTimeout(timer);
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

  async #add(key: string, kind: K): Promise<void> {
    const starting = { kind, isWanted: true };
    this.#starting = starting;
    try {
      const member = await this.#options.start(kind);
      if (member === undefined) this.#wanted.delete(key);
      else if (starting.isWanted) this.#place({ kind, key, member });
      else await member.remove();
    } catch (error) {
      this.#wanted.delete(key);
      this.#options.onProblem(error);
    } finally {
      this.#starting = undefined;
    }
  }

  #place(added: Waiting<K, M>): void {
    this.#waiting.push(added);
    this.#keep(added.key);
    void added.member.ended.then(() => this.#discard([added]));
  }

  #asked(kind: K): string {
    const key = JSON.stringify(kind);
    this.#askedAtMs = performance.now();
    this.#keep(key);
    return key;
  }

  /** From now on for as long as a kind is kept. */
  #keep(key: string): void {
    const { idleMs } = this.#options;
    if (idleMs === undefined || this.#isClosed) return;
    clearTimeout(this.#idle.get(key));
    const isOver = (each: Waiting<K, M>) => each.key === key && each.reservedFor === undefined;
    const end = () => {
      this.#idle.delete(key);
      this.#discard(this.#waiting.filter(isOver));
    };
    this.#idle.set(key, setTimeout(end, idleMs).unref());
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

  #isLacking(key: string, kind: K): boolean {
    const { size, hasRoom } = this.#options;
    const isOfKind = (each: Waiting<K, M>) => each.key === key && each.reservedFor === undefined;
    if (this.#waiting.filter(isOfKind).length >= size) return false;
    const { agents, memoryMiB } = sizeOf([...this.#waiting, { kind }]);
    return agents <= MAX_MEMBERS && memoryMiB <= MAX_MEMORY_MIB && (hasRoom?.({ agents, memoryMiB }) ?? true);
  }

  /** Those of them that wait now wait no more. */
  #leave(leaving: readonly Waiting<K, M>[]): M[] {
    const left = this.#waiting.filter((each) => leaving.includes(each));
    this.#waiting = this.#waiting.filter((each) => !leaving.includes(each));
    return left.map(({ member }) => member);
  }

  #discard(members: readonly Waiting<K, M>[]): void {
    for (const member of this.#leave(members)) member.remove().catch(this.#options.onProblem);
  }
}

function sizeOf(members: readonly { readonly kind: PoolKind }[]): PoolSize {
  return { agents: members.length, memoryMiB: members.reduce((sum, { kind }) => sum + kind.resources.memoryMiB, 0) };
}
