/**
 * What is known of every file, by object. A snapshot sees it as it was at one moment while it changes further: what is replaced meanwhile
 * is kept for it, so that the moment itself costs nothing.
 */
import type { FileState } from './state.ts';

export interface FrozenStates {
  get(id: string): FileState | undefined;
  close(): void;
}

export class FileStates {
  readonly #states = new Map<string, FileState>();
  /** Files whose objects are gone and which are to be removed next. */
  readonly #orphans = new Set<string>();
  /** For each view that is open: what was there, of those that have changed since. */
  readonly #views = new Set<Map<string, FileState | undefined>>();

  get(id: string): FileState | undefined {
    return this.#states.get(id);
  }

  keys(): Iterable<string> {
    return this.#states.keys();
  }

  set(id: string, state: FileState): void {
    this.#keepFor(id);
    this.#states.set(id, state);
  }

  delete(id: string): void {
    this.#keepFor(id);
    this.#states.delete(id);
    this.#orphans.delete(id);
  }

  /** Whether the object of a file is gone. */
  setOrphaned(id: string, isOrphaned: boolean): void {
    if (isOrphaned && this.#states.has(id)) this.#orphans.add(id);
    else this.#orphans.delete(id);
  }

  orphans(): (readonly [id: string, state: FileState])[] {
    return [...this.#orphans].flatMap((id) => {
      const state = this.#states.get(id);
      return state ? [[id, state] as const] : [];
    });
  }

  /** As everything is now, until it is closed. */
  freezeView(): FrozenStates {
    const replaced = new Map<string, FileState | undefined>();
    this.#views.add(replaced);
    return {
      get: (id) => (replaced.has(id) ? replaced.get(id) : this.#states.get(id)),
      close: () => void this.#views.delete(replaced),
    };
  }

  #keepFor(id: string): void {
    for (const replaced of this.#views) if (!replaced.has(id)) replaced.set(id, this.#states.get(id));
  }
}
