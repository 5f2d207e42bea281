/**
 * Tokens, money and time of Tasks: set aside in the ledger of the agent and of every team above that has a limit, by compare-and-swap, before
 * a Task is claimed; settled with what was really used when the claim is over. An entry is named by the Task's uid, so each step may be repeated.
 */
import {
  type Amounts,
  DIMENSIONS,
  type Dimension,
  eachAmount,
  inWords,
  isLimited,
  type Sum,
  toAmounts,
  toSum,
  toUsd,
  toWritten,
} from '#api/amounts.ts';
import type { KindObject } from '#api/meta.ts';
import { shareOf } from '#api/task-share.ts';
import {
  type Claim,
  claimIn,
  type Holder,
  type Ledger,
  ledgerOf,
  toSpending,
  withClaim,
  withOverdraft,
  withoutClaim,
} from '#api/team-spending.ts';
import type { Agent, Task, Team } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import { ignoreNotFound, isCode, WaitingError } from '#lib/errors.ts';
import type { Key, Wake, WithStatus } from '#runtime/controller.ts';
import type { Verdict } from './transitions.ts';

export const BUDGET_EXHAUSTED = 'BudgetExhausted';

/** What a meter has counted of a Task in all its attempts. Money in millionths of a dollar. */
export interface Spent {
  readonly tokens: number;
  readonly microUsd: number;
  readonly unpricedTokens: number;
}

export interface SpentMeter {
  /** Never less than it was; undefined for a Task of which nothing was counted since the daemon began. */
  total(taskUid: string): Spent | undefined;
  forget(taskUid: string): void;
  /** Wakes a Task of which something was counted. */
  readonly wake: Wake;
}

const TRIES = 10;
const CONTENDED_MS = 50;

export class Budgets {
  readonly #client: Client;
  readonly #meter: SpentMeter | undefined;
  /** Tasks that wait for a budget, by namespace and name. */
  readonly #short = new Map<string, Key>();
  readonly #seen = new Map<string, string>();
  /** By Task uid: names of agents that may have an entry of it. Teams are found by the Task itself, an agent only while it has the Task. */
  readonly #holders = new Map<string, Set<string>>();
  #listed: Promise<void> | undefined;

  constructor(client: Client, meter?: SpentMeter) {
    this.#client = client;
    this.#meter = meter;
  }

  /** A budget of a team or an agent was changed, something of it given back, or there is one more: whom it concerns. */
  onHolder(object: KindObject, type: string): Key[] {
    const { kind, metadata, spec, status } = object as Holder;
    const id = `${kind}/${metadata.namespace}/${metadata.name}`;
    const { tokens, usd, seconds } = spec.budget ?? {};
    const fingerprint = type === 'DELETED' ? undefined : [tokens, usd, seconds, JSON.stringify(status?.spending?.remaining)].join();
    const before = this.#seen.get(id);
    if (fingerprint === undefined) this.#seen.delete(id);
    else this.#seen.set(id, fingerprint);
    return before === fingerprint ? [] : [...this.#short.values()].filter(({ namespace }) => namespace === metadata.namespace);
  }

  /** Puts what was counted into the copy of the status. */
  record(task: WithStatus<Task>): void {
    const spent = this.#meter?.total(task.metadata.uid);
    if (!spent) return;
    const { unpricedTokens } = spent;
    const used = {
      ...task.status.budget?.used,
      tokens: spent.tokens,
      usd: toUsd(spent.microUsd),
      ...(unpricedTokens > 0 && { unpricedTokens }),
    };
    task.status.budget = { ...task.status.budget, used };
  }

  /**
   * Sets aside what the Task may use next, and writes into the copy of its status how much it may have used then. Gives a verdict when there
   * is not enough, and remembers the Task until there is. Call it for a Task that nobody holds and whose place on the board is taken, or for
   * one that has used up what it had.
   */
  async reserve(task: WithStatus<Task>, agent: string, now: Date): Promise<Verdict | undefined> {
    for (let attempt = 1; attempt <= TRIES; attempt++) {
      const chain = [...(await this.#agents(task, [agent], isLimitedIn)), ...(await this.#teams(task, isLimitedIn))];
      if (chain.length === 0 && !isLimited(toAmounts(task.spec.budget))) return this.#grant(task, {});
      const used = usedBy(task, now);
      const before = heldSince(task, chain) ?? used;
      const share = shareOf(
        task,
        chain.map((holder) => ({ ...ledgerOf(holder), whose: nameOf(holder) })),
        { used, before },
      );
      if ('short' in share) {
        this.isShort(task);
        await this.#overdraw(chain, task.metadata.uid, used);
        return { reason: BUDGET_EXHAUSTED, message: share.short };
      }
      const { cap } = share;
      const reserved = eachAmount((dimension) => (cap[dimension] === undefined ? undefined : cap[dimension] - before[dimension]));
      this.#remember(task.metadata.uid, agent);
      if (await this.#claim(chain, { uid: task.metadata.uid, task: task.metadata.name, reserved, before })) return this.#grant(task, cap);
    }
    throw new WaitingError(
      'Conflict',
      `others changed the budget of team ${task.spec.team} or agent ${agent} ${TRIES} times in a row`,
      CONTENDED_MS,
    );
  }

  async #overdraw(chain: readonly Holder[], uid: string, used: Sum): Promise<void> {
    for (const holder of chain) await this.#change(holder, (ledger) => withOverdraft(ledger, uid, used));
  }

  #grant(task: WithStatus<Task>, cap: Amounts): undefined {
    this.#short.delete(idOf(task));
    if (isLimited(cap)) task.status.budget = { ...task.status.budget, reserved: toWritten(cap) };
    return undefined;
  }

  /** What a running Task has used up; undefined when it may go on. `inMs`: when its time will be over. */
  usedUp(task: Task, now: Date): { readonly over: Dimension | undefined; readonly inMs: number | undefined } {
    const cap = toAmounts(task.status?.budget?.reserved);
    const used = usedBy(task, now);
    const over = DIMENSIONS.find((dimension) => cap[dimension] !== undefined && used[dimension] >= (cap[dimension] ?? 0));
    const inMs = cap.seconds === undefined ? undefined : Math.max(0, (cap.seconds - used.seconds) * 1_000);
    return { over, inMs };
  }

  /** For a Task that nobody holds: what its last claim has used counts, the rest is given back. */
  async settle(task: WithStatus<Task>): Promise<void> {
    this.record(task);
    const isOpen = task.status.budget?.reserved !== undefined;
    const { uid } = task.metadata;
    const agents = await this.#mayHold(uid);
    const chain = [...(await this.#agents(task, agents, hasClaims)), ...(await this.#teams(task, hasClaims))];
    const used = isOpen ? usedBy(task, new Date(task.status.finishedAt ?? 0)) : toSum(task.status.budget?.used);
    for (const holder of chain) await this.#change(holder, (ledger) => withoutClaim(ledger, uid, used));
    this.#holders.delete(uid);
    if (!isOpen) return;
    const { reserved: _given, frozenSeconds: _over, ...budget } = task.status.budget ?? {};
    task.status.budget = { ...budget, used: { ...budget.used, ...toWritten(used) } };
  }

  /** The Task is gone, or waits for something else. */
  forget(task: Task): void {
    this.#short.delete(idOf(task));
    this.#holders.delete(task.metadata.uid);
    this.#meter?.forget(task.metadata.uid);
  }

  /** Looked at again when a budget has changed. */
  isShort(task: Task): void {
    this.#short.set(idOf(task), keyOf(task));
  }

  noLongerShort(task: Task): void {
    this.#short.delete(idOf(task));
  }

  #remember(uid: string, agent: string): void {
    this.#holders.set(uid, (this.#holders.get(uid) ?? new Set()).add(agent));
  }

  /** Also those of which an earlier daemon has written an entry, and was killed before it had written the claim. */
  async #mayHold(uid: string): Promise<readonly string[]> {
    this.#listed ??= this.#list().catch((error: unknown) => {
      this.#listed = undefined;
      throw error;
    });
    await this.#listed;
    return [...(this.#holders.get(uid) ?? [])];
  }

  async #list(): Promise<void> {
    const { items } = await this.#client.list<Agent>('Agent');
    for (const agent of items) for (const { uid } of agent.status?.spending?.claims ?? []) this.#remember(uid, agent.metadata.name);
  }

  async #agents({ metadata }: Task, names: readonly string[], counts: (ledger: Ledger) => boolean): Promise<Agent[]> {
    const keys = names.map((name) => ({ kind: 'Agent', namespace: metadata.namespace, name }));
    const found = await Promise.all(keys.map((key) => ignoreNotFound(this.#client.get<Agent>(key))));
    return found.filter((agent) => agent !== undefined).filter((agent) => counts(ledgerOf(agent)));
  }

  /** The Task's own first. */
  async #teams({ metadata, spec }: Task, counts: (ledger: Ledger) => boolean): Promise<Team[]> {
    const chain: Team[] = [];
    const passed = new Set<string>();
    for (let name: string | null | undefined = spec.team; typeof name === 'string' && !passed.has(name); ) {
      passed.add(name);
      const team: Team | undefined = await ignoreNotFound(this.#client.get<Team>({ kind: 'Team', namespace: metadata.namespace, name }));
      if (team && counts(ledgerOf(team))) chain.push(team);
      name = team?.spec.parent;
    }
    return chain;
  }

  /** In all of them or in none. False: somebody else wrote to one in between. */
  async #claim(chain: readonly Holder[], claim: Claim): Promise<boolean> {
    const done: { readonly holder: Holder; readonly before: Claim | undefined }[] = [];
    for (const holder of chain) {
      const ledger = ledgerOf(holder);
      if (!(await this.#write(holder, withClaim(ledger, claim)))) {
        for (const each of done) await this.#change(each.holder, (present) => putBack(present, claim.uid, each.before));
        return false;
      }
      done.push({ holder, before: claimIn(ledger, claim.uid) });
    }
    return true;
  }

  async #change(holder: Holder, alter: (ledger: Ledger) => Ledger): Promise<void> {
    const { kind, metadata } = holder;
    for (let attempt = 1; attempt <= TRIES; attempt++) {
      const present = await ignoreNotFound(this.#client.get<Holder>({ kind, namespace: metadata.namespace, name: metadata.name }));
      if (!present || present.metadata.uid !== metadata.uid) return;
      const before = ledgerOf(present);
      const after = alter(before);
      if (after === before || (await this.#write(present, after))) return;
    }
    throw new WaitingError('Conflict', `others changed ${nameOf(holder)} ${TRIES} times in a row`, CONTENDED_MS);
  }

  async #write(holder: Holder, ledger: Ledger): Promise<boolean> {
    const { spending: _old, ...status } = holder.status ?? {};
    const spending = toSpending(ledger);
    try {
      await this.#client.updateStatus<KindObject>({ ...holder, status: { ...status, ...(spending && { spending }) } });
      return true;
    } catch (error) {
      if (isCode(error, 'Conflict') || isCode(error, 'NotFound')) return false;
      throw error;
    }
  }
}

function isLimitedIn({ limits }: Ledger): boolean {
  return isLimited(limits);
}

function hasClaims({ claims }: Ledger): boolean {
  return claims.length > 0;
}

/** `team docs`, `agent docs-writer` */
function nameOf({ kind, metadata }: Holder): string {
  return `${kind.toLowerCase()} ${metadata.name}`;
}

function putBack(ledger: Ledger, uid: string, before: Claim | undefined): Ledger {
  if (before) return withClaim(ledger, before);
  return { ...ledger, claims: ledger.claims.filter((claim) => claim.uid !== uid) };
}

/** When the present claim began, where one is written down. */
function heldSince({ metadata }: Task, chain: readonly Holder[]): Sum | undefined {
  return chain.map((holder) => claimIn(ledgerOf(holder), metadata.uid)?.before).find((before) => before !== undefined);
}

/** All attempts together; of the one that runs, or has just ended, the time as well. */
export function usedBy({ status }: Task, now: Date): Sum {
  const settled = toSum(status?.budget?.used);
  if (status?.startedAt === undefined || status.budget?.reserved === undefined) return settled;
  const frozenMs = (status.budget.frozenSeconds ?? 0) * 1_000 + frozenForMs(status, now);
  const elapsedMs = now.getTime() - Date.parse(status.startedAt) - frozenMs;
  return { ...settled, seconds: settled.seconds + Math.max(0, elapsedMs / 1_000) };
}

function frozenForMs(status: NonNullable<Task['status']>, now: Date): number {
  const frozen = status.conditions?.find(({ type }) => type === 'Frozen');
  return frozen?.status === 'True' ? Math.max(0, now.getTime() - Date.parse(frozen.lastTransitionTime)) : 0;
}

export function describeOver(task: Task, dimension: Dimension): string {
  const cap = toAmounts(task.status?.budget?.reserved)[dimension] ?? 0;
  return `it has used up ${inWords(dimension, cap)}`;
}

function idOf({ metadata }: Task): string {
  return `${metadata.namespace}/${metadata.name}`;
}

function keyOf({ metadata: { namespace, name } }: Task): Key {
  return { kind: 'Task', namespace, name };
}
