/**
 * The board of one team, kept up to date change by change: who holds what, whose turn it is, who waits for whom.
 * Each change says whose decision it may alter, so that nobody has to look at the whole board again.
 */
import type { Agent } from '#api/types.ts';
import { type Card, compareTurn, type Turn } from './card.ts';
import { leadingIntoCircles } from './circles.ts';
import { type Claimant, Claims } from './claims.ts';
import { type Clash, Clashes } from './clashes.ts';
import { Lines } from './lines.ts';
import { numberIn } from './numbered.ts';
import { Pace } from './pace.ts';
import { type Demand, isReady, isSameOffer, isSameRun, suits, takes } from './roster.ts';
import { Touching } from './touching.ts';

/** Names of tasks to look at again. */
export type Woken = ReadonlySet<string>;

const NOBODY: Woken = new Set();

export class Board {
  readonly #team: string;
  readonly #cards = new Map<string, Card>();
  readonly #agents = new Map<string, Agent>();
  /** A name as written in dependsOn → who wrote it. */
  readonly #dependents = new Map<string, Set<string>>();
  /** Agent → what it holds. */
  readonly #held = new Map<string, Set<string>>();
  #heldCount = 0;
  #maxParallel = Number.POSITIVE_INFINITY;
  readonly #claims = new Claims();
  /** What the controller hands out, and what agents may claim. */
  readonly #lines = new Lines(takes);
  readonly #open = new Lines(suits);
  /** What would be handed out, did it not touch files in which branches do not fit. */
  readonly #avoided = new Lines(takes);
  readonly #clashes = new Clashes();
  readonly #touching = new Touching();
  readonly #pace = new Pace();
  #highestNumber = 0;
  #takenNumber = 0;
  #circles: ReadonlySet<string> | undefined;

  constructor(team: string) {
    this.#team = team;
  }

  get isEmpty(): boolean {
    return this.#cards.size + this.#agents.size + this.#claims.size === 0;
  }

  get agents(): Iterable<Agent> {
    return this.#agents.values();
  }

  /** Of tasks that succeeded; undefined while they are too few. */
  get averageMs(): number | undefined {
    return this.#pace.averageMs;
  }

  /** The highest number that a task `task-NNN` has or had. */
  get highestNumber(): number {
    return this.#highestNumber;
  }

  set highestNumber(number: number) {
    this.#highestNumber = Math.max(this.#highestNumber, number);
  }

  /** The next number for a task without a name; whether or not it is used, nobody else gets it. */
  takeNumber(): number {
    this.#takenNumber = Math.max(this.#takenNumber, this.#highestNumber) + 1;
    return this.#takenNumber;
  }

  has(name: string): boolean {
    return this.#cards.has(name);
  }

  /** By full or short name. */
  find(name: string): Card | undefined {
    return this.#cards.get(name) ?? this.#cards.get(`${this.#team}-${name}`);
  }

  /** How many more the team may work on at once. */
  get room(): number {
    return Math.max(0, this.#maxParallel - this.#heldCount);
  }

  free(agent: Agent): number {
    const places = agent.spec.maxConcurrentTasks - (this.#held.get(agent.metadata.name)?.size ?? 0);
    return Math.max(0, Math.min(places, this.room));
  }

  /** Undefined: as many as its agents take. */
  limitTo(maxParallel: number | null | undefined): Woken {
    const before = this.#maxParallel;
    this.#maxParallel = maxParallel ?? Number.POSITIVE_INFINITY;
    if (before === this.#maxParallel) return NOBODY;
    const woken = new Set<string>();
    // All of them: it is what they give as their reason.
    for (const line of this.#lines.demands.keys()) this.#wakeLine('lines', line, Number.POSITIVE_INFINITY, woken);
    return woken;
  }

  /** How many could start, suit one of these agents and have their turn before this one. */
  ahead(turn: Turn, agents: readonly Agent[]): number {
    return this.#lines.ahead(turn, agents);
  }

  /** What this agent may claim, by turn; without one, what anybody may. */
  openTo(agent: Agent | undefined, limit: number): Card[] {
    const keys = agent ? [...this.#open.servedBy(agent)] : [...this.#open.demands.keys()];
    const cards = keys.flatMap((key) => this.#open.first(key, limit)).flatMap((name) => this.#cards.get(name) ?? []);
    return cards
      .filter((card) => !this.#isHandedOut(card))
      .sort(compareTurn)
      .slice(0, limit);
  }

  /** There is somebody whom the controller gives it to, sooner or later. */
  #isHandedOut({ isPulledOnly, demand }: Card): boolean {
    if (isPulledOnly) return false;
    for (const agent of this.#agents.values()) if (takes(agent, demand)) return true;
    return false;
  }

  /** Branches of the team that do not fit, in files that these patterns mean. */
  clashOver(patterns: readonly string[]): Clash | undefined {
    return this.#clashes.over(patterns);
  }

  /** Nothing of the team runs or could start but what touches such files, and of that this one comes first. */
  isLastResort({ name }: Turn): boolean {
    return this.#lastResort() === name;
  }

  /** Others that run and may touch the same files. */
  overlapping(name: string): readonly string[] {
    return this.#touching.with(name);
  }

  /** Somebody that is not finished counts on it. */
  hasOpenDependents(name: string): boolean {
    for (const dependent of this.#dependentsOf(name)) if (this.#cards.get(dependent)?.isFinished === false) return true;
    return false;
  }

  leadsIntoCircle(name: string): boolean {
    this.#circles ??= leadingIntoCircles(this.#openDependencies());
    return this.#circles.has(name);
  }

  /**
   * Takes a place before the claim is stored: the next decision counts it. False when somebody else is at it, or was faster: then what the
   * claimant has read is old.
   */
  claim(turn: Turn, agent: Agent, attempt: number, by: Claimant = 'controller'): boolean {
    const { name } = turn;
    if (this.#claims.get(name) || (this.#cards.get(name)?.attempt ?? 0) >= attempt) return false;
    this.#hold(name, this.#holderOf(name), agent.metadata.name);
    this.#claims.put(name, { holder: agent.metadata.name, attempt, by });
    this.#arrange(name);
    return true;
  }

  /** For a claim that did not get stored. */
  unclaim(name: string, by: Claimant = 'controller'): void {
    if (this.#claims.get(name)?.by !== by) return;
    const before = this.#holderOf(name);
    this.#claims.end(name);
    this.#hold(name, before, this.#holderOf(name));
    this.#arrange(name);
  }

  /** Somebody has decided to take it; whether that was in time is not known yet. */
  isBeingClaimed(name: string): boolean {
    return this.#claims.get(name) !== undefined;
  }

  /** Until it is known whether the claim that is on its way was in time. */
  claimSettled(name: string): Promise<void> {
    return this.#claims.settled(name);
  }

  put(card: Card): Woken {
    const known = this.#cards.get(card.name);
    if (known && known.uid === card.uid && Number(card.version) < Number(known.version)) return NOBODY;
    this.highestNumber = numberIn(this.#team, card.name) ?? 0;
    return this.#replace(card.name, card);
  }

  remove(name: string, uid: string): Woken {
    const known = this.#cards.get(name);
    if (known && known.uid !== uid) return NOBODY;
    return this.#replace(name, undefined);
  }

  putAgent(agent: Agent): Woken {
    const { name, uid, resourceVersion } = agent.metadata;
    const known = this.#agents.get(name)?.metadata;
    if (known && known.uid === uid && Number(resourceVersion) < Number(known.resourceVersion)) return NOBODY;
    return this.#replaceAgent(name, agent);
  }

  removeAgent(name: string, uid: string): Woken {
    const known = this.#agents.get(name);
    return known?.metadata.uid === uid ? this.#replaceAgent(name, undefined) : NOBODY;
  }

  #replace(name: string, next: Card | undefined): Woken {
    const before = this.#cards.get(name);
    const holderBefore = this.#holderOf(name);
    const stoodInLine = this.#lines.has(name);
    if (next) this.#cards.set(name, next);
    else this.#cards.delete(name);
    if (!next || next.attempt >= (this.#claims.get(name)?.attempt ?? Number.POSITIVE_INFINITY)) this.#claims.end(name);
    const holder = this.#holderOf(name);
    this.#hold(name, holderBefore, holder);
    this.#reindex(name, before, next);
    this.#arrange(name);
    this.#pace.replace(before?.tookMs, next?.tookMs);
    const woken = new Set<string>(this.#touching.put(name, next?.files ?? []));
    if (before?.face !== next?.face) this.#wakeDependents(name, woken);
    if (holderBefore !== undefined && holder !== holderBefore) this.#wakeForPlace(holderBefore, woken);
    else if (stoodInLine && holder === undefined && !this.#lines.has(name)) this.#wakeForAll(woken);
    this.#wakeLastResort(woken);
    return woken;
  }

  #reindex(name: string, before: Card | undefined, next: Card | undefined): void {
    const isSame = before !== undefined && next !== undefined && before.dependsOn.join() === next.dependsOn.join();
    // A task that succeeds can only end a circle.
    if (!isSame || (next.face === 'Succeeded' && this.#circles?.size !== 0)) this.#circles = undefined;
    if (isSame) return;
    for (const dependency of before?.dependsOn ?? []) takeOut(this.#dependents, dependency, name);
    for (const dependency of next?.dependsOn ?? []) putIn(this.#dependents, dependency, name);
  }

  *#dependentsOf(name: string): Iterable<string> {
    const short = name.startsWith(`${this.#team}-`) ? name.slice(this.#team.length + 1) : name;
    for (const called of new Set([name, short])) yield* this.#dependents.get(called) ?? [];
  }

  #wakeDependents(name: string, woken: Set<string>): void {
    for (const dependent of this.#dependentsOf(name)) {
      this.#arrange(dependent);
      woken.add(dependent);
    }
  }

  #holderOf(name: string): string | undefined {
    return this.#claims.get(name)?.holder ?? this.#cards.get(name)?.holder;
  }

  #hold(name: string, before: string | undefined, after: string | undefined): void {
    if (before === after) return;
    if (before !== undefined) takeOut(this.#held, before, name);
    if (after !== undefined) putIn(this.#held, after, name);
    this.#heldCount += Number(after !== undefined) - Number(before !== undefined);
  }

  /** Puts a task into its line, or takes it out. */
  #arrange(name: string): void {
    const card = this.#cards.get(name);
    const wanted = card && this.#canStart(card) ? card : undefined;
    const isHandedOut = wanted !== undefined && !wanted.isPulledOnly;
    const isAvoided = isHandedOut && this.#clashes.over(wanted.avoids) !== undefined;
    this.#lines.arrange(name, isHandedOut && !isAvoided ? wanted : undefined);
    this.#avoided.arrange(name, isAvoided ? wanted : undefined);
    this.#open.arrange(name, wanted?.offer ? wanted : undefined);
  }

  #lastResort(): string | undefined {
    if (this.#avoided.demands.size === 0 || this.#held.size > 0) return undefined;
    for (const line of this.#lines.demands.keys()) if (this.#placesFor(this.#lines, line) > 0) return undefined;
    const firsts = [...this.#avoided.demands.keys()]
      .filter((line) => this.#placesFor(this.#avoided, line) > 0)
      .flatMap((line) => this.#avoided.first(line, 1))
      .flatMap((name) => this.#cards.get(name) ?? []);
    return firsts.sort(compareTurn)[0]?.name;
  }

  #wakeLastResort(woken: Set<string>): void {
    const name = this.#lastResort();
    if (name !== undefined) woken.add(name);
  }

  /** Branches fit again, or do not fit any more: whoever touches their files goes to the other line, and says so. */
  #rearrange(woken: Set<string>): void {
    for (const { name, avoids, isFinished } of this.#cards.values()) {
      if (avoids.length === 0 || isFinished) continue;
      const wasAvoided = this.#avoided.has(name);
      this.#arrange(name);
      if (wasAvoided || this.#avoided.has(name)) woken.add(name);
    }
    this.#wakeForAll(woken);
  }

  #canStart({ name, isWilling, dependsOn }: Card): boolean {
    if (!isWilling || this.#claims.get(name)) return false;
    return dependsOn.every((dependency) => this.find(dependency)?.face === 'Succeeded');
  }

  #replaceAgent(name: string, next: Agent | undefined): Woken {
    const before = this.#agents.get(name);
    const isSame = before !== undefined && next !== undefined && isSameOffer(before, next);
    const offersBefore = isSame ? undefined : this.#offers();
    if (next) this.#agents.set(name, next);
    else this.#agents.delete(name);
    const woken = new Set<string>();
    if (!before || !next || !isSameRun(before, next)) for (const task of this.#held.get(name) ?? []) woken.add(task);
    if (offersBefore) this.#wakeForOffer(next, offersBefore, woken);
    if (this.#clashes.put(name, next)) this.#rearrange(woken);
    this.#wakeLastResort(woken);
    return woken;
  }

  #wakeForOffer(agent: Agent | undefined, before: Offers, woken: Set<string>): void {
    this.#wakeFor(agent, woken);
    const now = this.#offers();
    for (const kind of ['lines', 'open'] as const) {
      for (const [line, offer] of now[kind]) {
        if (before[kind].get(line) !== offer) this.#wakeLine(kind, line, Number.POSITIVE_INFINITY, woken);
      }
    }
  }

  /** What the team has to offer to each line: it is the reason that its tasks give for waiting. */
  #offers(): Offers {
    const agents = [...this.#agents.values()];
    const offerTo = (demand: Demand): Offer => {
      const suitable = agents.filter((agent) => takes(agent, demand));
      if (suitable.length === 0) return 'none';
      return suitable.some(isReady) ? 'ready' : 'unready';
    };
    // Whoever waits to be claimed says no more than whether anybody could.
    const openTo = (demand: Demand): Offer => (agents.some((agent) => suits(agent, demand)) ? 'ready' : 'none');
    return {
      lines: new Map([...this.#lines.demands].map(([key, { demand }]) => [key, offerTo(demand)])),
      open: new Map([...this.#open.demands].map(([key, { demand }]) => [key, openTo(demand)])),
    };
  }

  /** A place of this agent is free; where the team is limited, it may be one of any agent. */
  #wakeForPlace(holder: string, woken: Set<string>): void {
    if (this.#maxParallel === Number.POSITIVE_INFINITY) this.#wakeFor(this.#agents.get(holder), woken);
    else this.#wakeForAll(woken);
  }

  /** The agent may have a place: tasks at the head of the lines that it serves. */
  #wakeFor(agent: Agent | undefined, woken: Set<string>): void {
    if (!agent || !isReady(agent) || this.free(agent) === 0) return;
    for (const line of this.#lines.servedBy(agent)) this.#wakeLine('lines', line, this.#placesFor(this.#lines, line), woken);
  }

  #wakeForAll(woken: Set<string>): void {
    for (const line of this.#lines.demands.keys()) this.#wakeLine('lines', line, this.#placesFor(this.#lines, line), woken);
  }

  #placesFor(lines: Lines, line: string): number {
    const demand = lines.demands.get(line)?.demand ?? {};
    let places = 0;
    for (const agent of this.#agents.values()) {
      if (isReady(agent) && takes(agent, demand)) places += this.free(agent);
    }
    return Math.min(places, this.room);
  }

  #wakeLine(kind: 'lines' | 'open', line: string, count: number, woken: Set<string>): void {
    for (const name of (kind === 'lines' ? this.#lines : this.#open).first(line, count)) woken.add(name);
  }

  #openDependencies(): Map<string, readonly string[]> {
    const open = new Map<string, readonly string[]>();
    for (const { name, dependsOn, face } of this.#cards.values()) {
      if (face === 'Succeeded') continue;
      const found = dependsOn.map((dependency) => this.find(dependency)).filter((card) => card !== undefined);
      open.set(
        name,
        found.filter((card) => card.face !== 'Succeeded').map((card) => card.name),
      );
    }
    return open;
  }
}

type Offer = 'none' | 'unready' | 'ready';

interface Offers {
  readonly lines: ReadonlyMap<string, Offer>;
  readonly open: ReadonlyMap<string, Offer>;
}

function putIn(index: Map<string, Set<string>>, key: string, name: string): void {
  const names = index.get(key);
  if (names) names.add(name);
  else index.set(key, new Set([name]));
}

function takeOut(index: Map<string, Set<string>>, key: string, name: string): void {
  const names = index.get(key);
  names?.delete(name);
  if (names?.size === 0) index.delete(key);
}
