/** What is known of one team's Tasks, and which of its files are not yet as they should be. Kept from events; every change is small. */
import { shortName, type Task } from '#api/types.ts';
import { type IndexLine, indexLineOf } from './render-index.ts';

export const INDEX = 'tasks/INDEX.md';

export class TeamBoard {
  readonly namespace: string;
  readonly name: string;
  /** Of the Team: another one of the same name begins anew. */
  readonly uid: string;
  readonly #tasks = new Map<string, Task>();
  readonly #lines = new Map<string, IndexLine>();
  readonly #dirty = new Set<string>();
  readonly #foreign = new Set<string>();
  #isIndexDirty = true;
  #isFirst = true;

  constructor({ namespace, name, uid }: { readonly namespace: string; readonly name: string; readonly uid: string }) {
    this.namespace = namespace;
    this.name = name;
    this.uid = uid;
  }

  get isDirty(): boolean {
    return this.#isIndexDirty || this.#dirty.size > 0 || this.#foreign.size > 0;
  }

  get lines(): IndexLine[] {
    return [...this.#lines.values()];
  }

  task(name: string): Task | undefined {
    return this.#tasks.get(name);
  }

  has(name: string): boolean {
    return this.#tasks.has(name);
  }

  /** False: that is known already. */
  put(task: Task): boolean {
    const { name, resourceVersion } = task.metadata;
    const before = this.#tasks.get(name);
    if (before?.metadata.resourceVersion === resourceVersion) return false;
    this.#tasks.set(name, task);
    this.#touch(name);
    return true;
  }

  /** One that was made again under the same name stays. */
  remove({ metadata: { name, uid } }: Task): boolean {
    if (this.#tasks.get(name)?.metadata.uid !== uid) return false;
    this.#tasks.delete(name);
    this.#touch(name);
    return true;
  }

  /** Somebody else has changed this file. */
  putForeign(path: string): void {
    this.#foreign.add(path);
  }

  /** What there is to do; it is taken from the list, and put back by `retry` when it could not be done. */
  take(): { readonly names: string[]; readonly foreign: string[]; readonly isIndexDirty: boolean; readonly isFirst: boolean } {
    const foreign = [...this.#foreign];
    const restored = foreign.flatMap((path) => this.nameAt(path) ?? []);
    const work = {
      names: [...new Set([...this.#dirty, ...restored])],
      foreign,
      isIndexDirty: this.#isIndexDirty || this.#foreign.has(INDEX),
      isFirst: this.#isFirst,
    };
    this.#isFirst = false;
    this.#dirty.clear();
    this.#foreign.clear();
    this.#isIndexDirty = false;
    return work;
  }

  retry(name: string): void {
    this.#dirty.add(name);
  }

  retryIndex(): void {
    this.#isIndexDirty = true;
  }

  /** Admission lets no two Tasks of a team have the same short name. */
  pathOf(name: string): string {
    return `tasks/${shortName(this.name, name)}.md`;
  }

  /** The Task whose file is there. */
  nameAt(path: string): string | undefined {
    const short = path.slice('tasks/'.length).replace(/\.md$/, '');
    return [`${this.name}-${short}`, short].find((name) => this.#tasks.has(name) && this.pathOf(name) === path);
  }

  /** The file of the Task says what the Task says; or both are gone. */
  wrote(name: string): void {
    const task = this.#tasks.get(name);
    if (task) this.#lines.set(name, indexLineOf(task, this.pathOf(name).slice('tasks/'.length)));
    else this.#lines.delete(name);
  }

  #touch(name: string): void {
    this.#dirty.add(name);
    this.#isIndexDirty = true;
  }
}
