/**
 * The board of one team, kept up to date change by change: who holds what, whose turn it is, who waits for whom.
 * Each change says whose decision it may alter, so that nobody has to look at the whole board again.
 */
import type { Agent } from '#api/types.ts';
import { type Card, compareTurn, type Turn } from './card.ts';
import { leadingIntoCircles } from './circles.ts';
import { Line } from './line.ts';
import { isReady, isSameOffer, isSameRun, suits } from './roster.ts';

/** Names of tasks to look at again. */
export type Woken = ReadonlySet<string>;

const NOBODY: Woken = new Set();
/** The line of tasks that any agent may do. */
const ANY = '';

export class Board {
  readonly #team: string;
  readonly #cards = new Map<string, Card>();
  readonly #agents = new Map<string, Agent>();
  /** A name as written in dependsOn → who wrote it. */
  readonly #dependents = new Map<string, Set<string>>();
  /** Agent → what it holds. */
  readonly #held = new Map<string, Set<string>>();
  /** Claims that were decided and may not be stored yet. */
  readonly #claims = new Map<string, { readonly holder: string; readonly attempt: number }>();
  /** By assignTo. */
  readonly #lines = new Map<string, Line>();
  readonly #places = new Map<string, { readonly line: string; readonly turn: Turn }>();
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

  has(name: string): boolean {
    return this.#cards.has(name);
  }

  /** By full or short name. */
  find(name: string): Card | undefined {
    return this.#cards.get(name) ?? this.#cards.get(`${this.#team}-${name}`);
  }

  free(agent: Agent): number {
    return Math.max(0, agent.spec.maxConcurrentTasks - (this.#held.get(agent.metadata.name)?.size ?? 0));
  }

  /** How many could start, suit one of these agents and have their turn before this one. */
  ahead(turn: Turn, agents: readonly Agent[]): number {
    let count = 0;
    for (const [assignTo, line] of this.#lines) {
      if (agents.some((agent) => suits(agent, toAssignTo(assignTo)))) count += line.before(turn);
    }
    return count;
  }

  leadsIntoCircle(name: string): boolean {
    this.#circles ??= leadingIntoCircles(this.#openDependencies());
    return this.#circles.has(name);
  }

  /** Takes a place before the claim is stored: the next decision counts it. */
  claim(turn: Turn, agent: Agent, attempt: number): void {
    const { name } = turn;
    this.#hold(name, this.#holderOf(name), agent.metadata.name);
    this.#claims.set(name, { holder: agent.metadata.name, attempt });
    this.#arrange(name);
  }

  /** For a claim that did not get stored. */
  unclaim(name: string): void {
    if (!this.#claims.has(name)) return;
    const before = this.#holderOf(name);
    this.#claims.delete(name);
    this.#hold(name, before, this.#holderOf(name));
    this.#arrange(name);
  }

  put(card: Card): Woken {
    const known = this.#cards.get(card.name);
    if (known && known.uid === card.uid && Number(card.version) < Number(known.version)) return NOBODY;
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
    const stoodInLine = this.#places.has(name);
    if (next) this.#cards.set(name, next);
    else this.#cards.delete(name);
    if (!next || next.attempt >= (this.#claims.get(name)?.attempt ?? Number.POSITIVE_INFINITY)) this.#claims.delete(name);
    const holder = this.#holderOf(name);
    this.#hold(name, holderBefore, holder);
    this.#reindex(name, before, next);
    this.#arrange(name);
    const woken = new Set<string>();
    if (before?.face !== next?.face) this.#wakeDependents(name, woken);
    if (holderBefore !== undefined && holder !== holderBefore) this.#wakeFor(this.#agents.get(holderBefore), woken);
    else if (stoodInLine && holder === undefined && !this.#places.has(name)) this.#wakeForAll(woken);
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

  #wakeDependents(name: string, woken: Set<string>): void {
    const short = name.startsWith(`${this.#team}-`) ? name.slice(this.#team.length + 1) : name;
    for (const called of new Set([name, short])) {
      for (const dependent of this.#dependents.get(called) ?? []) {
        this.#arrange(dependent);
        woken.add(dependent);
      }
    }
  }

  #holderOf(name: string): string | undefined {
    return this.#claims.get(name)?.holder ?? this.#cards.get(name)?.holder;
  }

  #hold(name: string, before: string | undefined, after: string | undefined): void {
    if (before === after) return;
    if (before !== undefined) takeOut(this.#held, before, name);
    if (after !== undefined) putIn(this.#held, after, name);
  }

  /** Puts a task into its line, or takes it out. */
  #arrange(name: string): void {
    const card = this.#cards.get(name);
    const wanted = card && this.#canStart(card) ? card : undefined;
    const place = this.#places.get(name);
    const line = wanted && (wanted.assignTo ?? ANY);
    if (place && wanted && place.line === line && compareTurn(place.turn, wanted) === 0) return;
    if (place) {
      const old = this.#lines.get(place.line);
      old?.remove(place.turn);
      if (old?.length === 0) this.#lines.delete(place.line);
      this.#places.delete(name);
    }
    if (!wanted || line === undefined) return;
    const lineOf = this.#lines.get(line) ?? new Line();
    lineOf.add(wanted);
    this.#lines.set(line, lineOf);
    this.#places.set(name, { line, turn: wanted });
  }

  #canStart({ name, isWilling, dependsOn }: Card): boolean {
    if (!isWilling || this.#claims.has(name)) return false;
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
    return woken;
  }

  #wakeForOffer(agent: Agent | undefined, before: ReadonlyMap<string, string>, woken: Set<string>): void {
    this.#wakeFor(agent, woken);
    for (const [line, offer] of this.#offers()) {
      if (before.get(line) !== offer) this.#wakeLine(line, Number.POSITIVE_INFINITY, woken);
    }
  }

  /** What the team has to offer to each line: it is the reason that its tasks give for waiting. */
  #offers(): Map<string, 'none' | 'unready' | 'ready'> {
    const agents = [...this.#agents.values()];
    const offerTo = (line: string) => {
      const suitable = agents.filter((agent) => suits(agent, toAssignTo(line)));
      if (suitable.length === 0) return 'none';
      return suitable.some(isReady) ? 'ready' : 'unready';
    };
    return new Map([...this.#lines.keys()].map((line) => [line, offerTo(line)]));
  }

  /** The agent may have a place: tasks at the head of the lines that it serves. */
  #wakeFor(agent: Agent | undefined, woken: Set<string>): void {
    if (!agent || !isReady(agent) || this.free(agent) === 0) return;
    for (const line of this.#lines.keys()) {
      if (suits(agent, toAssignTo(line))) this.#wakeLine(line, this.#placesFor(line), woken);
    }
  }

  #wakeForAll(woken: Set<string>): void {
    for (const line of this.#lines.keys()) this.#wakeLine(line, this.#placesFor(line), woken);
  }

  #placesFor(line: string): number {
    let places = 0;
    for (const agent of this.#agents.values()) {
      if (isReady(agent) && suits(agent, toAssignTo(line))) places += this.free(agent);
    }
    return places;
  }

  #wakeLine(line: string, count: number, woken: Set<string>): void {
    for (const name of this.#lines.get(line)?.first(count) ?? []) woken.add(name);
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

function toAssignTo(line: string): string | undefined {
  return line === ANY ? undefined : line;
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
