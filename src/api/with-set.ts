/** What would be stored if a set of objects were: they come first, what exists is behind them. */
import type { KindObject, ObjectKey } from './meta.ts';
import type { StoredObjects } from './relations.ts';
import type { Task } from './types.ts';

type Query = Parameters<StoredObjects['list']>[1];

export class WithSet implements StoredObjects {
  readonly #objects = new Map<string, KindObject>();
  readonly #existing: StoredObjects;
  readonly #lists = new Map<string, readonly KindObject[]>();

  constructor(members: readonly { readonly object: KindObject }[], existing: StoredObjects) {
    for (const { object } of members) this.#objects.set(idOf(object.kind, object.metadata), object);
    this.#existing = existing;
  }

  get(key: ObjectKey): KindObject | undefined {
    return this.#objects.get(idOf(key.kind, key)) ?? this.#existing.get(key);
  }

  /** Asked for the same again and again while a set is looked at, and the same all the time. */
  list(kind: string, query: Query): { readonly items: readonly KindObject[] } {
    const id = `${kind} ${query.namespace ?? ''} ${query.fieldSelector ?? ''}`;
    const items = this.#lists.get(id) ?? this.#list(kind, query);
    this.#lists.set(id, items);
    return { items };
  }

  #list(kind: string, query: Query): KindObject[] {
    const own = [...this.#objects.values()].filter((object) => object.kind === kind && isSelected(object, query));
    const others = this.#existing.list(kind, query).items.filter(({ metadata }) => !this.#objects.has(idOf(kind, metadata)));
    return [...own, ...others];
  }

  /** Whether the set speaks for the whole team of this object. */
  hasTeamOf({ metadata, spec }: KindObject): boolean {
    const { team } = spec as { readonly team?: string };
    return team !== undefined && this.#objects.has(idOf('Team', { namespace: metadata.namespace, name: team }));
  }

  tasksOf({ metadata, spec }: Task): readonly KindObject[] {
    return this.list('Task', { namespace: metadata.namespace, fieldSelector: `spec.team=${spec.team}` }).items;
  }
}

function idOf(kind: string, { namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${kind} ${namespace}/${name}`;
}

/** Of selectors only what the rules use: one field of the spec that has a value. */
function isSelected({ metadata, spec }: KindObject, { namespace, fieldSelector }: Query): boolean {
  if (namespace !== undefined && metadata.namespace !== namespace) return false;
  const [, field = '', value = ''] = /^spec\.(\w+)=(.*)$/.exec(fieldSelector ?? '') ?? [];
  return field === '' || (spec as Readonly<Record<string, unknown>>)[field] === value;
}

export function objectsAmong(objects: readonly KindObject[]): StoredObjects {
  const byId = new Map(objects.map((object) => [idOf(object.kind, object.metadata), object]));
  return {
    get: (key) => byId.get(idOf(key.kind, key)),
    list: (kind, query) => ({ items: objects.filter((object) => object.kind === kind && isSelected(object, query)) }),
  };
}
