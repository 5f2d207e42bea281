/** The only contact of the benchmarks with the store: what they measure, and how it is opened. */
import { admission, kinds } from '../../src/api/kinds.ts';
import type { Draft, KindObject } from '../../src/api/meta.ts';
import { silentLogger } from '../../src/lib/log.ts';
import { DirectoryStore } from '../../src/store/directory.ts';
import type { BenchTask } from './objects.ts';

export interface SubjectEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: BenchTask;
}

export interface Subject {
  /** Writes spec and status; resolves, when durable, to the stored object with its metadata filled in. */
  create(task: BenchTask): Promise<BenchTask>;
  /** Compare-and-swap on metadata.resourceVersion; resolves, when durable, to the stored object. */
  update(task: BenchTask): Promise<BenchTask>;
  /** Calls back for every change from now on; returns the function that ends it. */
  watch(onEvent: (event: SubjectEvent) => void): () => void;
  count(): number;
  /** The path of the object's YAML file; needs only kind, namespace and name. */
  fileOf(task: BenchTask): string;
  /** Resolves when every acknowledged write is in its YAML file. */
  flushed(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the store in `dir`, an empty or an earlier used directory; resolves when all objects are in memory and files are watched. */
export async function openSubject(dir: string): Promise<Subject> {
  const directory = await DirectoryStore.open({ home: dir, kinds, admission, log: silentLogger });
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

/** `module` replaces this file, to prove that the harness can fail. */
export async function loadSubject(module: string | undefined): Promise<typeof openSubject> {
  if (module === undefined) return openSubject;
  const loaded = (await import(module)) as { openSubject: typeof openSubject };
  return loaded.openSubject;
}
