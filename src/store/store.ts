/**
 * The store: objects in memory, every change durable before anybody hears of it, one global version, watch with history.
 * It knows nothing of files; a Persistence makes changes durable, and the directory store puts YAML files beside it.
 */
import { parseLabelSelector } from '#api/label-selector.ts';
import {
  DEFAULT_NAMESPACE,
  type Draft,
  type KindObject,
  keyOf,
  type ManagedFieldsEntry,
  type ObjectKey,
  type ObjectMeta,
} from '#api/meta.ts';
import { parseFieldSelector } from '#api/selector.ts';
import { type Clock, newUid, randomSuffix, systemClock, toSeconds } from '#lib/clock.ts';
import { AlreadyExistsError, InvalidError, UnavailableError } from '#lib/errors.ts';
import { freezeJson, type JsonObject } from '#lib/json.ts';
import type { Admission, Change, Persistence } from './change.ts';
import { GroupCommit } from './group-commit.ts';
import { History, type StoreEvent } from './history.ts';
import { objectText } from './object-text.ts';
import { alreadyExists, checkSize, nameRequired, notFound, required, unknownKind } from './refusals.ts';
import {
  checkPreconditions,
  created,
  type DeleteRequest,
  held,
  isReleased,
  isSame,
  marked,
  statusUpdated,
  updated,
  withGeneration,
} from './rules.ts';
import { type Query, Table } from './table.ts';

export interface KindRules {
  readonly kind: string;
  /** Fields that selectors may name, besides metadata.name and metadata.namespace. */
  readonly selectableFields: readonly string[];
  /** True unless it is said to be false. */
  readonly isNamespaced?: boolean;
  /** Whoever looks after objects of this kind holds each from its first version on, and need not write that it does. */
  readonly finalizers?: readonly string[];
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
  /** What the status of an object that this write creates begins with: it is not the writer's to say. Absent: there is none yet. */
  readonly firstStatus?: JsonObject;
  /** Do everything but store it. */
  readonly dryRun?: boolean;
  /** The record of who set which field, made from the stored object and the admitted one. Absent: the record stays as the object has it. */
  readonly track?: (current: KindObject | undefined, admitted: KindObject) => ManagedFieldsEntry[] | undefined;
  /** Hears of the object that is stored and of its JSON, which the journal needs anyway, before anybody else hears of the object. */
  readonly onText?: (object: KindObject, json: string) => void;
}

/** What a write decided on: the change to store, or the object as it stands when there is nothing to do. */
type Decision =
  | { readonly put: KindObject }
  /** Watchers hear of the last state that was stored; the writer hears of what it wrote. */
  | { readonly remove: KindObject; readonly written?: KindObject }
  | { readonly keep: KindObject };

const DEFAULT_HISTORY = 10_000;
/** 58 + 5 random characters = the 63 of a name. */
const GENERATED_PREFIX = 58;
const GENERATE_TRIES = 8;

export class Store {
  readonly #tables = new Map<string, Table>();
  readonly #selectable = new Map<string, readonly string[]>();
  readonly #finalizers = new Map<string, readonly string[]>();
  readonly #admission: Admission;
  readonly #clock: Clock;
  readonly #historyLimit: number;
  readonly #freezes: boolean;
  #history: History;
  /** The last version given out; the last one that is durable and visible. */
  #allocated = 0;
  #visible = 0;
  /** One write at a time per object; others of the same object wait for it to land. */
  readonly #busy = new Map<string, Promise<void>>();
  readonly #commits: GroupCommit;
  #closed: string | undefined;

  constructor({ kinds, admission, persistence, clock = systemClock, historyLimit = DEFAULT_HISTORY, freeze = true }: StoreOptions) {
    this.#freezes = freeze;
    this.#admission = admission;
    this.#commits = new GroupCommit(persistence, (change) => this.#publish(change));
    this.#clock = clock;
    this.#historyLimit = historyLimit;
    this.#history = new History({ changes: historyLimit }, 0);
    for (const { kind, selectableFields, finalizers = [], isNamespaced = true } of kinds) {
      this.#tables.set(kind, new Table());
      this.#finalizers.set(kind, finalizers);
      this.#selectable.set(kind, ['metadata.name', ...(isNamespaced ? ['metadata.namespace'] : []), ...selectableFields]);
    }
  }

  /** Fills an empty store with what was on disk. Watchers start after `version`. */
  load(objects: Iterable<KindObject>, version: number): void {
    for (const object of objects) this.#table(object.kind).put(object);
    this.#allocated = version;
    this.#visible = version;
    this.#history = new History({ changes: this.#historyLimit }, version);
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
    if (this.#freezes) for (const item of items) freezeJson(item);
    return { items, resourceVersion: this.#visible };
  }

  /** The list as it was at that version, while the history reaches back so far. Throws ExpiredError when it does not. */
  listAt(kind: string, resourceVersion: number, query: ListQuery = {}): readonly KindObject[] {
    const parsed = this.#query(kind, query);
    const objects = this.#history.undo(kind, resourceVersion, this.#visible);
    const table = this.#table(kind);
    if (objects.size === 0) return table.list(parsed);
    const past = new Table();
    for (const object of table.values()) if (!objects.has(Table.idOf(object))) past.put(object);
    for (const object of objects.values()) if (object) past.put(object);
    return past.list(parsed);
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
    if (!generateName) throw nameRequired();
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
      return this.#replaced(current, object, options);
    });
  }

  /**
   * Reads, changes and writes in one step: `change` sees the newest state, undefined when there is none, and nothing comes between.
   * A resourceVersion in what it returns must still be the current one. It may be called for nothing when what it returns is refused.
   */
  modify(key: ObjectKey, change: (current: KindObject | undefined) => KindObject, options: WriteOptions = {}): Promise<KindObject> {
    return this.#write(key, options, (current) => {
      const next = change(current);
      return current ? this.#replaced(current, next, options) : { put: this.#first(next, options) };
    });
  }

  #replaced(current: KindObject, object: KindObject, options: WriteOptions): Decision {
    checkPreconditions(current, object.metadata);
    const isStatus = options.subresource === 'status';
    const next = this.#admission.admit(isStatus ? statusUpdated(current, object) : updated(current, object), current, this);
    const recorded = tracked(current, next, options);
    const admitted = isStatus ? recorded : withGeneration(current, recorded);
    if (isReleased(admitted)) return { remove: current, written: admitted };
    return isSame(current, admitted) ? { keep: current } : { put: admitted };
  }

  #first(complete: KindObject, options: WriteOptions): KindObject {
    const admitted = this.#admission.admit(created(complete, newUid(), toSeconds(this.#clock.now())), undefined, this);
    // Not what the writer has set, and so not in the record of who set what.
    const object = held(tracked(undefined, admitted, options), this.#finalizers.get(complete.kind) ?? []);
    return options.firstStatus === undefined ? object : { ...object, status: options.firstStatus };
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
      const complete = { ...draft, metadata: { ...draft.metadata, name, namespace } } as KindObject;
      // What is wrong with it is said first: that can be mended, whether or not the name is free.
      const put = this.#first(complete, options);
      if (current) throw alreadyExists(key, current);
      return { put };
    });
  }

  /** `decide` sees the newest state and runs alone for its object; its result is stored before this resolves. */
  async #write(
    key: ObjectKey,
    { dryRun, onText }: WriteOptions,
    decide: (current: KindObject | undefined) => Decision,
  ): Promise<KindObject> {
    const table = this.#table(key.kind);
    const id = `${key.kind}/${Table.id(key.namespace, key.name)}`;
    for (let other = this.#busy.get(id); other; other = this.#busy.get(id)) await other.catch(() => {});
    if (this.#closed !== undefined) throw new UnavailableError(this.#closed);
    const current = table.get(key.namespace, key.name);
    const decision = decide(current);
    if ('keep' in decision) return this.#guard(decision.keep);
    const change = this.#stamped(key, decision, current);
    const written = 'remove' in decision && decision.written;
    if (dryRun) return this.#guard(unstamped(written || change.object, current));
    const landed = this.#commits.add({ ...change, resourceVersion: ++this.#allocated });
    this.#busy.set(id, landed);
    if (!written) onText?.(change.object, change.json);
    try {
      await landed;
      return written || change.object;
    } finally {
      if (this.#busy.get(id) === landed) this.#busy.delete(id);
    }
  }

  #stamped(key: ObjectKey, decision: Exclude<Decision, { keep: KindObject }>, current: KindObject | undefined): Change {
    const resourceVersion = this.#allocated + 1;
    const type = 'put' in decision ? 'put' : 'delete';
    const object = 'put' in decision ? decision.put : decision.remove;
    const stamped = { ...object, metadata: { ...object.metadata, resourceVersion: String(resourceVersion) } };
    const json = objectText(stamped, current);
    if (type === 'put') checkSize(key, json);
    return { resourceVersion, type, key, object: stamped, json };
  }

  #publish({ key, type, object, resourceVersion, json }: Change): void {
    const table = this.#table(key.kind);
    const before = table.get(key.namespace, key.name);
    if (type === 'put') table.put(object);
    else table.remove(key.namespace, key.name);
    this.#visible = resourceVersion;
    this.#history.publish({ resourceVersion, object: this.#guard(object), before, deleted: type === 'delete', size: json.length });
  }

  #guard<T>(object: T): T {
    return this.#freezes ? freezeJson(object) : object;
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

/** A dry run makes no version: the object has the one it had, or none. */
function unstamped(object: KindObject, current: KindObject | undefined): KindObject {
  const { resourceVersion: _next, ...metadata } = object.metadata;
  const version = current?.metadata.resourceVersion;
  return { ...object, metadata: (version === undefined ? metadata : { ...metadata, resourceVersion: version }) as ObjectMeta };
}

function tracked(current: KindObject | undefined, admitted: KindObject, { track }: WriteOptions): KindObject {
  if (!track) return admitted;
  const managedFields = track(current, admitted);
  if (managedFields === admitted.metadata.managedFields) return admitted;
  const { managedFields: _asked, ...metadata } = admitted.metadata;
  return { ...admitted, metadata: managedFields ? { ...metadata, managedFields } : metadata };
}

function parseVersion(text: string): number {
  if (/^\d{1,16}$/.test(text)) return Number(text);
  throw new InvalidError(`invalid resource version ${JSON.stringify(text)}; expected a number that a list or an object carried`);
}
