/** The client over the store in this process. */
import type { Draft, KindObject, ObjectKey } from '#api/meta.ts';
import { formatKey } from '#api/meta.ts';
import { NotFoundError } from '#lib/errors.ts';
import type { Store } from '#store/store.ts';
import type { Client, DeleteOptions, ListOptions, ListResult, WatchEvent, WatchOptions } from './client.ts';

export function localClient(store: Store): Client {
  return {
    async get<T extends KindObject>(key: ObjectKey) {
      const object = store.get(key);
      if (!object) throw new NotFoundError(`${formatKey(key)} not found`);
      return object as T;
    },
    async list<T extends KindObject>(kind: string, options: ListOptions = {}): Promise<ListResult<T>> {
      const { items, resourceVersion } = store.list(kind, options);
      return { items: items as readonly T[], resourceVersion: String(resourceVersion) };
    },
    watch: <T extends KindObject>(kind: string, options: WatchOptions) => watchStore<T>(store, kind, options),
    create: async <T extends KindObject>(obj: Draft<T>) => (await store.create(obj as Draft)) as T,
    update: async <T extends KindObject>(obj: T) => (await store.update(obj)) as T,
    updateStatus: async <T extends KindObject>(obj: T) => (await store.update(obj, { subresource: 'status' })) as T,
    async delete(key: ObjectKey, options: DeleteOptions = {}) {
      await store.delete(key, options);
    },
  };
}

/** Events wait in a plain array: a consumer in this process that never reads would be a leak of its own making. */
async function* watchStore<T extends KindObject>(store: Store, kind: string, options: WatchOptions): AsyncGenerator<WatchEvent<T>> {
  const { signal, ...query } = options;
  if (signal.aborted) return;
  let waiting: WatchEvent<T>[] = [];
  let wake = () => {};
  const unsubscribe = store.watch(kind, query, ({ type, object }) => {
    waiting.push({ type, object: object as T });
    wake();
  });
  const onAbort = () => wake();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    while (!signal.aborted) {
      if (waiting.length === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      const batch = waiting;
      waiting = [];
      for (const event of batch) {
        if (signal.aborted) return;
        yield event;
      }
    }
  } finally {
    unsubscribe();
    signal.removeEventListener('abort', onAbort);
  }
}
