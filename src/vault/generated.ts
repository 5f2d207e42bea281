/**
 * The files that agentiso derives from objects: written only when they differ, remembered, and watched for changes by others. They need not
 * be durable: after a crash they are compared with the objects again.
 */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ignoreNotFound } from '#lib/errors.ts';
import type { Logger } from '#lib/log.ts';
import { FewAtOnce } from './few-at-once.ts';
import { type Mark, markAt, type ReadFile, readText, replaceDerived, versionOf } from './file.ts';
import { codeOf, type Folder, openFolder, withFolder } from './folder.ts';
import { FolderWatches } from './folder-watches.ts';
import { joinPath, nameOf, parentOf, teamFolder } from './paths.ts';
import { type TeamLocks, teamIdOf } from './team-locks.ts';
import type { GeneratedPath } from './vault.ts';

const LOOK_MS = 30_000;
/** An editor writes in several steps; most are over by then. */
const SETTLE_MS = 50;
/** Files in one go. */
const TURN = 32;
/** Threads that wait for the disk are few, and what must be durable needs them more. */
const WRITES_AT_ONCE = 2;
const WATCHED = ['', 'tasks', 'cards'];

export interface GeneratedOptions {
  readonly root: string;
  readonly locks: TeamLocks;
  readonly log: Logger;
  /** How often everything is looked at without a hint; 30 seconds when absent. */
  readonly lookMs?: number;
}

interface Remembered {
  readonly version: string;
  mark: Mark;
  /** What of others was found in its place and told: nobody is told of it twice because it is then replaced. */
  told?: Mark | 'nothing';
}

interface Team {
  readonly namespace: string;
  readonly team: string;
  readonly files: Map<string, Remembered>;
  /** Paths to look at; undefined stands for all of them. */
  readonly hinted: Set<string | undefined>;
}

export class GeneratedFiles {
  readonly #root: string;
  readonly #locks: TeamLocks;
  readonly #watches: FolderWatches;
  readonly #log: Logger;
  readonly #teams = new Map<string, Team>();
  readonly #listeners = new Set<(change: GeneratedPath) => void>();
  readonly #writes = new FewAtOnce(WRITES_AT_ONCE);
  readonly #timer: NodeJS.Timeout;
  #soon: NodeJS.Timeout | undefined;
  #looking: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor({ root, locks, log, lookMs = LOOK_MS }: GeneratedOptions) {
    this.#root = root;
    this.#locks = locks;
    this.#log = log;
    this.#watches = new FolderWatches(log);
    this.#timer = setInterval(() => this.#lookAtAll(), lookMs);
    this.#timer.unref();
  }

  onForeignChange(listener: (change: GeneratedPath) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async write({ namespace, team, path }: GeneratedPath, content: string): Promise<boolean> {
    const full = joinPath(teamFolder(namespace, team), path);
    const { isNew, isForeign } = await this.#locks.alone(full, async () => {
      const kept = this.#teamOf(namespace, team);
      const isFirst = kept.files.size === 0;
      const written = await this.#writeAt(full, { kept, path }, content);
      // Who found everything as it should be has made no folder that nobody watches.
      if (isFirst || written.isNew) this.#watch(kept);
      return written;
    });
    if (isForeign) this.#tell({ namespace, team, path });
    return isNew;
  }

  async #writeAt(full: string, place: { kept: Team; path: string }, content: string): Promise<{ isNew: boolean; isForeign: boolean }> {
    const folder = openFolder(this.#root, parentOf(full), { create: true });
    try {
      return await this.#writeIn(folder, place, content);
    } finally {
      folder.close();
    }
  }

  async #writeIn(
    folder: Folder,
    { kept, path }: { kept: Team; path: string },
    content: string,
  ): Promise<{ isNew: boolean; isForeign: boolean }> {
    const name = nameOf(path);
    const version = versionOf(content);
    const known = kept.files.get(path);
    const mark = markAt(folder, name);
    const isUntouched = known !== undefined && known.mark === mark;
    if (isUntouched && known.version === version) return { isNew: false, isForeign: false };
    const found = isUntouched ? known : await seenIn(folder, name);
    const isForeign = isNewsOf(known, found, mark) && found?.version !== version;
    if (!isUntouched && found?.version === version) {
      kept.files.set(path, found);
      return { isNew: false, isForeign };
    }
    const replace = () => replaceDerived(this.#root, folder, name, content);
    kept.files.set(path, { version, mark: await this.#writes.run(replace) });
    return { isNew: true, isForeign };
  }

  async remove({ namespace, team, path }: GeneratedPath): Promise<void> {
    const full = joinPath(teamFolder(namespace, team), path);
    await this.#locks.alone(full, async () => {
      this.#teams.get(teamIdOf(namespace, team))?.files.delete(path);
      await ignoreNotFound(withFolder(this.#root, parentOf(full), (folder) => rmSync(folder.at(nameOf(full)), { force: true })));
    });
  }

  /** The paths there are, whoever made them. */
  async list(namespace: string, team: string, below: string): Promise<string[]> {
    const path = joinPath(teamFolder(namespace, team), below);
    const names = await ignoreNotFound(withFolder(this.#root, path, (folder) => readdirSync(folder.at(''))));
    return (names ?? []).sort().map((name) => joinPath(below, name));
  }

  /** The folders are there now. */
  watchTeam(namespace: string, team: string): void {
    this.#watch(this.#teamOf(namespace, team));
  }

  forgetTeam(namespace: string, team: string): void {
    this.#teams.delete(teamIdOf(namespace, team));
    for (const folder of WATCHED) this.#watches.drop(join(this.#root, teamFolder(namespace, team), folder));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    clearTimeout(this.#soon);
    this.#watches.close();
    await this.#looking;
  }

  #teamOf(namespace: string, team: string): Team {
    const id = teamIdOf(namespace, team);
    const kept = this.#teams.get(id) ?? { namespace, team, files: new Map(), hinted: new Set() };
    this.#teams.set(id, kept);
    return kept;
  }

  #watch(kept: Team): void {
    if (this.#isClosed) return;
    const { namespace, team, hinted } = kept;
    for (const folder of WATCHED) {
      this.#watches.ensure(join(this.#root, teamFolder(namespace, team), folder), (name) => {
        const path = folder === '' || name === undefined ? undefined : joinPath(folder, name);
        if (path !== undefined && !kept.files.has(path)) return;
        hinted.add(path);
        this.#lookSoon();
      });
    }
  }

  #lookSoon(): void {
    if (this.#isClosed) return;
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined;
      this.#look();
    }, SETTLE_MS);
  }

  #lookAtAll(): void {
    for (const { hinted } of this.#teams.values()) hinted.add(undefined);
    this.#look();
  }

  #look(): void {
    this.#looking = this.#looking.then(async () => {
      for (const kept of [...this.#teams.values()]) await this.#lookAt(kept);
    });
  }

  async #lookAt(kept: Team): Promise<void> {
    const paths = kept.hinted.has(undefined) ? [...kept.files.keys()] : [...kept.hinted].filter((path) => path !== undefined);
    if (kept.hinted.has(undefined)) this.#watch(kept);
    kept.hinted.clear();
    for (const [index, path] of paths.entries()) {
      // Looking takes no time that others could use, so they are let in now and then.
      if (index % TURN === 0) await new Promise(setImmediate);
      if (this.#isClosed || this.#teams.get(teamIdOf(kept.namespace, kept.team)) !== kept) return;
      try {
        if (await this.#isChanged(kept, path)) this.#tell({ namespace: kept.namespace, team: kept.team, path });
      } catch (error) {
        this.#log.warn({ err: error, team: kept.team, path }, 'generated file cannot be looked at');
      }
    }
  }

  /** Touched is not changed. */
  #isChanged(kept: Team, path: string): Promise<boolean> {
    const full = joinPath(teamFolder(kept.namespace, kept.team), path);
    return this.#locks.shared(full, async () => {
      const known = kept.files.get(path);
      if (!known) return false;
      const found = await ignoreNotFound(withFolder(this.#root, parentOf(full), (folder) => changeIn(folder, nameOf(full), known)));
      if (found === 'same') return false;
      if (found?.version !== known.version) {
        known.told = found?.mark ?? 'nothing';
        return true;
      }
      known.mark = found.mark;
      return false;
    });
  }

  #tell(change: GeneratedPath): void {
    for (const listener of this.#listeners) listener(change);
  }
}

function isNewsOf(known: Remembered | undefined, found: Remembered | undefined, mark: Mark | undefined): boolean {
  return known !== undefined && found?.version !== known.version && known.told !== (mark ?? 'nothing');
}

async function changeIn(folder: Folder, name: string, known: Remembered): Promise<Remembered | 'same' | undefined> {
  return markAt(folder, name) === known.mark ? 'same' : seenIn(folder, name);
}

/** What cannot be read, for whatever reason, is not what was written. */
async function seenIn(folder: Folder, name: string): Promise<Remembered | undefined> {
  try {
    const found: ReadFile | undefined = await readText(folder, name);
    return found && { version: versionOf(found.content), mark: found.mark };
  } catch (error) {
    if (codeOf(error) === 'EIO') throw error;
    return undefined;
  }
}
