/**
 * The store: objects in memory, every change durable before anybody hears of it, one global version, watch with history.
 * It knows nothing of files; a Persistence makes changes durable, and the directory store puts YAML files beside it.
 */
import { DEFAULT_NAMESPACE, type Draft, formatKey, type KindObject, keyOf, type ObjectKey } from '#api/meta.ts';
import { type Clock, newUid, randomSuffix, systemClock, toSeconds } from '#lib/clock.ts';
import { AgentisoError, AlreadyExistsError, InvalidError, NotFoundError, UnavailableError } from '#lib/errors.ts';
import { freezeJson } from '#lib/json.ts';
import type { Admission, Change, Persistence } from './change.ts';
import { History, type StoreEvent } from './history.ts';
import {
  checkPreconditions,
  created,
  type DeleteRequest,
  isReleased,
  isSame,
  marked,
  statusUpdated,
  updated,
  withGeneration,
} from './rules.ts';
import { parseFieldSelector, parseLabelSelector } from './selector.ts';
import { type Query, Table } from './table.ts';

export interface KindRules {
  readonly kind: string;
  /** Fields that selectors may name, besides metadata.name and metadata.namespace. */
  readonly selectableFields: readonly string[];
}

export interface StoreOptions {
  readonly kinds: readonly KindRules[];
  readonly admission: Admission;
  readonly persistence: Persistence;
  readonly clock?: Clock;
  /** How many changes a returning watcher may have missed. */
  readonly historyLimit?: number;
  /**
   * Whether objects that go out are frozen, so that whoever changes a shared object hears of it at once. True unless it is said to be
   * false: the daemon says so, because a frozen object costs a fifth of every write, and its code is tested with this on.
   */
  readonly freeze?: boolean;
}

export interface ListQuery {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

export interface WatchQuery extends ListQuery {
  /** Every event after this version; absent: the current objects as ADDED first. */
  readonly resourceVersion?: string;
}

export interface WriteOptions {
  readonly subresource?: 'status';
  /** Do everything but store it. */
  readonly dryRun?: boolean;
}

interface PendingWrite {
  readonly change: Change;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** What a write decided on: the change to store, or the object as it stands when there is nothing to do. */
type Decision = { readonly put: KindObject } | { readonly remove: KindObject } | { readonly keep: KindObject };

const DEFAULT_HISTORY = 10_000;
/** 58 + 5 random characters = the 63 of a name. */
const GENERATED_PREFIX = 58;
const GENERATE_TRIES = 8;
const MAX_OBJECT_BYTES = 1024 * 1024;

export class Store {
  readonly #tables = new Map<string, Table>();
  readonly #selectable = new Map<string, readonly string[]>();
  readonly #admission: Admission;
  readonly #persistence: Persistence;
  readonly #clock: Clock;
  readonly #historyLimit: number;
  readonly #guard: <T>(object: T) => T;
  #history: History;
  /** The last version given out; the last one that is durable and visible. */
  #allocated = 0;
  #visible = 0;
  /** One write at a time per object; others of the same object wait for it to land. */
  readonly #busy = new Map<string, Promise<void>>();
  #queue: PendingWrite[] = [];
  #pumping = false;
  #closed: string | undefined;

  constructor({ kinds, admission, persistence, clock = systemClock, historyLimit = DEFAULT_HISTORY, freeze = true }: StoreOptions) {
    this.#guard = freeze ? freezeJson : (object) => object;
    this.#admission = admission;
    this.#persistence = persistence;
    this.#clock = clock;
    this.#historyLimit = historyLimit;
    this.#history = new History(historyLimit, 0);
    for (const { kind, selectableFields } of kinds) {
      this.#tables.set(kind, new Table());
      this.#selectable.set(kind, ['metadata.name', 'metadata.namespace', ...selectableFields]);
    }
  }

  /** Fills an empty store with what was on disk. Watchers start after `version`. */
  load(objects: Iterable<KindObject>, version: number): void {
    for (const object of objects) this.#table(object.kind).put(object);
    this.#allocated = version;
    this.#visible = version;
    this.#history = new History(this.#historyLimit, version);
  }

  /** The version of the newest change that readers can see. */
  get resourceVersion(): number {
    return this.#visible;
  }

  get watcherCount(): number {
    return this.#history.watcherCount;
  }

  count(kind: string): number {
    return this.#table(kind).size;
  }

  get(key: ObjectKey): KindObject | undefined {
    const object = this.#table(key.kind).get(key.namespace, key.name);
    return object && this.#guard(object);
  }

  /** An earlier version of an object, while the history still has it. */
  recentVersion(key: ObjectKey, resourceVersion: string): KindObject | undefined {
    return this.#history.versionOf(key, resourceVersion);
  }

  list(kind: string, query: ListQuery = {}): { readonly items: readonly KindObject[]; readonly resourceVersion: number } {
    const items = this.#table(kind).list(this.#query(kind, query));
    for (const item of items) this.#guard(item);
    return { items, resourceVersion: this.#visible };
  }

  /** Every object of every kind, unsorted; for snapshots. */
  *all(): Iterable<KindObject> {
    for (const table of this.#tables.values()) yield* table.values();
  }

  watch(kind: string, query: WatchQuery, onEvent: (event: StoreEvent) => void): () => void {
    const watcher = { kind, query: this.#query(kind, query), onEvent };
    if (query.resourceVersion !== undefined) {
      return this.#history.subscribe(watcher, parseVersion(query.resourceVersion), this.#visible);
    }
    for (const object of this.#table(kind).list(watcher.query)) {
      onEvent({ type: 'ADDED', object: this.#guard(object), resourceVersion: Number(object.metadata.resourceVersion) });
    }
    return this.#history.subscribe(watcher, this.#visible, this.#visible);
  }

  async create(draft: Draft, options: WriteOptions = {}): Promise<KindObject> {
    const { name, generateName, ...rest } = draft.metadata;
    if (name !== undefined && name !== '') return this.#create(draft, name, options);
    if (!generateName) throw required('metadata.name', 'name or generateName is required');
    for (let attempt = 1; ; attempt++) {
      const generated = `${generateName.slice(0, GENERATED_PREFIX)}${randomSuffix(5)}`;
      try {
        return await this.#create({ ...draft, metadata: { ...rest, generateName, name: generated } }, generated, options);
      } catch (error) {
        if (!(error instanceof AlreadyExistsError) || attempt === GENERATE_TRIES) throw error;
      }
    }
  }

  async update(object: KindObject, options: WriteOptions = {}): Promise<KindObject> {
    const key = keyOf(object);
    return this.#write(key, options, (current) => {
      if (!current) throw notFound(key);
      if (!object.metadata.resourceVersion) throw required('metadata.resourceVersion', 'must be specified for an update');
      checkPreconditions(current, object.metadata);
      const isStatus = options.subresource === 'status';
      const next = this.#admission.admit(isStatus ? statusUpdated(current, object) : updated(current, object), current);
      const admitted = isStatus ? next : withGeneration(current, next);
      if (isReleased(admitted)) return { remove: admitted };
      return isSame(current, admitted) ? { keep: current } : { put: admitted };
    });
  }

  /** The object if it is only marked, undefined when it is gone. */
  async delete(key: ObjectKey, request: DeleteRequest = {}, options: WriteOptions = {}): Promise<KindObject | undefined> {
    let gone = false;
    const object = await this.#write(key, options, (current) => {
      if (!current) throw notFound(key);
      if (request.preconditions) checkPreconditions(current, request.preconditions);
      const next = marked(current, request, toSeconds(this.#clock.now()));
      gone = next === undefined;
      if (!next) return { remove: current };
      return isSame(current, next) ? { keep: current } : { put: next };
    });
    return gone ? undefined : object;
  }

  /** Waits for what was accepted, then refuses everything. */
  async close(reason = 'the store is closed'): Promise<void> {
    this.#closed = reason;
    await Promise.allSettled(this.#busy.values());
  }

  async #create(draft: Draft, name: string, options: WriteOptions): Promise<KindObject> {
    if (draft.metadata.resourceVersion) throw required('metadata.resourceVersion', 'must not be set on objects to be created');
    const namespace = draft.metadata.namespace ?? DEFAULT_NAMESPACE;
    const key = { kind: draft.kind, namespace, name };
    return this.#write(key, options, (current) => {
      if (current) throw new AlreadyExistsError(`${formatKey(key)} already exists`);
      const complete = { ...draft, metadata: { ...draft.metadata, name, namespace } } as KindObject;
      return { put: this.#admission.admit(created(complete, newUid(), toSeconds(this.#clock.now())), undefined) };
    });
  }

  /** `decide` sees the newest state and runs alone for its object; its result is stored before this resolves. */
  async #write(key: ObjectKey, { dryRun }: WriteOptions, decide: (current: KindObject | undefined) => Decision): Promise<KindObject> {
    const table = this.#table(key.kind);
    const id = `${key.kind}/${Table.id(key.namespace, key.name)}`;
    for (let other = this.#busy.get(id); other; other = this.#busy.get(id)) await other;
    if (this.#closed !== undefined) throw new UnavailableError(this.#closed);
    const decision = decide(table.get(key.namespace, key.name));
    if ('keep' in decision) return this.#guard(decision.keep);
    const change = this.#stamped(key, decision);
    if (dryRun) return this.#guard(change.object);
    const landed = this.#enqueue({ ...change, resourceVersion: ++this.#allocated });
    const settled = landed.then(
      () => {},
      () => {},
    );
    this.#busy.set(id, settled);
    try {
      await landed;
      return change.object;
    } finally {
      if (this.#busy.get(id) === settled) this.#busy.delete(id);
    }
  }

  #stamped(key: ObjectKey, decision: { put: KindObject } | { remove: KindObject }): Change {
    const resourceVersion = this.#allocated + 1;
    const type = 'put' in decision ? 'put' : 'delete';
    const object = 'put' in decision ? decision.put : decision.remove;
    const stamped = { ...object, metadata: { ...object.metadata, resourceVersion: String(resourceVersion) } };
    const json = JSON.stringify(stamped);
    if (type === 'put') checkSize(key, json);
    return { resourceVersion, type, key, object: stamped, json };
  }

  #enqueue(change: Change): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ change, resolve, reject });
      if (this.#pumping) return;
      this.#pumping = true;
      // A microtask later, so that all writes of this turn of the event loop share the first commit.
      queueMicrotask(() => void this.#pump());
    });
  }

  /** Group commit: while one batch is being made durable the next one gathers. */
  async #pump(): Promise<void> {
    while (this.#queue.length > 0) {
      const batch = this.#queue;
      this.#queue = [];
      try {
        await this.#persistence.commit(batch.map(({ change }) => change));
      } catch (error) {
        for (const { reject } of batch) reject(error);
        continue;
      }
      for (const { change, resolve } of batch) {
        this.#publish(change);
        resolve();
      }
    }
    this.#pumping = false;
  }

  #publish({ key, type, object, resourceVersion }: Change): void {
    const table = this.#table(key.kind);
    const before = table.get(key.namespace, key.name);
    if (type === 'put') table.put(object);
    else table.remove(key.namespace, key.name);
    this.#visible = resourceVersion;
    this.#history.publish({ resourceVersion, object: this.#guard(object), before, deleted: type === 'delete' });
  }

  #table(kind: string): Table {
    const table = this.#tables.get(kind);
    if (!table) throw unknownKind(kind, [...this.#tables.keys()]);
    return table;
  }

  #query(kind: string, { namespace, labelSelector, fieldSelector }: ListQuery): Query {
    return {
      namespace,
      labels: labelSelector ? parseLabelSelector(labelSelector) : [],
      fields: fieldSelector ? parseFieldSelector(fieldSelector, this.#selectable.get(kind) ?? []) : [],
    };
  }
}

function parseVersion(text: string): number {
  if (/^\d{1,16}$/.test(text)) return Number(text);
  throw new InvalidError(`invalid resource version ${JSON.stringify(text)}; expected a number that a list or an object carried`);
}

/** Not NotFound: whoever ignores that for objects would never hear of a kind that does not exist. */
function unknownKind(kind: string, known: readonly string[]): InvalidError {
  const message = `unknown kind ${JSON.stringify(kind)}; known: ${known.join(', ')}`;
  return new InvalidError(message, [{ path: 'kind', segments: ['kind'], kind: 'NotSupported', message }], { reason: 'UnknownKind' });
}

/** What is stored must also fit in a file that a person can edit, and in one message to a client. */
function checkSize(key: ObjectKey, json: string): void {
  if (json.length * 3 <= MAX_OBJECT_BYTES) return;
  const bytes = Buffer.byteLength(json);
  if (bytes <= MAX_OBJECT_BYTES) return;
  throw new AgentisoError('TooLarge', `${formatKey(key)} would be ${bytes} bytes; at most ${MAX_OBJECT_BYTES} (1 MiB) are stored`);
}

function notFound(key: ObjectKey): NotFoundError {
  return new NotFoundError(`${formatKey(key)} not found`);
}

function required(path: string, message: string): InvalidError {
  return new InvalidError(`${path}: ${message}`, [{ path, segments: path.split('.'), kind: 'Invalid', message }]);
}
