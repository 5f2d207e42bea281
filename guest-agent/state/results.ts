/** Results that the host has not acknowledged: one file each in `results/`, because one of them may be as large as a frame. */
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '#lib/make-folder.ts';
import { type AttemptKey, control, type TaskResult } from '#protocol/control.ts';
import { lazy } from '../lazy-modules.ts';
import { toKey } from './attempts.ts';
import { UNFINISHED, writeDurably } from './durable-file.ts';

const NAME = /^(?<taskUid>.+)\.(?<attempt>\d+)\.json$/;

const COMMA_BYTES = 1;

interface Stored {
  readonly attemptKey: AttemptKey;
  readonly bytes: number;
}

export class Results {
  readonly #directory: string;
  /** In the order they came. */
  readonly #stored = new Map<string, Stored>();

  /** Files of settled attempts are what a crash left between settling and deleting. */
  constructor(stateDir: string, isSettled: (key: string) => boolean) {
    this.#directory = join(stateDir, 'results');
    makeFolder(this.#directory);
    for (const stored of readStored(this.#directory)) {
      const key = toKey(stored.attemptKey);
      if (isSettled(key)) rmSync(this.#path(stored.attemptKey), { force: true });
      else this.#stored.set(key, stored);
    }
  }

  get size(): number {
    return this.#stored.size;
  }

  has(key: string): boolean {
    return this.#stored.has(key);
  }

  /** On disk when it resolves. The task's uid must be fit for a file name. */
  async put(result: TaskResult): Promise<void> {
    const content = JSON.stringify(result);
    await writeDurably(this.#path(result), content);
    this.#stored.set(toKey(result), {
      attemptKey: { taskUid: result.taskUid, attempt: result.attempt },
      bytes: Buffer.byteLength(content),
    });
  }

  /** The first ones, as many as fit; always at least one. */
  async read({ limit, maxBytes }: { readonly limit: number; readonly maxBytes: number }): Promise<readonly TaskResult[]> {
    const results: TaskResult[] = [];
    let room = maxBytes;
    for (const { attemptKey, bytes } of [...this.#stored.values()].slice(0, limit)) {
      room -= bytes + COMMA_BYTES;
      if (room < 0 && results.length > 0) break;
      const result = await this.#readOne(attemptKey);
      if (result !== undefined) results.push(result);
    }
    return results;
  }

  async remove(key: string): Promise<void> {
    const stored = this.#stored.get(key);
    if (stored === undefined) return;
    this.#stored.delete(key);
    await lazy.files.rm(this.#path(stored.attemptKey), { force: true });
  }

  /** undefined: gone or spoiled, by whoever may write here. Then nobody knows how the attempt ended. */
  async #readOne(attemptKey: AttemptKey): Promise<TaskResult | undefined> {
    try {
      const value: unknown = JSON.parse(await lazy.files.readFile(this.#path(attemptKey), 'utf8'));
      return control.pollResults.result({ results: [value], pendingTasks: 0, running: [] }, 'result').results[0];
    } catch {
      await this.remove(toKey(attemptKey));
      return undefined;
    }
  }

  #path({ taskUid, attempt }: AttemptKey): string {
    return join(this.#directory, `${taskUid}.${attempt}.json`);
  }
}

/** Oldest first. */
function readStored(directory: string): readonly Stored[] {
  const found = readdirSync(directory).flatMap((name) => {
    const path = join(directory, name);
    if (name.endsWith(UNFINISHED)) rmSync(path, { force: true });
    const { taskUid, attempt } = NAME.exec(name)?.groups ?? {};
    if (taskUid === undefined || attempt === undefined) return [];
    const { mtimeMs, size } = statSync(path);
    return [{ mtimeMs, attemptKey: { taskUid, attempt: Number(attempt) }, bytes: size }];
  });
  return found.sort((a, b) => a.mtimeMs - b.mtimeMs);
}
