/** Tasks that could start, one line for each kind of agent that is asked for. */
import type { Agent } from '#api/types.ts';
import { type Card, compareTurn, type Turn } from './card.ts';
import { Line } from './line.ts';
import type { Demand } from './roster.ts';

export class Lines {
  readonly #serves: (agent: Agent, demand: Demand) => boolean;
  readonly #lines = new Map<string, { readonly demand: Demand; readonly line: Line }>();
  readonly #places = new Map<string, { readonly key: string; readonly turn: Turn }>();

  constructor(serves: (agent: Agent, demand: Demand) => boolean) {
    this.#serves = serves;
  }

  has(name: string): boolean {
    return this.#places.has(name);
  }

  get demands(): ReadonlyMap<string, { readonly demand: Demand }> {
    return this.#lines;
  }

  /** Those of lines that this agent serves. */
  *servedBy(agent: Agent): Iterable<string> {
    for (const [key, { demand }] of this.#lines) if (this.#serves(agent, demand)) yield key;
  }

  /** How many have their turn before this one, in the lines that one of these agents serves. */
  ahead(turn: Turn, agents: readonly Agent[]): number {
    let count = 0;
    for (const { demand, line } of this.#lines.values()) {
      if (agents.some((agent) => this.#serves(agent, demand))) count += line.before(turn);
    }
    return count;
  }

  first(key: string, count: number): readonly string[] {
    return this.#lines.get(key)?.line.first(count) ?? [];
  }

  /** Puts a task into its line; undefined takes it out. */
  arrange(name: string, wanted: Pick<Card, keyof Turn | 'demand'> | undefined): void {
    const place = this.#places.get(name);
    const key = wanted && keyOf(wanted.demand);
    if (place && wanted && place.key === key && compareTurn(place.turn, wanted) === 0) return;
    if (place) this.#takeOut(name, place);
    if (!wanted || key === undefined) return;
    const entry = this.#lines.get(key) ?? { demand: wanted.demand, line: new Line() };
    entry.line.add(wanted);
    this.#lines.set(key, entry);
    this.#places.set(name, { key, turn: wanted });
  }

  #takeOut(name: string, { key, turn }: { readonly key: string; readonly turn: Turn }): void {
    const line = this.#lines.get(key)?.line;
    line?.remove(turn);
    if (line?.length === 0) this.#lines.delete(key);
    this.#places.delete(name);
  }
}

/** Skills and names are free of line breaks. */
function keyOf({ assignTo = '', skills = [], request, prompt }: Demand): string {
  return [typeof prompt, assignTo, request?.by ?? '', ...[...skills].sort()].join('\n');
}
