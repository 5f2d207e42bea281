/** The last changes, for watchers that come back, and the watchers that are there now. */
import type { KindObject, ObjectKey } from '#api/meta.ts';
import { ExpiredError } from '#lib/errors.ts';
import { matchesQuery, type Query } from './table.ts';

export interface StoreEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: KindObject;
  readonly resourceVersion: number;
}

/** What happened, before a watcher's selectors turn it into an event of its own. */
interface Happened {
  readonly resourceVersion: number;
  readonly object: KindObject;
  readonly before: KindObject | undefined;
  readonly deleted: boolean;
}

export interface Watcher {
  readonly kind: string;
  readonly query: Query;
  /** Called in version order, synchronously with the commit: must be quick and must not throw. */
  readonly onEvent: (event: StoreEvent) => void;
}

/** A watcher, and the version up to which it has been told everything. */
interface Subscription {
  readonly watcher: Watcher;
  readonly since: number;
}

export class History {
  readonly #limit: number;
  readonly #watchers = new Map<string, Set<Subscription>>();
  /** A ring: `#start` is the oldest entry once it is full. */
  readonly #ring: Happened[] = [];
  #start = 0;
  /** Everything after this version is retained. */
  #floor: number;

  constructor(limit: number, floor: number) {
    this.#limit = limit;
    this.#floor = floor;
  }

  get watcherCount(): number {
    let count = 0;
    for (const watchers of this.#watchers.values()) count += watchers.size;
    return count;
  }

  versionOf({ kind, namespace, name }: ObjectKey, resourceVersion: string): KindObject | undefined {
    const isIt = (object: KindObject | undefined) =>
      object?.kind === kind &&
      object.metadata.resourceVersion === resourceVersion &&
      object.metadata.name === name &&
      object.metadata.namespace === namespace;
    for (const { object, before } of this.#ring) {
      if (isIt(object)) return object;
      if (isIt(before)) return before;
    }
    return undefined;
  }

  publish(happened: Happened): void {
    this.#remember(happened);
    const watchers = this.#watchers.get(happened.object.kind);
    if (!watchers) return;
    // One that subscribes while the others are told has had this change from the ring.
    for (const { watcher, since } of watchers) if (since < happened.resourceVersion) tell(watcher, happened);
  }

  /** Replays everything after `since` and then stays subscribed. Throws ExpiredError when that is no longer, or not yet, known. */
  subscribe(watcher: Watcher, since: number, current: number): () => void {
    this.#checkRetained(since, current);
    if (since < current) {
      for (const happened of this.#after(since)) if (happened.object.kind === watcher.kind) tell(watcher, happened);
    }
    const watchers = this.#watchers.get(watcher.kind) ?? new Set();
    const subscription = { watcher, since: current };
    this.#watchers.set(watcher.kind, watchers.add(subscription));
    return () => {
      watchers.delete(subscription);
    };
  }

  #checkRetained(since: number, current: number): void {
    if (since >= this.#floor && since <= current) return;
    const [what, bound] = since > current ? ['too large', current] : ['too old', this.#floor];
    throw new ExpiredError(`${what} resource version: ${since} (${bound})`, { hint: 'list again and watch from the version of that list' });
  }

  #remember(happened: Happened): void {
    if (this.#ring.length < this.#limit) {
      this.#ring.push(happened);
      return;
    }
    const oldest = this.#ring[this.#start];
    if (oldest) this.#floor = oldest.resourceVersion;
    this.#ring[this.#start] = happened;
    this.#start = (this.#start + 1) % this.#limit;
  }

  *#after(since: number): Iterable<Happened> {
    for (let i = 0; i < this.#ring.length; i++) {
      const happened = this.#ring[(this.#start + i) % this.#ring.length];
      if (happened && happened.resourceVersion > since) yield happened;
    }
  }
}

function tell(watcher: Watcher, happened: Happened): void {
  const event = seenBy(watcher, happened);
  if (event) watcher.onEvent(event);
}

/** Entering a selector is ADDED, leaving it is DELETED with the new state. */
function seenBy({ query }: Watcher, { object, before, deleted, resourceVersion }: Happened): StoreEvent | undefined {
  const matched = before !== undefined && matchesQuery(query, before);
  const matching = !deleted && matchesQuery(query, object);
  if (matching) return { type: matched ? 'MODIFIED' : 'ADDED', object, resourceVersion };
  return matched ? { type: 'DELETED', object, resourceVersion } : undefined;
}
