/** Which branches would not fit together, found out before anybody merges them. Every pair of commits is tried once. */
import { randomUUID } from 'node:crypto';
import { conflictsOf, type FileConflict } from './conflicts.ts';
import { MergeProcess } from './merge-process.ts';
import type { GitOptions } from './run.ts';
import { Scratch } from './scratch.ts';

export interface Clash {
  readonly between: readonly [string, string];
  readonly files: readonly FileConflict[];
}

/** How many pairs are remembered. */
const MAX_REMEMBERED = 10_000;

export class Radar {
  /** The two commits → what does not fit. */
  readonly #known = new Map<string, readonly FileConflict[]>();

  /** Name → commit; every pair. */
  look(heads: ReadonlyMap<string, string>, options: GitOptions): Promise<Clash[]> {
    return this.#clashes(pairsOf([...heads]), options);
  }

  /** The pairs that one of them is in. */
  lookAt(name: string, heads: ReadonlyMap<string, string>, options: GitOptions): Promise<Clash[]> {
    return this.#clashes(
      pairsOf([...heads]).filter(({ names }) => names.includes(name)),
      options,
    );
  }

  async #clashes(pairs: readonly Pair[], options: GitOptions): Promise<Clash[]> {
    const unknown = pairs.filter(({ key }) => !this.#known.has(key));
    if (unknown.length > 0) await this.#try(unknown, options);
    return pairs.flatMap(({ names, key }) => {
      const files = this.#known.get(key) ?? [];
      return files.length === 0 ? [] : [{ between: names, files }];
    });
  }

  async #try(pairs: readonly Pair[], options: GitOptions): Promise<void> {
    // What merge-tree writes on the way is of no use to anybody.
    const scratch = await Scratch.open(options.directory, `radar ${randomUUID()}`);
    const merges = new MergeProcess({ ...options, env: { ...options.env, ...scratch.env } });
    try {
      const found = await Promise.all(pairs.map(async ({ key, commits: [a, b] }) => ({ key, record: await merges.merge(a, b) })));
      for (const { key, record } of found) this.#remember(key, record.isClean ? [] : conflictsOf(record));
    } finally {
      await merges.close();
      await scratch.remove();
    }
  }

  #remember(key: string, files: readonly FileConflict[]): void {
    this.#known.set(key, files);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= MAX_REMEMBERED) break;
      this.#known.delete(oldest);
    }
  }
}

interface Pair {
  readonly names: readonly [string, string];
  readonly commits: readonly [string, string];
  readonly key: string;
}

/** The order of two commits does not matter to whether they fit, so each pair is asked in one order only. */
function pairsOf(heads: readonly (readonly [string, string])[]): Pair[] {
  return heads.flatMap(([name, commit], index) =>
    heads.slice(index + 1).map(([otherName, other]): Pair => {
      const isInOrder = commit < other;
      const commits: readonly [string, string] = isInOrder ? [commit, other] : [other, commit];
      return { names: [name, otherName], commits, key: commits.join(' ') };
    }),
  );
}
