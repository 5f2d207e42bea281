/**
 * Writes objects out to their files, behind the journal: soon, each at most once per pause, and giving way to the store's own work.
 * A file is put in place by exchanging names, so whatever a person saved in that moment is in our hands and not overwritten.
 */
import { closeSync, fstatSync, linkSync, lstatSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { KindObject, ObjectKey } from '#api/meta.ts';
import type { Logger } from '#lib/log.ts';
import { exchange } from '#lib/native.ts';
import { emitYaml } from './emit.ts';
import { idOf, type Paths } from './paths.ts';
import { rewriteText } from './retext.ts';
import { checksumOf, type FileState, fingerprintOf, isUntouched } from './state.ts';
import { fileView } from './view.ts';

export interface WriterOptions {
  readonly paths: Paths;
  /** For files in the making and files just replaced; on the same file system. */
  readonly temporary: string;
  readonly states: Map<string, FileState>;
  readonly current: (key: ObjectKey) => KindObject | undefined;
  /** Moves while the store is busy; the writer then takes smaller bites. */
  readonly version: () => number;
  readonly onState: (key: ObjectKey, state: FileState | undefined) => void;
  /** A person's text was at the place we wrote to. `base` is what the file had shown before. */
  readonly onDisplaced: (key: ObjectKey, text: string, base: FileState) => void;
  /** The file is not as we left it; somebody has to look. */
  readonly onSurprise: (key: ObjectKey) => void;
  readonly onFolder: (key: ObjectKey) => void;
  readonly log: Logger;
}

interface Displaced {
  readonly key: ObjectKey;
  readonly path: string;
  readonly was: FileState;
  readonly dueMs: number;
}

/** Long enough to take several changes of one object in one write, short enough to feel immediate. */
const PAUSE_MS = 25;
/** A person who just saved may save again: their file is left alone for a moment. */
const EDIT_PAUSE_MS = 250;
/** How long a replaced file is kept, for an editor that still had it open. */
const KEEP_MS = 2_000;
const SLICE_MS = 2;
const BREATHER_MS = 6;
const RETRY_MS = 1_000;

export class FileWriter {
  readonly #options: WriterOptions;
  /** id → when to write it; insertion order is age. */
  readonly #dirty = new Map<string, { key: ObjectKey; dueMs: number }>();
  readonly #displaced: Displaced[] = [];
  #timer: NodeJS.Timeout | undefined;
  #timerDueMs = 0;
  #lastVersion = 0;
  #sequence = 0;
  #idle: (() => void)[] = [];
  #closed = false;

  constructor(options: WriterOptions) {
    this.#options = options;
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

  /** Writes what is due now, in this call; for closing. */
  async close(): Promise<void> {
    for (const { key } of [...this.#dirty.values()]) this.#tryWrite(key);
    this.#dirty.clear();
    this.#closed = true;
    clearTimeout(this.#timer);
    for (const displaced of this.#displaced.splice(0)) this.#release(displaced);
    for (const resolve of this.#idle.splice(0)) resolve();
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
    const started = performance.now();
    const now = Date.now();
    while (this.#displaced[0] && this.#displaced[0].dueMs <= now) this.#release(this.#displaced.shift() as Displaced);
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
      if (this.#displaced[0]) this.#schedule(Math.max(0, this.#displaced[0].dueMs - Date.now()));
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
      const object = this.#options.current(key);
      if (object) this.#write(key, object);
      else this.#remove(key);
    } catch (error) {
      // The journal has the change; the file follows when the disk allows it.
      this.#options.log.warn({ err: error, file: this.#options.paths.fileOf(key) }, 'file could not be written, will retry');
      this.markDirty(key, RETRY_MS);
    }
  }

  #write(key: ObjectKey, object: KindObject): void {
    const { paths, states, onState, onSurprise } = this.#options;
    const before = states.get(idOf(key));
    const shows = fileView(object);
    const version = Number(object.metadata.resourceVersion);
    if (before?.version === version) return;
    const plain = emitYaml(shows);
    const text = before?.text === undefined ? plain : rewriteText(before.text, shows as unknown as Record<string, unknown>);
    const temporary = this.#temporaryPath();
    const fingerprint = writeNew(temporary, text);
    const target = paths.fileOf(key);
    const state: FileState = { ...fingerprint, shows, version, checksum: checksumOf(text), ...(text === plain ? {} : { text }) };
    if (!before) {
      if (this.#putNew(key, temporary, target)) onState(key, state);
      return;
    }
    if (!exchange(temporary, target)) {
      rmSync(temporary);
      onSurprise(key);
      return;
    }
    onState(key, state);
    this.#inspect({ key, path: temporary, was: before, dueMs: Date.now() + KEEP_MS });
  }

  #putNew(key: ObjectKey, temporary: string, target: string): boolean {
    mkdirSync(this.#options.paths.folderOf(key), { recursive: true, mode: 0o700 });
    this.#options.onFolder(key);
    try {
      linkSync(temporary, target);
      return true;
    } catch (error) {
      if (!isExisting(error)) throw error;
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
    const aside = this.#temporaryPath();
    try {
      renameSync(this.#options.paths.fileOf(key), aside);
    } catch (error) {
      if (!isMissing(error)) throw error;
      this.#options.onState(key, undefined);
      return;
    }
    this.#options.onState(key, undefined);
    this.#inspect({ key, path: aside, was: before, dueMs: Date.now() + KEEP_MS });
  }

  /** What we replaced should be what we had written. If not, a person saved in between: their text is an edit like any other. */
  #inspect(displaced: Displaced): void {
    const { key, path, was } = displaced;
    if (isUntouched(was, fingerprintOf(lstatSync(path)))) {
      this.#displaced.push(displaced);
      if (this.#displaced.length === 1) this.#schedule(KEEP_MS);
      return;
    }
    this.#handOver(key, path, was);
  }

  /** The last look at a replaced file: an editor that had it open may have written to it since. */
  #release({ key, path, was }: Displaced): void {
    try {
      if (isUntouched(was, fingerprintOf(lstatSync(path)))) rmSync(path);
      else this.#handOver(key, path, was);
    } catch (error) {
      this.#options.log.warn({ err: error, file: path }, 'replaced file could not be examined');
    }
  }

  #handOver(key: ObjectKey, path: string, was: FileState): void {
    const stat = lstatSync(path);
    const text = stat.isFile() ? readFileSync(path, 'utf8') : '';
    rmSync(path);
    if (stat.isFile() && checksumOf(text) !== was.checksum) this.#options.onDisplaced(key, text, was);
  }

  #temporaryPath(): string {
    this.#sequence++;
    return join(this.#options.temporary, `${process.pid}-${this.#sequence}`);
  }
}

/** The fingerprint is taken before the file can be seen: nobody else can have touched it yet. */
function writeNew(path: string, text: string) {
  const fd = openSync(path, 'wx', 0o600);
  try {
    writeSync(fd, text);
    return fingerprintOf(fstatSync(fd));
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  } finally {
    closeSync(fd);
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

const isMissing = (error: unknown) => hasCode(error, 'ENOENT');
const isExisting = (error: unknown) => hasCode(error, 'EEXIST');
