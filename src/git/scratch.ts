/**
 * New objects of a merge lie in a folder of their own until it has succeeded: a merge that is given up, or killed, leaves nothing in the
 * repository but that folder.
 */
import { createHash, randomBytes } from 'node:crypto';
import { link, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { deflate } from 'node:zlib';
import { syncPath } from '#lib/sync-path.ts';
import { encodeCommit, type NewCommit } from './commit-object.ts';
import { removeStaleLocks } from './stale-locks.ts';

const HEX_PAIR = /^[0-9a-f]{2}$/;
const HEX_REST = /^[0-9a-f]{38}(?:[0-9a-f]{24})?$/;
/** Of files that are synced at once. */
const SYNCED_AT_ONCE = 16;

export class Scratch {
  readonly #directory: string;
  readonly #passing: string;
  readonly #objects: string;
  #ended: Promise<void> = Promise.resolve();

  private constructor(directory: string, objects: string) {
    this.#directory = directory;
    this.#passing = join(directory, 'passing');
    this.#objects = objects;
  }

  /** `name` says whose it is; what an earlier process left under it is removed. */
  static async open(gitDirectory: string, name: string): Promise<Scratch> {
    return Scratch.openAt(join(scratchRoot(gitDirectory), createHash('sha256').update(name).digest('hex').slice(0, 24)), gitDirectory);
  }

  /** On the same disk as the repository. */
  static async openAt(directory: string, gitDirectory: string): Promise<Scratch> {
    await rm(directory, { recursive: true, force: true });
    const scratch = new Scratch(directory, join(gitDirectory, 'objects'));
    await Promise.all([join(directory, 'pack'), scratch.#passing].map((path) => mkdir(path, { recursive: true })));
    return scratch;
  }

  /** For every git that works here: writes here, reads from both. */
  get env(): Record<string, string> {
    const others = [this.#objects, this.#passing].map((path) => JSON.stringify(path)).join(':');
    return { GIT_OBJECT_DIRECTORY: this.#directory, GIT_ALTERNATE_OBJECT_DIRECTORIES: others };
  }

  writeCommit(commit: NewCommit): Promise<string> {
    return writeLoose(this.#directory, commit);
  }

  /** One that git needs to see, and that is never kept. */
  writePassing(commit: NewCommit): Promise<string> {
    return writeLoose(this.#passing, commit);
  }

  /** Into the repository, durably; objects have no effect there until a ref leads to them. */
  async keep(): Promise<void> {
    const pairs = (await readdir(this.#directory)).filter((name) => HEX_PAIR.test(name));
    const kept = await Promise.all(pairs.map((pair) => this.#keepPair(pair)));
    const names = kept.flat();
    for (let at = 0; at < names.length; at += SYNCED_AT_ONCE) {
      await Promise.all(names.slice(at, at + SYNCED_AT_ONCE).map((name) => syncPath(join(this.#objects, name))));
    }
    // One for all of the names: they were there before it.
    await syncPath(this.#objects);
  }

  async #keepPair(pair: string): Promise<string[]> {
    const found = (await readdir(join(this.#directory, pair))).filter((rest) => HEX_REST.test(rest));
    await mkdir(join(this.#objects, pair), { recursive: true });
    await Promise.all(found.map((rest) => linkObject(join(this.#directory, pair, rest), join(this.#objects, pair, rest))));
    return found.map((rest) => join(pair, rest));
  }

  /** A process that may still look in here. */
  waitFor(ended: Promise<void>): void {
    this.#ended = this.#ended.then(() => ended);
  }

  /** As it was when it was opened. Whoever works here must be at rest. */
  async clear(): Promise<void> {
    const places = [this.#directory, this.#passing];
    const pairs = await Promise.all(
      places.map(async (place) => (await readdir(place)).filter((name) => HEX_PAIR.test(name)).map((name) => join(place, name))),
    );
    await Promise.all(pairs.flat().map((path) => rm(path, { recursive: true, force: true })));
  }

  async remove(): Promise<void> {
    await this.#ended;
    await rm(this.#directory, { recursive: true, force: true });
  }
}

/** Everything that merges before this process left behind. */
export async function removeScratch(gitDirectory: string): Promise<void> {
  await removeStaleLocks(gitDirectory);
  await rm(scratchRoot(gitDirectory), { recursive: true, force: true });
}

function scratchRoot(gitDirectory: string): string {
  return join(gitDirectory, 'agentiso-scratch');
}

/** Whole or not there: git may look at any time. */
async function writeLoose(directory: string, commit: NewCommit): Promise<string> {
  const { id, bytes } = encodeCommit(commit);
  const folder = join(directory, id.slice(0, 2));
  const path = join(folder, id.slice(2));
  const temporary = `${path}.${randomBytes(4).toString('hex')}`;
  const content = await promisify(deflate)(bytes, { level: 1 });
  await mkdir(folder, { recursive: true });
  await writeFile(temporary, content, { flag: 'wx', mode: 0o444 });
  await rename(temporary, path);
  return id;
}

/** The same name is the same content. */
async function linkObject(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}
