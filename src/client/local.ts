/** The client over the store in this process. */
import { applyConfig } from '#api/fields/apply.ts';
import { knownKind } from '#api/kinds.ts';
import { DEFAULT_NAMESPACE, type Draft, formatKey, type KindObject, keyOf, type ObjectKey } from '#api/meta.ts';
import { systemClock, toSeconds } from '#lib/clock.ts';
import { InvalidError, NotFoundError } from '#lib/errors.ts';
import type { Store } from '#store/store.ts';
import type { ApplyOptions, Client, DeleteOptions, ListOptions, ListResult, WatchEvent, WatchOptions } from './client.ts';

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
    apply: async <T extends KindObject>(config: Draft<T>, options: ApplyOptions) =>
      (await applyToStore(store, config as Draft, options)) as T,
    async delete(key: ObjectKey, options: DeleteOptions = {}) {
      await store.delete(key, options);
    },
  };
}

async function applyToStore(store: Store, config: Draft, { fieldManager, force = false }: ApplyOptions): Promise<KindObject> {
  const { schema, apiVersion } = knownKind(config.kind);
  const { name } = config.metadata;
  if (!name) throw new InvalidError('metadata.name: Required value: what is applied needs a name');
  const complete = {
    ...config,
    metadata: { ...config.metadata, name, namespace: config.metadata.namespace ?? DEFAULT_NAMESPACE },
  } as KindObject;
  const writer = { manager: fieldManager, now: toSeconds(systemClock.now()), apiVersion };
  return store.modify(keyOf(complete), (live) => applyConfig({ schema, live, config: complete, writer, force }));
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
