/**
 * Which scratch workspaces there are: one file each in HOME/state, written before the workspace is made and removed when
 * it is gone. Only what has such a record, and an id that no agent can have, is ever taken for one.
 */
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { newUid } from '#lib/clock.ts';
import { isObject } from '#lib/json.ts';

export interface ScratchRecord {
  readonly id: string;
  /** The name of the driver it is made with. */
  readonly driver: string;
  /** Whose work is verified. */
  readonly taskUid?: string;
  readonly attempt?: number;
  readonly mergeUid?: string;
  /** What is prepared. */
  readonly snapshotUid?: string;
}

const ID = /^verify-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const UNFINISHED = '.new';

export class ScratchRecords {
  readonly #directory: string;

  /** Whoever verifies has a folder of its own, and removes what is left in there. */
  constructor(home: string, folder: 'verifications' | 'merge-verifications' | 'golden-preparations' = 'verifications') {
    this.#directory = join(home, 'state', folder);
  }

  /** A new one, on disk when it resolves. */
  async add(record: Omit<ScratchRecord, 'id'>): Promise<ScratchRecord> {
    const added = { id: `verify-${newUid()}`, ...record };
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    const path = this.#path(added.id);
    const file = await open(`${path}${UNFINISHED}`, 'w', 0o600);
    try {
      await file.writeFile(JSON.stringify(added));
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(`${path}${UNFINISHED}`, path);
    return added;
  }

  async remove(id: string): Promise<void> {
    await rm(this.#path(id), { force: true });
  }

  async list(): Promise<ScratchRecord[]> {
    const names = await readdir(this.#directory).catch(noneIfAbsent);
    await Promise.all(names.filter((name) => name.endsWith(UNFINISHED)).map((name) => this.#removeIfOld(join(this.#directory, name))));
    const records = await Promise.all(names.map((name) => this.#read(name)));
    return records.filter((record) => record !== undefined);
  }

  /** What was never finished, and by whoever came before: its workspace was never made. */
  async #removeIfOld(path: string): Promise<void> {
    const written = await stat(path).catch(() => undefined);
    if (written !== undefined && written.mtimeMs < performance.timeOrigin) await rm(path, { force: true });
  }

  /** Undefined for what was never finished, and for what is none. */
  async #read(name: string): Promise<ScratchRecord | undefined> {
    if (!name.endsWith('.json')) return undefined;
    try {
      const value: unknown = JSON.parse(await readFile(join(this.#directory, name), 'utf8'));
      return isRecord(value) && `${value.id}.json` === name ? value : undefined;
    } catch (error) {
      if (error instanceof SyntaxError) return undefined;
      throw error;
    }
  }

  #path(id: string): string {
    return join(this.#directory, `${id}.json`);
  }
}

function isRecord(value: unknown): value is ScratchRecord {
  if (!isObject(value)) return false;
  const { id, driver } = value;
  return typeof id === 'string' && ID.test(id) && typeof driver === 'string';
}

function noneIfAbsent(error: unknown): string[] {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
  throw error;
}
