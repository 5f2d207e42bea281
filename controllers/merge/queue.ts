/** Which merge goes first: what brings work to a source of another one goes before it, otherwise the older one. Pure. */
import { type Merge, shortName } from '#api/types.ts';

/** Merges with the same one wait for each other. */
export function targetOf({ metadata: { namespace }, spec: { team, target } }: Merge): string {
  const agent = target.agent === undefined ? '' : shortName(team, target.agent);
  // An agent's repository as a whole: which branch it has checked out is not known here.
  return agent === '' ? `${namespace}/${team}//${target.branch}` : agentPlace(namespace, team, agent);
}

function agentPlace(namespace: string, team: string, agent: string): string {
  return `${namespace}/${team}/${agent}`;
}

/** Conflicted and Failed ones wait for a change, not for their turn. */
export function isWaiting({ metadata, status }: Merge): boolean {
  if (metadata.deletionTimestamp !== undefined) return false;
  return status?.phase === undefined || ['Pending', 'Queued', 'Merging'].includes(status.phase);
}

/** Those that go before this one, the first of them first. */
export function lineBefore(merge: Merge, all: readonly Merge[]): Merge[] {
  const waiting = all.filter((other) => other.metadata.uid !== merge.metadata.uid && isWaiting(other));
  const order = new Order([...waiting, merge]);
  return waiting.filter((other) => order.goesBefore(other, merge)).sort((a, b) => order.compare(a, b));
}

/**
 * Targets that feed each other in a circle are one: among them only age counts, or each would wait for the next for ever. Between others
 * the way of the work counts, which knows no circle.
 */
export class Order {
  /** Target → the targets that it feeds, directly. */
  readonly #feeds = new Map<string, Set<string>>();

  constructor(merges: readonly Merge[]) {
    const targets = new Set(merges.map(targetOf));
    for (const merge of merges) {
      for (const source of sourcesOf(merge).filter((place) => targets.has(place))) {
        const fed = this.#feeds.get(source) ?? new Set();
        this.#feeds.set(source, fed.add(targetOf(merge)));
      }
    }
  }

  /** Whether the two have to do with each other, and this one is the first. */
  goesBefore(one: Merge, other: Merge): boolean {
    const isSame = targetOf(one) === targetOf(other);
    return (isSame || meets(one, other)) && this.compare(one, other) < 0;
  }

  compare(one: Merge, other: Merge): number {
    const [a, b] = [targetOf(one), targetOf(other)];
    if (a !== b) {
      const [isFeeding, isFed] = [this.#leads(a, b), this.#leads(b, a)];
      if (isFeeding !== isFed) return isFeeding ? -1 : 1;
    }
    return byAge(one, other);
  }

  #leads(from: string, to: string): boolean {
    const seen = new Set([from]);
    for (const place of seen) for (const next of this.#feeds.get(place) ?? []) seen.add(next);
    return from !== to && seen.has(to);
  }
}

/** Whether one brings work to where the other takes it from. */
export function meets(one: Merge, other: Merge): boolean {
  return bringsTo(one, other) || bringsTo(other, one);
}

/** Whether its target is a source of the other. */
function bringsTo(merge: Merge, other: Merge): boolean {
  return sourcesOf(other).includes(targetOf(merge));
}

function sourcesOf({ metadata: { namespace }, spec: { team, sources } }: Merge): string[] {
  return sources.map(({ agent }) => agentPlace(namespace, team, shortName(team, agent)));
}

function byAge({ metadata: a }: Merge, { metadata: b }: Merge): number {
  if (a.creationTimestamp !== b.creationTimestamp) return a.creationTimestamp < b.creationTimestamp ? -1 : 1;
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}
