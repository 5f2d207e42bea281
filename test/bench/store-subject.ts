/** The store as the benchmarks use it. scripts/bench.mjs bundles this file as the product is bundled: what ships is what is measured. */
import { admission, kinds } from '../../src/api/kinds.ts';
import type { Draft, KindObject } from '../../src/api/meta.ts';
import { silentLogger } from '../../src/lib/log.ts';
import { DirectoryStore } from '../../src/store/directory.ts';
import type { BenchTask } from './objects.ts';
import type { Subject } from './subject.ts';

/** Opens the store in `dir`, an empty or an earlier used directory; resolves when all objects are in memory and files are watched. */
export async function openSubject(dir: string): Promise<Subject> {
  const directory = await DirectoryStore.open({ home: dir, kinds, admission, log: silentLogger, freeze: false });
  const { store } = directory;
  const stored = (object: KindObject) => object as unknown as BenchTask;
  return {
    async create(task) {
      const created = await store.create(task as unknown as Draft);
      const withStatus = { ...created, status: task.status };
      return stored(await store.update(withStatus, { subresource: 'status' }));
    },
    update: async (task) => stored(await store.update(task as unknown as KindObject)),
    watch: (onEvent) =>
      store.watch('Task', { resourceVersion: String(store.resourceVersion) }, ({ type, object }) =>
        onEvent({ type, object: stored(object) }),
      ),
    count: () => store.count('Task'),
    fileOf: ({ kind, metadata: { namespace, name } }) => directory.paths.fileOf({ kind, namespace, name }),
    flushed: () => directory.settled(),
    close: () => directory.close(),
  };
}
