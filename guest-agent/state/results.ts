/**
 * Results that the host has not acknowledged. Most are small: they are lines of `results.log`, and in memory until they are fetched. One that
 * is large, which may be as much as a frame, is a file in `results/`.
 */
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '#lib/make-folder.ts';
import { type AttemptKey, control, type TaskResult } from '#protocol/control.ts';
import { fieldOf, object, oneOf, text, toFields } from '#protocol/shape.ts';
import { lazy } from '../lazy-modules.ts';
import { toKey } from './attempts.ts';
import { UNFINISHED, writeDurably } from './durable-file.ts';
import { Journal, type JournalOptions } from './journal.ts';

const NAME = /^(?<taskUid>.+)\.(?<attempt>\d+)\.json$/;

const COMMA_BYTES = 1;
/** As JSON. To make a file, and its name durable, takes longer than to write so much. */
const MAX_LINE_BYTES = 16 * 1024;

interface Stored {
  readonly attemptKey: AttemptKey;
  readonly bytes: number;
  /** Absent: it is in a file. */
  readonly result?: TaskResult;
}

export type ResultRecord =
  | { readonly type: 'result'; readonly result: TaskResult }
  /** The host has it. */
  | { readonly type: 'gone'; readonly key: string };

export interface ResultsOptions extends Pick<JournalOptions<never>, 'minCompactBytes' | 'onFull'> {
  /** What is here of settled attempts was left by a crash between settling and deleting. */
  readonly isSettled: (key: string) => boolean;
  readonly warn: (text: string) => void;
}

export class Results {
  readonly #directory: string;
  readonly #journal: Journal<ResultRecord>;
  /** In the order they came; of an earlier guest, those in files first. */
  readonly #stored = new Map<string, Stored>();

  constructor(stateDir: string, { isSettled, ...options }: ResultsOptions) {
    this.#directory = join(stateDir, 'results');
    makeFolder(this.#directory);
    for (const stored of readStored(this.#directory)) this.#stored.set(toKey(stored.attemptKey), stored);
    this.#journal = new Journal<ResultRecord>({
      path: join(stateDir, 'results.log'),
      parse: parseRecord,
      apply: (record) => this.#apply(record),
      snapshot: () => this.#snapshot(),
      ...options,
    });
    for (const [key, { result, attemptKey }] of this.#stored) {
      if (!isSettled(key)) continue;
      if (result === undefined) rmSync(this.#path(attemptKey), { force: true });
      this.#journal.note({ type: 'gone', key });
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
    const bytes = Buffer.byteLength(content);
    if (bytes <= MAX_LINE_BYTES) return this.#journal.append({ type: 'result', result });
    await writeDurably(this.#path(result), content);
    this.#stored.set(toKey(result), { attemptKey: { taskUid: result.taskUid, attempt: result.attempt }, bytes });
  }

  /** The first ones, as many as fit; always at least one. */
  async read({ limit, maxBytes }: { readonly limit: number; readonly maxBytes: number }): Promise<readonly TaskResult[]> {
    const results: TaskResult[] = [];
    let room = maxBytes;
    for (const { attemptKey, bytes, result: inMemory } of [...this.#stored.values()].slice(0, limit)) {
      room -= bytes + COMMA_BYTES;
      if (room < 0 && results.length > 0) break;
      const result = inMemory ?? (await this.#readOne(attemptKey));
      if (result !== undefined) results.push(result);
    }
    return results;
  }

  /** Those that are in memory and not among `told`. Undefined where not all of them can be told in one go: one is in a file, or they are too many. */
  untold(
    told: ReadonlySet<string>,
    { limit, maxBytes }: { readonly limit: number; readonly maxBytes: number },
  ): readonly TaskResult[] | undefined {
    const results: TaskResult[] = [];
    let room = maxBytes;
    for (const [key, { bytes, result }] of this.#stored) {
      if (told.has(key)) continue;
      room -= bytes + COMMA_BYTES;
      if (result === undefined || room < 0 || results.length === limit) return undefined;
      results.push(result);
    }
    return results;
  }

  /** Its attempt is settled, so that it does no harm when a crash brings it back. */
  async remove(key: string): Promise<void> {
    const stored = this.#stored.get(key);
    if (stored === undefined) return;
    if (stored.result !== undefined) return this.#journal.note({ type: 'gone', key });
    this.#stored.delete(key);
    await lazy.files.rm(this.#path(stored.attemptKey), { force: true });
  }

  close(): Promise<void> {
    return this.#journal.close();
  }

  /** undefined: gone or spoiled, by whoever may write here. Then nobody knows how the attempt ended. */
  async #readOne(attemptKey: AttemptKey): Promise<TaskResult | undefined> {
    try {
      return parseResult(JSON.parse(await lazy.files.readFile(this.#path(attemptKey), 'utf8')), 'result');
    } catch {
      await this.remove(toKey(attemptKey));
      return undefined;
    }
  }

  #apply(record: ResultRecord): void {
    if (record.type === 'gone') {
      this.#stored.delete(record.key);
      return;
    }
    const { result } = record;
    const { taskUid, attempt } = result;
    this.#stored.set(toKey(result), { attemptKey: { taskUid, attempt }, bytes: Buffer.byteLength(JSON.stringify(result)), result });
  }

  #snapshot(): readonly ResultRecord[] {
    return [...this.#stored.values()].flatMap(({ result }): ResultRecord[] => (result === undefined ? [] : [{ type: 'result', result }]));
  }

  #path({ taskUid, attempt }: AttemptKey): string {
    return join(this.#directory, `${taskUid}.${attempt}.json`);
  }
}

const recordType = oneOf('result', 'gone');
const goneRecord = object({ key: text });

function parseRecord(value: unknown): ResultRecord {
  const fields = toFields(value, 'record');
  const type = recordType(fieldOf(fields, 'type'), 'type');
  return type === 'gone' ? { type, ...goneRecord(value, 'record') } : { type, result: parseResult(fieldOf(fields, 'result'), 'result') };
}

function parseResult(value: unknown, what: string): TaskResult {
  const [result] = control.pollResults.result({ results: [value], pendingTasks: 0, running: [] }, what).results;
  if (result === undefined) throw new Error(`${what} is missing`);
  return result;
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
