/**
 * Hints that a file changed, from one watch per folder. A hint is never trusted to be there: the kernel drops events when too many
 * wait, so a flood, and the clock, make the whole tree be looked at.
 */
import { existsSync, type FSWatcher, mkdirSync, readdirSync, watch } from 'node:fs';
import { join } from 'node:path';
import type { ObjectKey } from '#api/meta.ts';
import type { Logger } from '#lib/log.ts';
import { isForeign } from './outside.ts';
import { isFolderName, type Paths } from './paths.ts';

export interface FolderOptions {
  readonly paths: Paths;
  /** This file may have changed. */
  readonly onFile: (key: ObjectKey) => void;
  /** Anything may have changed: look at every file and every known object. */
  readonly onRescan: () => void;
  /** The folder of a whole kind was taken away. */
  readonly onLost: (kind: string) => void;
  readonly log: Logger;
}

const RESCAN_MS = 30_000;
/** Half of the smallest queue the kernel is usually given (16,384): above it, some may have been dropped. */
const FLOOD = 8_000;

export class Folders {
  readonly #options: FolderOptions;
  readonly #watchers = new Map<string, FSWatcher>();
  readonly #hinted = new Map<string, ObjectKey>();
  /** Of any name: files that are none of our business fill the kernel's queue as well. */
  #events = 0;
  #isScheduled = false;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: FolderOptions) {
    this.#options = options;
  }

  /** Watches everything there is; call before the first scan, so that nothing falls between the two. */
  start(): void {
    const { paths } = this.#options;
    mkdirSync(paths.root, { recursive: true, mode: 0o700 });
    this.#watch(paths.root, () => this.#ensureKindFolders());
    this.#ensureKindFolders();
    this.#timer = setInterval(() => this.#rescan(), RESCAN_MS);
    this.#timer.unref();
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  /** The files there are, as the objects they stand for. */
  *files(): Iterable<ObjectKey> {
    const { paths } = this.#options;
    for (const { kind, plural } of paths.kinds) {
      for (const namespace of namespacesIn(join(paths.root, plural))) {
        for (const name of readdirSync(join(paths.root, plural, namespace))) {
          const key = paths.keyOf(kind, namespace, name);
          if (key) yield key;
        }
      }
    }
  }

  watchNamespace(kind: string, namespace: string): void {
    const { paths } = this.#options;
    this.#watch(paths.folderOf({ kind, namespace }), (name) => {
      const key = paths.keyOf(kind, namespace, name);
      if (key) this.#hint(key);
    });
  }

  /** A kind's folder that vanished is no wish to delete everything in it: it comes back, and so do its files. */
  #ensureKindFolders(): void {
    const { paths } = this.#options;
    for (const { kind, plural } of paths.kinds) {
      const folder = join(paths.root, plural);
      if (this.#watchers.has(folder) && !existsSync(folder)) {
        this.#unwatch(folder);
        this.#options.onLost(kind);
      }
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      this.#watch(folder, (name) => this.#namespaceChanged(kind, name));
      for (const namespace of namespacesIn(folder)) this.watchNamespace(kind, namespace);
    }
  }

  #namespaceChanged(kind: string, name: string): void {
    if (!isFolderName(name)) return;
    const folder = this.#options.paths.folderOf({ kind, namespace: name });
    this.#unwatch(folder);
    if (namespacesIn(join(folder, '..')).includes(name)) this.watchNamespace(kind, name);
    this.#rescan();
  }

  #watch(folder: string, onName: (name: string) => void): void {
    if (this.#isClosed || this.#watchers.has(folder)) return;
    try {
      const watcher = watch(folder, (_event, name) => {
        this.#events++;
        if (name === null) this.#rescan();
        else onName(name);
        this.#deliverSoon();
      });
      watcher.on('error', (error) => {
        this.#options.log.warn({ err: error, folder }, 'folder watch ended');
        this.#unwatch(folder);
        this.#rescan();
      });
      this.#watchers.set(folder, watcher);
    } catch (error) {
      // Without a watch the periodic scan still finds every change.
      this.#options.log.warn({ err: error, folder }, 'folder cannot be watched, changes are found by scanning');
    }
  }

  #unwatch(folder: string): void {
    this.#watchers.get(folder)?.close();
    this.#watchers.delete(folder);
  }

  #hint(key: ObjectKey): void {
    this.#hinted.set(`${key.kind}/${key.namespace}/${key.name}`, key);
  }

  #deliverSoon(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#deliver());
  }

  #deliver(): void {
    this.#isScheduled = false;
    const flood = this.#events >= FLOOD;
    this.#events = 0;
    const keys = [...this.#hinted.values()];
    this.#hinted.clear();
    for (const key of keys) this.#options.onFile(key);
    if (flood) this.#rescan();
  }

  #rescan(): void {
    this.#options.onRescan();
  }
}

function namespacesIn(folder: string): string[] {
  try {
    if (isForeign(folder)) return [];
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && isFolderName(entry.name))
      .map((entry) => entry.name);
  } catch {
    // Gone, or not a folder: there is nothing in it.
    return [];
  }
}
