/** Where the objects of a resource are read: the store as it is, a projection of it, or a list that never changes. */
import type { KindObject } from '#api/meta.ts';
import type { StoreEvent } from '#store/history.ts';
import type { ListQuery, Store, WatchQuery } from '#store/store.ts';

export interface Listed {
  readonly items: readonly KindObject[];
  readonly resourceVersion: number;
}

export interface Source {
  get(namespace: string, name: string): KindObject | undefined;
  list(query: ListQuery): Listed;
  /** As it was at that version; throws ExpiredError when that is no longer known. */
  listAt(resourceVersion: number, query: ListQuery): readonly KindObject[];
  watch(query: WatchQuery, onEvent: (event: StoreEvent) => void): () => void;
  /** Of the newest change anybody could see. */
  resourceVersion(): number;
}

export function storedSource(store: Store, kind: string): Source {
  return {
    get: (namespace, name) => store.get({ kind, namespace, name }),
    list: (query) => store.list(kind, query),
    listAt: (resourceVersion, query) => store.listAt(kind, resourceVersion, query),
    watch: (query, onEvent) => store.watch(kind, query, onEvent),
    resourceVersion: () => store.resourceVersion,
  };
}

export interface Projection {
  readonly present: (object: KindObject) => KindObject;
  /** A selector in the projection's words as one in the store's. */
  readonly fieldSelector?: (selector: string) => string;
}

/** The same objects seen differently; each version of an object is converted once. */
export function projectedSource(source: Source, { present, fieldSelector = (selector) => selector }: Projection): Source {
  const shown = new WeakMap<KindObject, KindObject>();
  const show = (object: KindObject): KindObject => {
    const known = shown.get(object) ?? present(object);
    shown.set(object, known);
    return known;
  };
  const translate = <Q extends ListQuery>(query: Q): Q =>
    query.fieldSelector ? { ...query, fieldSelector: fieldSelector(query.fieldSelector) } : query;
  return {
    get(namespace, name) {
      const object = source.get(namespace, name);
      return object && show(object);
    },
    list(query) {
      const { items, resourceVersion } = source.list(translate(query));
      return { items: items.map(show), resourceVersion };
    },
    listAt: (resourceVersion, query) => source.listAt(resourceVersion, translate(query)).map(show),
    watch: (query, onEvent) => source.watch(translate(query), (event) => onEvent({ ...event, object: show(event.object) })),
    resourceVersion: source.resourceVersion,
  };
}
