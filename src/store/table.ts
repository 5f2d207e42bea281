/** All objects of one kind in memory, with the indexes that selectors have asked for so far. */
import type { KindObject } from '#api/meta.ts';
import { fieldValue, labelValue, matchesFields, matchesLabels, type Requirement, type Selector } from '#api/selector.ts';

export interface Query {
  readonly namespace?: string | undefined;
  readonly labels: Selector;
  readonly fields: Selector;
}

/** Ids of the objects that have one value, and the same in order, made when it is first needed. */
interface Bucket {
  readonly ids: Set<string>;
  sorted: readonly string[] | undefined;
}

const SLASH = 0x2f;

/** value → the objects that have it */
type Index = Map<string, Bucket>;

export class Table {
  readonly #objects = new Map<string, KindObject>();
  /** Made when a selector first needs it: a store nobody queries pays nothing. Keys: `l:<label>`, `f:<field>`. */
  readonly #indexes = new Map<string, Index>();
  #sortedIds: string[] | undefined;

  static id(namespace: string, name: string): string {
    return `${namespace}/${name}`;
  }

  static idOf({ metadata }: KindObject): string {
    return Table.id(metadata.namespace, metadata.name);
  }

  get size(): number {
    return this.#objects.size;
  }

  get(namespace: string, name: string): KindObject | undefined {
    return this.#objects.get(Table.id(namespace, name));
  }

  values(): Iterable<KindObject> {
    return this.#objects.values();
  }

  put(object: KindObject): void {
    const id = Table.idOf(object);
    const before = this.#objects.get(id);
    if (before === undefined) this.#sortedIds = undefined;
    this.#objects.set(id, object);
    this.#reindex(id, before, object);
  }

  remove(namespace: string, name: string): void {
    const id = Table.id(namespace, name);
    const before = this.#objects.get(id);
    if (before === undefined) return;
    this.#objects.delete(id);
    this.#sortedIds = undefined;
    this.#reindex(id, before, undefined);
  }

  /** Sorted by namespace, then name. */
  list(query: Query): KindObject[] {
    const found: KindObject[] = [];
    const { ids, rest } = this.#candidates(query);
    for (const id of ids) {
      const object = this.#objects.get(id);
      if (object && matchesQuery(rest, object)) found.push(object);
    }
    return found;
  }

  /** By the index that leaves least to look at, and what is then still to be checked. */
  #candidates(query: Query): { readonly ids: Iterable<string>; readonly rest: Query } {
    let best: Candidates | undefined;
    for (const part of ['labels', 'fields'] as const) {
      for (const requirement of query[part]) {
        if (!isIndexable(requirement)) continue;
        const index = this.#index(`${part[0]}:${requirement.key}`);
        const buckets = requirement.values.flatMap((value) => index.get(value) ?? []);
        const count = buckets.reduce((sum, { ids }) => sum + ids.size, 0);
        if (best === undefined || count < best.count) best = { count, buckets, part, requirement };
      }
    }
    if (!best) return { ids: this.#sorted(), rest: query };
    const { part, requirement, buckets } = best;
    return { ids: inOrder(buckets), rest: { ...query, [part]: query[part].filter((each) => each !== requirement) } };
  }

  #sorted(): string[] {
    this.#sortedIds ??= [...this.#objects.keys()].sort(compareIds);
    return this.#sortedIds;
  }

  #index(name: string): Index {
    let index = this.#indexes.get(name);
    if (index === undefined) {
      index = new Map();
      for (const [id, object] of this.#objects) addTo(index, indexed(name, object), id);
      this.#indexes.set(name, index);
    }
    return index;
  }

  #reindex(id: string, before: KindObject | undefined, after: KindObject | undefined): void {
    for (const [name, index] of this.#indexes) {
      const old = before && indexed(name, before);
      const value = after && indexed(name, after);
      if (old === value) continue;
      if (old !== undefined) removeFrom(index, old, id);
      addTo(index, value, id);
    }
  }
}

interface Candidates {
  readonly count: number;
  readonly buckets: readonly Bucket[];
  readonly part: 'labels' | 'fields';
  readonly requirement: Requirement;
}

function inOrder(buckets: readonly Bucket[]): readonly string[] {
  const [only, ...more] = buckets;
  if (!only) return [];
  if (more.length > 0) return buckets.flatMap(({ ids }) => [...ids]).sort(compareIds);
  only.sorted ??= [...only.ids].sort(compareIds);
  return only.sorted;
}

export function matchesQuery({ namespace, labels, fields }: Query, object: KindObject): boolean {
  return (
    (namespace === undefined || object.metadata.namespace === namespace) && matchesLabels(labels, object) && matchesFields(fields, object)
  );
}

/** An empty value also matches objects that lack the field, which no index knows. */
function isIndexable({ operator, values }: Requirement): boolean {
  return operator === 'in' && !values.includes('');
}

function indexed(name: string, object: KindObject): string | undefined {
  const key = name.slice(2);
  return name.startsWith('l:') ? labelValue(object, key) : fieldValue(object, key);
}

function addTo(index: Index, value: string | undefined, id: string): void {
  if (value === undefined) return;
  const bucket = index.get(value);
  if (!bucket) index.set(value, { ids: new Set([id]), sorted: undefined });
  else {
    bucket.ids.add(id);
    bucket.sorted = undefined;
  }
}

function removeFrom(index: Index, value: string, id: string): void {
  const bucket = index.get(value);
  if (!bucket) return;
  bucket.ids.delete(id);
  bucket.sorted = undefined;
  if (bucket.ids.size === 0) index.delete(value);
}

/** Namespace first, then name: '/' sorts before every character a name may have except '-' and '.', so compare the parts. */
function compareIds(a: string, b: string): number {
  const cut = a.indexOf('/');
  // Most often both are of one namespace, and there are thousands to compare.
  if (b.charCodeAt(cut) === SLASH && b.startsWith(a.slice(0, cut)) && b.indexOf('/') === cut) return a < b ? -1 : a > b ? 1 : 0;
  const namespaceA = a.slice(0, cut);
  const namespaceB = b.slice(0, b.indexOf('/'));
  return namespaceA < namespaceB ? -1 : 1;
}
