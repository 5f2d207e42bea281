/**
 * Where merges are made: scratch objects, and a merge-tree that writes into them. It is kept for some seconds after a merge, because work
 * often lands in a row, and to start a process takes longer than to merge. It lies outside of the repository: what is kept is nobody's yet.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { MergeProcess } from './merge-process.ts';
import type { GitOptions } from './run.ts';
import { Scratch } from './scratch.ts';

const KEPT_MS = 5_000;
/** It remembers every commit that it has seen. */
const MAX_USES = 100;

export interface Workbench {
  readonly scratch: Scratch;
  readonly merges: MergeProcess;
  /** How git cuts histories off, which it reads once. */
  readonly shallow: string;
  uses: number;
  timer?: NodeJS.Timeout;
}

export class Workbenches {
  readonly #root: string;
  /** By repository: those that nobody uses. */
  readonly #idle = new Map<string, Workbench[]>();
  readonly #keptMs: number;

  private constructor(root: string, keptMs: number) {
    this.#root = root;
    this.#keptMs = keptMs;
  }

  /** What an earlier process left in the folder is removed. */
  static async open(root: string, { keptMs = KEPT_MS } = {}): Promise<Workbenches> {
    await rm(root, { recursive: true, force: true });
    return new Workbenches(root, keptMs);
  }

  async take(options: GitOptions): Promise<Workbench> {
    const { directory } = options;
    const shallow = await shallowMark(directory);
    for (let kept = this.#idle.get(directory)?.pop(); kept; kept = this.#idle.get(directory)?.pop()) {
      clearTimeout(kept.timer);
      if (kept.merges.isUsable && kept.shallow === shallow && kept.uses < MAX_USES) return this.#lend(kept);
      await end(kept);
    }
    await mkdir(this.#root, { recursive: true, mode: 0o700 });
    const scratch = await Scratch.openAt(join(this.#root, randomUUID()), directory);
    return this.#lend({ scratch, merges: new MergeProcess({ ...options, env: { ...options.env, ...scratch.env } }), shallow, uses: 0 });
  }

  /** Resolves when nothing of the merge is left. */
  async giveBack(kept: Workbench, { directory }: GitOptions): Promise<void> {
    if (!kept.merges.rest() || !(await isCleared(kept.scratch))) return end(kept);
    kept.timer = setTimeout(() => {
      this.#forget(kept, directory);
      void end(kept);
    }, this.#keptMs).unref();
    this.#idle.set(directory, [...(this.#idle.get(directory) ?? []), kept]);
  }

  /** The repository goes. */
  async drop(directory: string): Promise<void> {
    const idle = this.#idle.get(directory) ?? [];
    this.#idle.delete(directory);
    for (const kept of idle) {
      clearTimeout(kept.timer);
      await end(kept);
    }
  }

  /** For good: all repositories go. */
  async close(): Promise<void> {
    await Promise.all([...this.#idle.keys()].map((directory) => this.drop(directory)));
    await rm(this.#root, { recursive: true, force: true });
  }

  #lend(kept: Workbench): Workbench {
    kept.uses += 1;
    kept.merges.wake();
    return kept;
  }

  #forget(kept: Workbench, directory: string): void {
    const left = (this.#idle.get(directory) ?? []).filter((each) => each !== kept);
    if (left.length > 0) this.#idle.set(directory, left);
    else this.#idle.delete(directory);
  }
}

/** False: somebody has taken it away, or the disk has no more. */
function isCleared(scratch: Scratch): Promise<boolean> {
  return scratch.clear().then(
    () => true,
    () => false,
  );
}

async function end({ merges, scratch }: Workbench): Promise<void> {
  await merges.close();
  await scratch.remove();
}

async function shallowMark(directory: string): Promise<string> {
  const found = await stat(join(directory, 'shallow'), { bigint: true }).catch(() => undefined);
  return found ? `${found.mtimeNs} ${found.size} ${found.ino}` : '';
}
