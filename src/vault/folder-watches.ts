/** Hints that something in a folder changed. A hint may be missing or mean nothing: whoever gets one looks for himself. */
import { type FSWatcher, statSync, watch } from 'node:fs';
import type { Logger } from '#lib/log.ts';

interface Watched {
  readonly watcher: FSWatcher;
  readonly identity: string;
}

export class FolderWatches {
  readonly #log: Logger;
  readonly #watched = new Map<string, Watched>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /**
   * Also after a folder was taken away and made again: then it is another one. `onName` gets undefined when it is not known what changed.
   * False: it is there, and cannot be watched.
   */
  ensure(folder: string, onName: (name: string | undefined) => void): boolean {
    const identity = identityOf(folder);
    const watched = this.#watched.get(folder);
    if (watched && watched.identity === identity) return true;
    this.drop(folder);
    if (identity === undefined) return true;
    try {
      const watcher = watch(folder, { persistent: false }, (_event, name) => onName(name ?? undefined));
      watcher.on('error', () => this.drop(folder));
      this.#watched.set(folder, { watcher, identity });
      return true;
    } catch (error) {
      // Without a watch the periodic look still finds every change.
      this.#log.warn({ err: error, folder }, 'folder cannot be watched, changes are found by looking');
      return false;
    }
  }

  drop(folder: string): void {
    this.#watched.get(folder)?.watcher.close();
    this.#watched.delete(folder);
  }

  close(): void {
    for (const folder of [...this.#watched.keys()]) this.drop(folder);
  }
}

/** The number alone may be given to the next folder. */
function identityOf(folder: string): string | undefined {
  const stat = statSync(folder, { bigint: true, throwIfNoEntry: false });
  return stat && `${stat.dev} ${stat.ino} ${stat.birthtimeNs}`;
}
