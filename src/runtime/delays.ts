/** Keys that are due later, earliest first: a binary heap in which a moved or dropped entry stays behind until it surfaces. */
import { formatKey } from '#api/meta.ts';
import type { Key } from './controller.ts';

interface Entry {
  readonly key: Key;
  readonly at: number;
}

const SLACK = 64;

export class Delays {
  readonly #heap: Entry[] = [];
  /** Of each key the entry that counts. */
  readonly #current = new Map<string, Entry>();

  /** Entries held, those left behind included. */
  get size(): number {
    return this.#heap.length;
  }

  /** The earliest time wins. */
  put(key: Key, at: number): void {
    const id = formatKey(key);
    const before = this.#current.get(id);
    if (before && before.at <= at) return;
    const entry = { key, at };
    this.#current.set(id, entry);
    this.#push(entry);
    if (this.#heap.length > 2 * this.#current.size + SLACK) this.#rebuild();
  }

  drop(key: Key): void {
    this.#current.delete(formatKey(key));
  }

  /** When the earliest key is due. */
  earliest(): number | undefined {
    return this.#top()?.at;
  }

  /** Removes and returns the keys that are due, in order. */
  takeDue(now: number): Key[] {
    const due: Key[] = [];
    for (let top = this.#top(); top && top.at <= now; top = this.#top()) {
      due.push(top.key);
      this.drop(top.key);
    }
    return due;
  }

  #top(): Entry | undefined {
    for (let top = this.#heap[0]; top; top = this.#heap[0]) {
      if (this.#current.get(formatKey(top.key)) === top) return top;
      this.#removeTop();
    }
    return undefined;
  }

  #push(entry: Entry): void {
    this.#heap.push(entry);
    this.#rise(this.#heap.length - 1);
  }

  /** A far deadline that is set again with every pass would otherwise leave its old entries behind for as long as it is far. */
  #rebuild(): void {
    this.#heap.length = 0;
    for (const entry of this.#current.values()) this.#push(entry);
  }

  #removeTop(): void {
    const last = this.#heap.pop();
    if (last === undefined || this.#heap.length === 0) return;
    this.#heap[0] = last;
    this.#sink(0);
  }

  #rise(start: number): void {
    let index = start;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (this.#at(parent) <= this.#at(index)) return;
      this.#swap(index, parent);
      index = parent;
    }
  }

  #sink(start: number): void {
    let index = start;
    for (;;) {
      const left = 2 * index + 1;
      const child = this.#at(left + 1) < this.#at(left) ? left + 1 : left;
      if (this.#at(index) <= this.#at(child)) return;
      this.#swap(index, child);
      index = child;
    }
  }

  #at(index: number): number {
    return this.#heap[index]?.at ?? Number.POSITIVE_INFINITY;
  }

  #swap(a: number, b: number): void {
    const [entryA, entryB] = [this.#heap[a], this.#heap[b]];
    if (!entryA || !entryB) return;
    this.#heap[a] = entryB;
    this.#heap[b] = entryA;
  }
}
