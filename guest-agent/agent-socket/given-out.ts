/** Which messages were given to whom and are still to be acknowledged by it. Forgetting one is harmless: the message is shown once more. */
import type { Reader } from './readers.ts';

const MAX_READERS = 256;

interface Given {
  readonly reader: Reader;
  readonly ids: Set<string>;
}

export class GivenOut {
  readonly #given = new Map<string, Given>();

  add(reader: Reader, ids: readonly string[]): void {
    if (ids.length === 0) return;
    const before = this.#given.get(reader.key)?.ids ?? [];
    // The newest last.
    this.#given.delete(reader.key);
    this.#given.set(reader.key, { reader, ids: new Set([...before, ...ids]) });
    for (const key of this.#given.keys()) {
      if (this.#given.size <= MAX_READERS) return;
      this.#given.delete(key);
    }
  }

  to({ key }: Reader): readonly string[] {
    return [...(this.#given.get(key)?.ids ?? [])];
  }

  /** It has acknowledged these, or somebody has. */
  remove(ids: readonly string[]): void {
    for (const [key, given] of this.#given) {
      for (const id of ids) given.ids.delete(id);
      if (given.ids.size === 0) this.#given.delete(key);
    }
  }

  /** What others have in hand that are there and may still go on. */
  toOthers({ key }: Reader): ReadonlySet<string> {
    const ids = new Set<string>();
    for (const [other, given] of this.#given) {
      if (other !== key && given.reader.isKnownToLive()) for (const id of given.ids) ids.add(id);
    }
    return ids;
  }
}
