/**
 * One watch per folder, as hints only: events get lost when too many wait, so the relist finds what no hint told. A recursive watch
 * would follow replaced files to where nobody looks.
 */
import { type FSWatcher, watch } from 'node:fs';
import type { Logger } from '#lib/log.ts';

interface Watch {
  readonly identity: string;
  /** Absent when the system refused; not asked again for the same folder. */
  readonly watcher?: FSWatcher;
}

interface Wish {
  readonly folder: string;
  readonly identity: string;
  readonly isNews: (name: string) => boolean;
}

export class FolderWatches {
  readonly #onHint: () => void;
  readonly #log: Logger;
  readonly #watches = new Map<string, Watch>();
  #seen = new Set<string>();

  constructor(onHint: () => void, log: Logger) {
    this.#onHint = onHint;
    this.#log = log;
  }

  /** For as long as it is named between two calls of `forget`. Another folder of the same path is watched anew. */
  keep(folder: string, identity: string): void {
    this.#keep(folder, { folder, identity, isNews: isShown });
  }

  /** The same for a folder of which only one name matters, whether or not it is also watched for itself. */
  keepFor(name: string, folder: string, identity: string): void {
    this.#keep(`${name} in ${folder}`, { folder, identity, isNews: (changed) => changed === name });
  }

  #keep(id: string, { folder, identity, isNews }: Wish): void {
    this.#seen.add(id);
    const before = this.#watches.get(id);
    if (before?.identity === identity) return;
    before?.watcher?.close();
    this.#watches.set(id, { identity, ...this.#open(id, folder, isNews) });
  }

  /** Ends the watches of folders that were not named since the last call. */
  forget(): void {
    for (const id of [...this.#watches.keys()]) if (!this.#seen.has(id)) this.#end(id);
    this.#seen = new Set();
  }

  close(): void {
    for (const id of [...this.#watches.keys()]) this.#end(id);
  }

  #open(id: string, folder: string, isNews: (name: string) => boolean): { watcher?: FSWatcher } {
    try {
      const watcher = watch(folder, (_event, name) => {
        if (name === null || isNews(name)) this.#onHint();
      });
      watcher.on('error', (error) => {
        this.#log.warn({ err: error, folder }, 'folder watch ended');
        if (this.#watches.get(id)?.watcher === watcher) this.#end(id);
        this.#onHint();
      });
      return { watcher };
    } catch (error) {
      this.#log.warn({ err: error, folder }, 'folder cannot be watched, changes are found by looking every 30 s');
      return {};
    }
  }

  #end(id: string): void {
    this.#watches.get(id)?.watcher?.close();
    this.#watches.delete(id);
  }
}

function isShown(name: string): boolean {
  return !name.startsWith('.');
}
