/** Which tasks are named as a dependency by others: kept change by change, so that nobody has to look at a whole board to know. */
import type { KindObject } from './meta.ts';
import { shortName, type Task } from './types.ts';

export class Dependents {
  /** Team and name as it is written → by how many tasks. */
  readonly #counts = new Map<string, number>();
  readonly #seen = new Map<string, Task['spec']>();

  /** True when some task names it, by its short or full name. */
  has({ metadata, spec }: Task): boolean {
    const { namespace, name } = metadata;
    return [name, shortName(spec.team, name)].some((written) => this.#counts.has(keyOf(namespace, spec.team, written)));
  }

  put(object: KindObject): void {
    const { metadata, spec } = object as Task;
    const id = `${metadata.namespace}/${metadata.name}`;
    const before = this.#seen.get(id);
    // Most changes of a task are changes of its status.
    if (before === spec) return;
    this.#count(metadata.namespace, before, -1);
    this.#count(metadata.namespace, spec, 1);
    this.#seen.set(id, spec);
  }

  remove({ metadata }: KindObject): void {
    const id = `${metadata.namespace}/${metadata.name}`;
    this.#count(metadata.namespace, this.#seen.get(id), -1);
    this.#seen.delete(id);
  }

  #count(namespace: string, spec: Task['spec'] | undefined, by: number): void {
    for (const written of spec?.dependsOn ?? []) {
      const key = keyOf(namespace, spec?.team ?? '', written);
      const count = (this.#counts.get(key) ?? 0) + by;
      if (count > 0) this.#counts.set(key, count);
      else this.#counts.delete(key);
    }
  }
}

function keyOf(namespace: string, team: string, written: string): string {
  return `${namespace}/${team}/${written}`;
}
