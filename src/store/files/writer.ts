/**
 * Writes objects out to their files, behind the journal: soon, each at most once per pause, and giving way to the store's own work.
 * A file is put in place by exchanging names, so whatever a person saved in that moment is in our hands and not overwritten.
 */
import { linkSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { KindObject, ObjectKey } from '#api/meta.ts';
import { emitYaml } from '#lib/emit-yaml.ts';
import { AgentisoError } from '#lib/errors.ts';
import type { Logger } from '#lib/log.ts';
import { exchange } from '#lib/native.ts';
import { leadsOutside } from './outside.ts';
import { idOf, type Paths } from './paths.ts';
import { statOf } from './reading.ts';
import { type OnText, ReplacedFiles } from './replaced.ts';
import { rewriteText } from './retext.ts';
import { checksumOf, type FileState, fingerprintOf, isUntouched } from './state.ts';
import { fileView } from './view.ts';

export interface WriterOptions {
  readonly paths: Paths;
  /** For files in the making and files just replaced; on the same file system. */
  readonly temporary: string;
  readonly states: Pick<ReadonlyMap<string, FileState>, 'get'>;
  readonly current: (key: ObjectKey) => KindObject | undefined;
  /** Moves while the store is busy; the writer then takes smaller bites. */
  readonly version: () => number;
  readonly onState: (key: ObjectKey, state: FileState | undefined) => void;
  /** For replaced files that somebody still has open or wrote to; they outlive a crash. */
  readonly held: string;
  /** A person's text was at the place we wrote to. `base` is what the file had shown before. */
  readonly onDisplaced: OnText;
  /** The file is not as we left it; somebody has to look. */
  readonly onSurprise: (key: ObjectKey) => void;
  readonly onFolder: (key: ObjectKey) => void;
  /** False once the directory was removed or replaced: what is at its path then is somebody else's. */
  readonly isInPlace: () => boolean;
  readonly log: Logger;
}

/** Long enough to take several changes of one object in one write, short enough to feel immediate. */
const PAUSE_MS = 25;
/** A person who just saved may save again: their file is left alone for a moment. */
const EDIT_PAUSE_MS = 250;
/** While the store is busy, files get this much of its time … */
const SLICE_MS = 1;
/** … and then make room for so long. */
const BREATHER_MS = 19;
/** How often to ask whether an editor has let go of a file that was replaced under it. */
const RELEASE_MS = 200;
const RETRY_MS = 1_000;

export class FileWriter {
  readonly #options: WriterOptions;
  /** id → when to write it; insertion order is age. */
  readonly #dirty = new Map<string, { key: ObjectKey; dueMs: number }>();
  readonly #replaced: ReplacedFiles;
  #timer: NodeJS.Timeout | undefined;
  #timerDueMs = 0;
  #lastVersion = 0;
  #idle: (() => void)[] = [];
  #isFlushing = false;
  #closed = false;

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#replaced = new ReplacedFiles(options.temporary, options.held, (key, text, was, taken) =>
      this.#closed ? this.#putBack(key, text, taken) : options.onDisplaced(key, text, was, taken),
    );
  }

  get pending(): number {
    return this.#dirty.size;
  }

  markDirty(key: ObjectKey, pauseMs: number = PAUSE_MS): void {
    if (this.#closed) return;
    const id = idOf(key);
    if (!this.#dirty.has(id)) this.#dirty.set(id, { key, dueMs: Date.now() + pauseMs });
    this.#schedule(pauseMs);
  }

  /** A person changed this file just now: whatever is due waits until they are done. */
  postpone(key: ObjectKey): void {
    const id = idOf(key);
    if (!this.#dirty.delete(id)) return;
    this.#dirty.set(id, { key, dueMs: Date.now() + EDIT_PAUSE_MS });
    this.#schedule(EDIT_PAUSE_MS);
  }

  /** Resolves when every file shows its object. */
  async flushed(): Promise<void> {
    if (this.#dirty.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#idle.push(resolve);
    });
  }

  /** Writes everything that is due, at once. What a person was writing just now is put back, for the next start to take in. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.flush();
    this.#replaced.close((key, text, _was, taken) => this.#putBack(key, text, taken));
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  /** Writes nothing more: the directory is no longer ours. */
  abandon(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#dirty.clear();
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  /** Writes everything that is due, without waiting for its time. */
  flush(): void {
    const due = [...this.#dirty.values()];
    this.#dirty.clear();
    this.#isFlushing = true;
    for (const { key } of due) this.#tryWrite(key);
    this.#isFlushing = false;
  }

  #putBack(key: ObjectKey, text: string, taken: () => void): void {
    writeFileSync(this.#options.paths.fileOf(key), text, { mode: 0o600 });
    taken();
  }

  /** One timer, for whatever is due first. */
  #schedule(delayMs: number): void {
    const dueMs = performance.now() + delayMs;
    if (this.#timer && this.#timerDueMs <= dueMs) return;
    clearTimeout(this.#timer);
    this.#timerDueMs = dueMs;
    this.#timer = setTimeout(() => this.#run(), delayMs);
  }

  #run(): void {
    this.#timer = undefined;
    // Whoever looks after the directory lets go of it soon.
    if (!this.#options.isInPlace()) {
      this.#schedule(RETRY_MS);
      return;
    }
    const started = performance.now();
    const now = Date.now();
    this.#replaced.review();
    for (const [id, { key, dueMs }] of this.#dirty) {
      if (dueMs > now) continue;
      this.#dirty.delete(id);
      this.#tryWrite(key);
      if (performance.now() - started > SLICE_MS) break;
    }
    this.#scheduleNext();
  }

  #scheduleNext(): void {
    if (this.#closed) return;
    if (this.#dirty.size === 0) {
      for (const resolve of this.#idle.splice(0)) resolve();
      if (this.#replaced.heldCount > 0) this.#schedule(RELEASE_MS);
      return;
    }
    const version = this.#options.version();
    const isBusy = version !== this.#lastVersion;
    this.#lastVersion = version;
    const firstDue = Math.min(...take(this.#dirty.values(), 64, ({ dueMs }) => dueMs));
    this.#schedule(Math.max(isBusy ? BREATHER_MS : 0, firstDue - Date.now()));
  }

  #tryWrite(key: ObjectKey): void {
    try {
      this.#refuseOutside(key);
      const object = this.#options.current(key);
      if (object) this.#write(key, object);
      else this.#remove(key);
    } catch (error) {
      // The journal has the change; the file follows when the disk allows it.
      this.#options.log.warn({ err: error, file: this.#options.paths.fileOf(key) }, 'file could not be written, will retry');
      this.markDirty(key, RETRY_MS);
    }
  }

  #refuseOutside(key: ObjectKey): void {
    if (!leadsOutside(this.#options.paths, key)) return;
    this.#options.onSurprise(key);
    throw new AgentisoError('IoError', `${this.#options.paths.folderOf(key)} is a link or leads over one; nothing is written there`);
  }

  #write(key: ObjectKey, object: KindObject): void {
    const { paths, states, onState, onSurprise } = this.#options;
    const before = states.get(idOf(key));
    const shows = fileView(object);
    const version = Number(object.metadata.resourceVersion);
    if (before?.version === version) return;
    if (before && !this.#isFlushing && this.#wasSaved(key, before)) {
      onSurprise(key);
      this.markDirty(key, EDIT_PAUSE_MS);
      return;
    }
    const plain = emitYaml(shows);
    const text = before?.text === undefined ? plain : rewriteText(before.text, shows as unknown as Record<string, unknown>);
    const { path, fingerprint } = this.#replaced.write(text);
    const state: FileState = { ...fingerprint, shows, version, checksum: checksumOf(text), ...(text === plain ? {} : { text }) };
    const target = paths.fileOf(key);
    if (!before) {
      if (this.#putNew(key, path, target)) onState(key, state);
    } else if (exchange(path, target)) {
      onState(key, state);
      this.#replaced.add(key, path, before);
    } else {
      rmSync(path);
      onSurprise(key);
    }
  }

  /** Somebody saved the file and we have not looked yet: their next save should find their own text, not ours. */
  #wasSaved(key: ObjectKey, before: FileState): boolean {
    const stat = statOf(this.#options.paths.fileOf(key));
    return stat !== undefined && !isUntouched(before, fingerprintOf(stat));
  }

  #putNew(key: ObjectKey, temporary: string, target: string): boolean {
    mkdirSync(this.#options.paths.folderOf(key), { recursive: true, mode: 0o700 });
    this.#options.onFolder(key);
    try {
      linkSync(temporary, target);
      return true;
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error;
      // Somebody put a file there first: it is an edit, not ours to replace.
      this.#options.onSurprise(key);
      return false;
    } finally {
      rmSync(temporary, { force: true });
    }
  }

  #remove(key: ObjectKey): void {
    const before = this.#options.states.get(idOf(key));
    if (!before) return;
    const aside = this.#replaced.newPath();
    try {
      renameSync(this.#options.paths.fileOf(key), aside);
      this.#replaced.add(key, aside, before);
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error;
    }
    this.#options.onState(key, undefined);
  }
}

function take<T, U>(items: Iterable<T>, limit: number, map: (item: T) => U): U[] {
  const taken: U[] = [];
  for (const item of items) {
    taken.push(map(item));
    if (taken.length === limit) break;
  }
  return taken;
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
