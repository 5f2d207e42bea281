/** The last changes, for watchers that come back, and the watchers that are there now. */
import type { KindObject, ObjectKey } from '#api/meta.ts';
import { ExpiredError } from '#lib/errors.ts';
import { matchesQuery, type Query, Table } from './table.ts';

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
  /** About how much memory it keeps, in characters of JSON. */
  readonly size: number;
}

export interface HistoryLimits {
  readonly changes: number;
  /** Of all changes together: large objects that change often must not fill the memory. */
  readonly size?: number;
}

const MAX_SIZE = 64 * 1024 * 1024;
/** Forgotten entries stay at the front of the list until there are this many: shifting each time would cost the whole length. */
const COMPACT_AT = 1_024;

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
  readonly #limits: Required<HistoryLimits>;
  readonly #watchers = new Map<string, Set<Subscription>>();
  /** Oldest first; those before `#start` are forgotten. */
  #changes: (Happened | undefined)[] = [];
  #start = 0;
  #size = 0;
  /** Everything after this version is retained. */
  #floor: number;

  constructor({ changes, size = MAX_SIZE }: HistoryLimits, floor: number) {
    this.#limits = { changes, size };
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
    for (const { object, before } of this.#after(0)) {
      if (isIt(object)) return object;
      if (isIt(before)) return before;
    }
    return undefined;
  }

  /** What the objects that changed after `since` were then, by id; undefined for those that did not exist. */
  undo(kind: string, since: number, current: number): Map<string, KindObject | undefined> {
    this.#checkRetained(since, current);
    const past = new Map<string, KindObject | undefined>();
    if (since === current) return past;
    for (const { object, before } of this.#after(since)) {
      // The first change after that version says what was there.
      const id = Table.idOf(object);
      if (object.kind === kind && !past.has(id)) past.set(id, before);
    }
    return past;
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
    this.#changes.push(happened);
    this.#size += happened.size;
    while (this.#changes.length - this.#start > this.#limits.changes || this.#size > this.#limits.size) this.#forgetOldest();
    if (this.#start < COMPACT_AT || this.#start * 2 < this.#changes.length) return;
    this.#changes = this.#changes.slice(this.#start);
    this.#start = 0;
  }

  #forgetOldest(): void {
    const oldest = this.#changes[this.#start];
    this.#changes[this.#start++] = undefined;
    if (!oldest) return;
    this.#floor = oldest.resourceVersion;
    this.#size -= oldest.size;
  }

  *#after(since: number): Iterable<Happened> {
    for (let at = this.#firstAfter(since); at < this.#changes.length; at++) {
      const happened = this.#changes[at];
      if (happened) yield happened;
    }
  }

  /** Versions only rise: the place is found by halving. */
  #firstAfter(since: number): number {
    let low = this.#start;
    let high = this.#changes.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#changes[middle]?.resourceVersion ?? 0) > since) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

function tell(watcher: Watcher, happened: Happened): void {
  const event = seenBy(watcher, happened);
  if (event) watcher.onEvent(event);
}

/** What the watcher knew of the object, with the version of the change that took it out of sight. */
function lastSeen(before: KindObject, { metadata }: KindObject): KindObject {
  return { ...before, metadata: { ...before.metadata, resourceVersion: metadata.resourceVersion } };
}

/** Entering a selector is ADDED, leaving it is DELETED with the last state that matched, as Kubernetes does it. */
function seenBy({ query }: Watcher, { object, before, deleted, resourceVersion }: Happened): StoreEvent | undefined {
  const matched = before !== undefined && matchesQuery(query, before);
  const matching = !deleted && matchesQuery(query, object);
  if (matching) return { type: matched ? 'MODIFIED' : 'ADDED', object, resourceVersion };
  return matched ? { type: 'DELETED', object: deleted ? object : lastSeen(before, object), resourceVersion } : undefined;
}
