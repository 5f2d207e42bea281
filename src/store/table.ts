/** All objects of one kind in memory, with the indexes that selectors have asked for so far. */
import type { KindObject } from '#api/meta.ts';
import { fieldValue, labelValue, matchesFields, matchesLabels, type Requirement, type Selector } from './selector.ts';

export interface Query {
  readonly namespace?: string | undefined;
  readonly labels: Selector;
  readonly fields: Selector;
}

/** value → ids of the objects that have it */
type Index = Map<string, Set<string>>;

export class Table {
  readonly #objects = new Map<string, KindObject>();
  /** Made when a selector first needs it: a store nobody queries pays nothing. Keys: `l:<label>`, `f:<field>`. */
  readonly #indexes = new Map<string, Index>();
  #sortedIds: string[] | undefined;

  static id(namespace: string, name: string): string {
    return `${namespace}/${name}`;
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
    const id = Table.id(object.metadata.namespace, object.metadata.name);
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
    for (const id of this.#candidates(query)) {
      const object = this.#objects.get(id);
      if (object && matchesQuery(query, object)) found.push(object);
    }
    return found;
  }

  #candidates({ labels, fields }: Query): Iterable<string> {
    const usable = [
      ...labels.filter(isIndexable).map((requirement) => ({ name: `l:${requirement.key}`, requirement })),
      ...fields.filter(isIndexable).map((requirement) => ({ name: `f:${requirement.key}`, requirement })),
    ];
    let best: string[] | undefined;
    for (const { name, requirement } of usable) {
      const index = this.#index(name);
      const ids = requirement.values.flatMap((value) => [...(index.get(value) ?? [])]);
      if (best === undefined || ids.length < best.length) best = ids;
    }
    return best ? best.sort(compareIds) : this.#sorted();
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
  const ids = index.get(value);
  if (ids) ids.add(id);
  else index.set(value, new Set([id]));
}

function removeFrom(index: Index, value: string, id: string): void {
  const ids = index.get(value);
  ids?.delete(id);
  if (ids?.size === 0) index.delete(value);
}

/** Namespace first, then name: '/' sorts before every character a name may have except '-' and '.', so compare the parts. */
function compareIds(a: string, b: string): number {
  const cutA = a.indexOf('/');
  const cutB = b.indexOf('/');
  const namespaceA = a.slice(0, cutA);
  const namespaceB = b.slice(0, cutB);
  if (namespaceA !== namespaceB) return namespaceA < namespaceB ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}
