/**
 * Keeps the kernel's rules equal to the policy: one transaction, proven. Usually by what the kernel says that it changed (proof.ts);
 * whenever that does not follow from rules which are known, by reading everything back and comparing.
 */
import { AgentisoError } from '#lib/errors.ts';
import { planChange, type Wish } from './change.ts';
import { type Plan, planRules } from './diff.ts';
import type { Policy } from './network.ts';
import type { Nft } from './nft.ts';
import { isProof } from './proof.ts';
import type { KernelRules } from './read-back.ts';
import { type Elements, elementsOf } from './ruleset.ts';
import type { Transactions } from './transactions.ts';

export interface RulesOptions {
  readonly nft: Pick<Nft, 'list'>;
  readonly transactions: Pick<Transactions, 'generation' | 'send'>;
  /** What the table looks like when nobody has touched it, by this kernel and this nft. */
  readonly shape: string;
  /** The host's own addresses; they may change at any time. */
  readonly hostAddresses: () => readonly string[];
  /** Hears what others had changed, once it is put right. */
  readonly onDrift: (what: string) => void;
}

/** All rules at one moment. */
interface Reading {
  readonly rules: KernelRules | undefined;
  /** The last transaction heard of before. If the next one heard of has the next number, there was none between. */
  readonly generation: number | undefined;
  /** Not read but remembered: good enough to plan from, never to conclude from. */
  readonly isAssumed?: true;
}

const ATTEMPTS = 3;

export class Rules {
  readonly #options: RulesOptions;
  #applied: Wish | undefined;
  /** Whether the kernel had the rules of `applied` when we last knew. */
  #isKnown = false;
  /** The generation in which it had them; undefined when we do not know its number. */
  #verified: number | undefined;
  #wanted: Policy | undefined;
  #waiting: Promise<void> | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: RulesOptions) {
    this.#options = options;
  }

  /** The newest policy wins: calls that come before a transaction starts share it. */
  apply(policy: Policy): Promise<void> {
    this.#wanted = policy;
    this.#waiting ??= this.#inTurn(() => {
      this.#waiting = undefined;
      return this.#follow({ policy: this.#wanted ?? policy, hosts: this.#options.hostAddresses() });
    });
    return this.#waiting;
  }

  /** Compares with what was applied last, and puts right what others have changed. */
  check(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#applied === undefined) return;
      const { policy, hosts } = this.#applied;
      const reading = await this.#read();
      const drift = planRules(reading.rules, elementsOf(policy, hosts), this.#options.shape);
      await this.#converge({ policy, hosts: this.#options.hostAddresses() }, reading, drift?.what);
    });
  }

  /** Nothing is known of the kernel's rules any more, because the router is another one or a transaction is under way. */
  forget(): void {
    this.#isKnown = false;
    this.#verified = undefined;
  }

  /** The usual case: only what differs between two wishes is computed, sent and proven. Otherwise all of it. */
  async #follow(wish: Wish): Promise<void> {
    const verified = this.#verified;
    if (this.#applied === undefined || verified === undefined || this.#options.transactions.generation !== verified) {
      return this.#converge(wish);
    }
    const plan = planChange(this.#applied, wish);
    if (plan === 'unclear') return this.#converge(wish);
    if (plan === 'nothing') return this.#settle(wish, verified);
    const outcome = await this.#sendChange(plan, verified);
    if (outcome === 'proven') return this.#settle(wish, verified + 1);
    if (outcome === 'refused') return this.#converge(wish);
    const reading = await this.#read();
    const left = planRules(reading.rules, elementsOf(wish.policy, wish.hosts), this.#options.shape);
    return this.#converge(wish, reading, left?.what);
  }

  /** Refused also means that nobody knows: reading everything decides that, and a second refusal is reported. */
  async #sendChange({ text, changes = [] }: Plan, verified: number): Promise<'proven' | 'unproven' | 'refused'> {
    this.forget();
    try {
      const isProven = await this.#options.transactions.send(text, (announcement) => isProof({ verified, changes }, announcement));
      return isProven ? 'proven' : 'unproven';
    } catch {
      return 'refused';
    }
  }

  async #converge(wish: Wish, reading?: Reading, drift?: string): Promise<void> {
    const { shape } = this.#options;
    const elements = elementsOf(wish.policy, wish.hosts);
    let foreign = drift;
    let found = reading ?? this.#assumed() ?? (await this.#read());
    let plan = planRules(found.rules, elements, shape);
    for (let attempt = 0; plan || found.isAssumed; attempt++) {
      if (attempt === ATTEMPTS) throw keepsChanging(plan?.what);
      // Right after our own transaction: the difference is somebody else's.
      if (attempt > 0) foreign ??= plan?.what;
      this.forget();
      if (plan) await this.#transact(plan, elements);
      found = await this.#read();
      plan = planRules(found.rules, elements, shape);
    }
    this.#settle(wish, found.generation);
    if (foreign !== undefined) this.#options.onDrift(foreign);
  }

  /** What was read may be old by now, and then nft refuses, or it failed on the way: that is decided by a second look. */
  async #transact(plan: Plan, elements: Elements): Promise<void> {
    const { transactions, shape } = this.#options;
    const notAwaited = (): boolean => false;
    try {
      await transactions.send(plan.text, notAwaited);
    } catch (error) {
      const again = planRules((await this.#read()).rules, elements, shape);
      if (again?.text === plan.text && isRefusal(error)) throw error;
      if (again) await transactions.send(again.text, notAwaited);
    }
  }

  async #read(): Promise<Reading> {
    const { nft, transactions } = this.#options;
    const { generation } = transactions;
    return { rules: await nft.list(), generation };
  }

  #assumed(): Reading | undefined {
    if (!this.#isKnown || this.#applied === undefined) return undefined;
    const { policy, hosts } = this.#applied;
    return { rules: { shape: this.#options.shape, elements: elementsOf(policy, hosts) }, generation: undefined, isAssumed: true };
  }

  #settle(wish: Wish, generation: number | undefined): void {
    this.#applied = wish;
    this.#isKnown = true;
    this.#verified = generation;
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(work, work);
    this.#last = mine;
    // Whoever asked hears of a failure; the next in turn does not care.
    mine.catch(() => {});
    return mine;
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof AgentisoError && error.reason === 'RulesRejected';
}

function keepsChanging(what = ''): AgentisoError {
  return new AgentisoError('Unavailable', `somebody keeps changing the rules: ${what}`, { reason: 'RulesRejected' });
}
