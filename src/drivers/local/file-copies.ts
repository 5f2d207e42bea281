/**
 * Whole copies of the files of workspaces, `<state>/.snapshots/<name>/`. A copy that has its name is whole: it is made beside its place, brought
 * to the disk and renamed. It shares blocks where the file system can (reflink) and keeps holes everywhere.
 */
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { AgentisoError, NotFoundError, StalledError } from '#lib/errors.ts';
import { execute } from '#lib/execute.ts';
import { syncPath } from '#lib/sync-path.ts';
import { isPresent } from './directories.ts';
import type { Room } from './free-disk.ts';
import { isWorkspaceId } from './paths.ts';
import { diskUsage, SNAPSHOTS } from './saved-room.ts';

const PRIVATE = { recursive: true, mode: 0o700 } as const;
const UNFINISHED = '.new';
/** In the folder of a workspace: what is put in place of its files. With this name it is whole, and nothing starts before it is in place. */
const COMING = 'restored';
const MAKING = 'restoring';
const LEAVING = 'replaced';

export interface Taking {
  readonly folder: string;
  readonly name: string;
  readonly names: readonly string[];
  readonly hold: (copy: (limit: AbortSignal) => Promise<void>, signal: AbortSignal) => Promise<void>;
  readonly room: Room;
}

export class FileCopies {
  readonly #root: string;

  constructor(stateDir: string) {
    this.#root = join(stateDir, SNAPSHOTS);
  }

  /** `names`: what of the folder is copied, as far as it is there. `hold` is around the copying alone. Gives the bytes it takes. */
  async take({ folder, name, names, hold, room }: Taking, signal: AbortSignal): Promise<number> {
    const place = this.#placeOf(name);
    if (await isPresent(place)) return diskUsage([place]);
    await mkdir(this.#root, PRIVATE);
    await room(await diskUsage(names.map((each) => join(folder, each)).filter(existsSync)), 'a snapshot of its files');
    const making = `${place}${UNFINISHED}`;
    await hold((limit) => copyInto(folder, making, names, limit), signal);
    await execute('sync', ['-f', making], { signal });
    await rename(making, place);
    await syncPath(this.#root);
    return diskUsage([place]);
  }

  /** The files of the folder are replaced when this resolves; after a crash, by `finishRestore`. `renew`: what is done to the copy before. */
  async restore(folder: string, name: string, renew: (copy: string) => Promise<void>, signal: AbortSignal): Promise<void> {
    const place = this.#placeOf(name);
    if (!(await isPresent(place))) throw new NotFoundError(`there is no snapshot ${name}`);
    await mkdir(folder, PRIVATE);
    await finishRestore(folder);
    const making = join(folder, MAKING);
    await copyInto(place, making, await readdir(place), signal);
    await renew(making);
    await execute('sync', ['-f', making], { signal });
    await rename(making, join(folder, COMING));
    await syncPath(folder);
    await finishRestore(folder);
  }

  async remove(name: string): Promise<void> {
    const place = this.#placeOf(name);
    // Out of its place first: half of one must not be taken for whole.
    if (await isPresent(place)) {
      await rm(`${place}${UNFINISHED}`, { recursive: true, force: true });
      await rename(place, `${place}${UNFINISHED}`);
    }
    await rm(`${place}${UNFINISHED}`, { recursive: true, force: true });
  }

  async list(): Promise<string[]> {
    const names = await readdir(this.#root).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
    return [...new Set(names.map((name) => (name.endsWith(UNFINISHED) ? name.slice(0, -UNFINISHED.length) : name)))];
  }

  #placeOf(name: string): string {
    if (!isWorkspaceId(name)) throw new StalledError('InvalidSnapshotId', `this is no id of a snapshot: ${name.slice(0, 200)}`);
    return join(this.#root, name);
  }
}

/** Brings to its end what a crash may have cut short: one rename has decided that the files are the new ones. */
export async function finishRestore(folder: string): Promise<void> {
  if (await isPresent(join(folder, MAKING))) await rm(join(folder, MAKING), { recursive: true, force: true });
  const coming = join(folder, COMING);
  const leaving = join(folder, LEAVING);
  if (await isPresent(coming)) {
    await mkdir(leaving, PRIVATE);
    // What an overlay had noted about the layer that goes.
    await rm(join(folder, 'work'), { recursive: true, force: true });
    for (const name of await readdir(coming)) {
      await rm(join(leaving, name), { recursive: true, force: true });
      if (await isPresent(join(folder, name))) await rename(join(folder, name), join(leaving, name));
      await rename(join(coming, name), join(folder, name));
    }
    await rm(coming, { recursive: true, force: true });
  }
  if (await isPresent(leaving)) await rm(leaving, { recursive: true, force: true });
}

/** Nothing is left of one that failed. */
async function copyInto(from: string, to: string, names: readonly string[], signal: AbortSignal): Promise<void> {
  await rm(to, { recursive: true, force: true });
  await mkdir(to, PRIVATE);
  try {
    for (const name of names) {
      if (await isPresent(join(from, name))) await execute('cp', [...AS_IT_IS, '--', join(from, name), join(to, name)], { signal });
    }
  } catch (error) {
    await rm(to, { recursive: true, force: true });
    signal.throwIfAborted();
    const { stderr = '', message } = error as Error & { stderr?: string };
    throw new AgentisoError('IoError', `the files cannot be copied: ${stderr.trim().split('\n')[0] || message}`, {
      reason: 'CopyFailed',
      cause: error,
    });
  }
}

/** Owners, times, holes, links, attributes, and the devices by which a layer says that a file is gone. */
const AS_IT_IS = ['-a', '--reflink=auto', '--sparse=auto'];
