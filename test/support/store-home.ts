/** A directory store on a real folder, opened as the daemon opens it, and ways to wait for what it does without guessing times. */
import { renameSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { admission, kinds } from '#api/kinds.ts';
import type { Draft, KindObject, ObjectKey } from '#api/meta.ts';
import type { JsonObject } from '#lib/json.ts';
import { silentLogger } from '#lib/log.ts';
import { DirectoryStore, type DirectoryStoreOptions } from '#store/directory.ts';
import type { FileReport } from '#store/files/report.ts';
import type { Store } from '#store/store.ts';
import { inTemporaryFolder } from './cli.ts';

export interface OpenStore {
  readonly home: string;
  readonly directory: DirectoryStore;
  readonly store: Store;
  /** Everything the store said about files, oldest first. */
  readonly reports: FileReport[];
  file(name: string, namespace?: string): string;
  get(name: string, namespace?: string): KindObject | undefined;
}

const PATIENCE_MS = 20_000;

export async function openStore(home: string, options: Partial<DirectoryStoreOptions> = {}): Promise<OpenStore> {
  const directory = await DirectoryStore.open({ home, kinds, admission, log: silentLogger, ...options });
  const reports: FileReport[] = [];
  directory.onReport((report) => reports.push(report));
  const { store, paths } = directory;
  return {
    home,
    directory,
    store,
    reports,
    file: (name, namespace) => paths.fileOf(taskKey(name, namespace)),
    get: (name, namespace) => store.get(taskKey(name, namespace)),
  };
}

/** Opens a store in a folder of its own and closes it after the work, whatever happens. */
export async function withStore<T>(work: (open: OpenStore) => Promise<T>, options: Partial<DirectoryStoreOptions> = {}): Promise<T> {
  return inTemporaryFolder((folder) => onHome(folder, work, options));
}

/** The same on a folder that is there: what a restart is. */
export async function onHome<T>(
  home: string,
  work: (open: OpenStore) => Promise<T>,
  options: Partial<DirectoryStoreOptions> = {},
): Promise<T> {
  const open = await openStore(home, options);
  try {
    return await work(open);
  } finally {
    await open.directory.close();
  }
}

export function taskKey(name: string, namespace = 'default'): ObjectKey {
  return { kind: 'Task', namespace, name };
}

export function taskDraft(name: string, spec: JsonObject = {}, metadata: JsonObject = {}): Draft {
  return {
    apiVersion: 'agentiso.dev/v1alpha1',
    kind: 'Task',
    metadata: { name, namespace: 'default', ...metadata },
    spec: { team: 'crew', command: 'true', ...spec },
  } as unknown as Draft;
}

/** What a person would write. */
export function taskText(name: string, spec = 'title: first'): string {
  return `apiVersion: agentiso.dev/v1alpha1\nkind: Task\nmetadata:\n  name: ${name}\nspec:\n  team: crew\n  command: "true"\n  ${spec}\n`;
}

export function specOf(object: KindObject | undefined): JsonObject {
  return (object?.spec ?? {}) as JsonObject;
}

export function statusOf(object: KindObject | undefined): JsonObject {
  return (object?.status ?? {}) as JsonObject;
}

/** Writes status over whatever version is current, as controllers do. */
export async function putStatus(store: Store, key: ObjectKey, status: JsonObject): Promise<KindObject> {
  const current = store.get(key);
  if (!current) throw new Error(`${key.name} is gone`);
  return store.update({ ...current, status }, { subresource: 'status' });
}

/** Saves as most editors do: beside, then renamed into place. */
export function saveByRename(path: string, text: string | Buffer): void {
  const beside = join(dirname(path), `.${basename(path)}.saving`);
  writeFileSync(beside, text);
  renameSync(beside, path);
}

/** Resolves when the objects of a kind satisfy the condition; looks again at every event. */
export function until(store: Store, isTrue: () => boolean, what: string, patienceMs = PATIENCE_MS): Promise<void> {
  return new Promise((resolve, reject) => {
    let stop = () => {};
    const timer = setTimeout(() => {
      stop();
      reject(new Error(`waited ${patienceMs} ms in vain: ${what}`));
    }, patienceMs);
    const look = () => {
      if (!isTrue()) return;
      clearTimeout(timer);
      stop();
      resolve();
    };
    stop = store.watch('Task', { resourceVersion: String(store.resourceVersion) }, look);
    look();
  });
}

/** Resolves with the first report after `since` that fits. */
export function reported(open: OpenStore, fits: (report: FileReport) => boolean, what: string, since = 0): Promise<FileReport> {
  return new Promise((resolve, reject) => {
    let stop = () => {};
    const timer = setTimeout(() => {
      stop();
      reject(new Error(`waited ${PATIENCE_MS} ms in vain for a report of ${what}; got ${JSON.stringify(open.reports.slice(since))}`));
    }, PATIENCE_MS);
    const found = (report: FileReport) => {
      clearTimeout(timer);
      stop();
      resolve(report);
    };
    const known = open.reports.slice(since).find(fits);
    if (known) return found(known);
    stop = open.directory.onReport((report) => {
      if (fits(report)) found(report);
    });
  });
}

let barriers = 0;

/**
 * Resolves when every edit saved before this call has been seen and taken in: hints arrive in the order of the changes, so
 * once a later file has become an object, the earlier ones are at least under way, and `settled` waits for those.
 */
export async function allTakenIn({ directory, store, file, get }: OpenStore): Promise<void> {
  const name = `barrier-${++barriers}`;
  saveByRename(file(name), taskText(name));
  await until(store, () => get(name) !== undefined, 'the barrier file');
  await directory.settled();
  await store.delete(taskKey(name));
  await directory.settled();
}
