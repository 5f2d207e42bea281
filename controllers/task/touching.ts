/** Which running tasks may touch the same files. */
import { overlap } from './globs.ts';

export class Touching {
  readonly #files = new Map<string, readonly string[]>();

  /** Names of others whose overlaps are different from now on. */
  put(name: string, files: readonly string[]): readonly string[] {
    const before = this.#files.get(name) ?? [];
    if (before.join('\n') === files.join('\n')) return [];
    const met = this.#meeting(name, before);
    if (files.length > 0) this.#files.set(name, files);
    else this.#files.delete(name);
    return [...new Set([...met, ...this.#meeting(name, files)])];
  }

  /** The others that this one overlaps with, by name. */
  with(name: string): readonly string[] {
    return this.#meeting(name, this.#files.get(name) ?? []).sort();
  }

  #meeting(name: string, files: readonly string[]): string[] {
    if (files.length === 0) return [];
    return [...this.#files].filter(([other, theirs]) => other !== name && overlap(files, theirs)).map(([other]) => other);
  }
}
