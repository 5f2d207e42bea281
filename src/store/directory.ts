/**
 * The directory store: HOME/resources holds a readable file per object, HOME/state the journal and snapshot that make writes durable
 * and starts fast. This file puts the parts together and brings files and journal into agreement at the start.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KindObject, ObjectKey } from '#api/meta.ts';
import { keyOf } from '#api/meta.ts';
import { type Clock, systemClock } from '#lib/clock.ts';
import type { Logger } from '#lib/log.ts';
import { makeFolder } from '#lib/make-folder.ts';
import type { Admission } from './change.ts';
import { type DirectoryLock, lockDirectory } from './disk/lock.ts';
import { DurableLog, type Recovered, type View } from './disk/log.ts';
import type { SnapshotRow } from './disk/snapshot.ts';
import { Folders } from './files/folders.ts';
import { leftEdits } from './files/held.ts';
import { FileIntake } from './files/intake.ts';
import { type FileKind, idOf, Paths } from './files/paths.ts';
import { readEdit } from './files/reading.ts';
import { recogniseFile } from './files/recognise.ts';
import type { FileReport } from './files/report.ts';
import { isNewer, restoreObject } from './files/restore.ts';
import { type FileState, isMark, toMark, toState } from './files/state.ts';
import { FileStates, type FrozenStates } from './files/states.ts';
import { fileView } from './files/view.ts';
import { FileWriter } from './files/writer.ts';
import { type KindRules, Store, type WriteOptions } from './store.ts';

export interface StoredKind extends KindRules, FileKind {
  /** Has a YAML file that people may edit. */
  readonly hasFile: boolean;
}

export interface DirectoryStoreOptions {
  readonly home: string;
  readonly kinds: readonly StoredKind[];
  readonly admission: Admission;
  readonly log: Logger;
  readonly clock?: Clock;
  readonly historyLimit?: number;
  /** See StoreOptions. */
  readonly freeze?: boolean;
  /** The record of who set which field, for edits by hand. */
  readonly trackEdit?: WriteOptions['track'];
  readonly segmentBytes?: number;
  readonly checkpointBytes?: number;
}

/** Versions that might have been given out and were lost with the journal are never given out again. */
const VERSION_GAP = 100_000;
/** So many files are looked at in a row. Nobody waits for a scan, and others get their turn in between, which is most of the time. */
const SCAN_SLICE = 64;
const SCAN_PAUSE_MS = 4;
/** A disk that refuses to be written to must not keep us from closing. */
const CLOSING_ROUNDS = 3;

export class DirectoryStore {
  readonly store: Store;
  readonly paths: Paths;
  readonly #lock: DirectoryLock;
  readonly #durable: DurableLog;
  readonly #states = new FileStates();
  readonly #writer: FileWriter;
  readonly #intake: FileIntake;
  readonly #folders: Folders;
  readonly #kinds: readonly StoredKind[];
  readonly #hasFile: ReadonlySet<string>;
  readonly #listeners = new Set<(report: FileReport) => void>();
  /** Reports from the start, before anybody could listen. */
  #early: FileReport[] | undefined = [];
  #versions: Recovered['versions'] = new Map();
  #scanning: Promise<void> | undefined;
  #scanAgain = false;
  #isClosed = false;
  #noteTimer: NodeJS.Timeout | undefined;

  private constructor(options: DirectoryStoreOptions, lock: DirectoryLock) {
    const { home, kinds, admission, log, clock = systemClock, historyLimit, freeze = true, segmentBytes, checkpointBytes } = options;
    const withFiles = kinds.filter(({ hasFile }) => hasFile);
    const temporary = join(home, 'state', 'tmp');
    rmSync(temporary, { recursive: true, force: true });
    mkdirSync(temporary, { recursive: true, mode: 0o700 });
    const { log: durable, recovered } = DurableLog.open({
      directory: join(home, 'state'),
      log,
      ...(segmentBytes === undefined ? {} : { segmentBytes }),
      ...(checkpointBytes === undefined ? {} : { checkpointBytes }),
    });
    this.#lock = lock;
    this.#kinds = withFiles;
    this.#hasFile = new Set(withFiles.map(({ kind }) => kind));
    this.#durable = durable;
    this.paths = new Paths(join(home, 'resources'), withFiles);
    this.store = new Store({
      kinds,
      admission,
      persistence: durable,
      clock,
      freeze,
      ...(historyLimit === undefined ? {} : { historyLimit }),
    });
    this.#writer = new FileWriter({
      paths: this.paths,
      temporary,
      states: this.#states,
      current: (key) => this.store.get(key),
      version: () => this.store.resourceVersion,
      onState: (key, state) => this.#setState(key, state),
      held: join(home, 'state', 'edits'),
      onDisplaced: (key, text, base, taken) => this.#intake.displaced(key, text, base, taken),
      onSurprise: (key) => this.#intake.examine(key),
      onFolder: ({ kind, namespace }) => this.#folders.watchNamespace(kind, namespace),
      isInPlace: () => this.isInPlace(),
      log,
    });
    this.#intake = new FileIntake({
      paths: this.paths,
      store: this.store,
      states: this.#states,
      writer: this.#writer,
      onState: (key, state) => this.#setState(key, state),
      onReport: (report) => this.#report(report),
      versionOf: (key, version) => this.#versions.get(idOf(key))?.find(({ metadata }) => metadata.resourceVersion === version),
      track: options.trackEdit,
      log,
    });
    this.#folders = new Folders({
      paths: this.paths,
      onFile: (key) => this.#intake.examine(key),
      onRescan: () => this.#scan(),
      onLost: (kind) => this.#restoreKind(kind),
      log,
    });
    durable.snapshotFrom(() => this.#view());
    this.#start(recovered, options);
  }

  /** Takes the lock, reads what is there, and resolves when files changed while nobody was running are taken in. */
  static async open(options: DirectoryStoreOptions): Promise<DirectoryStore> {
    makeFolder(join(options.home, 'state'));
    const lock = lockDirectory(join(options.home, 'state', 'lock'));
    try {
      const directory = new DirectoryStore(options, lock);
      await directory.#intake.idle();
      directory.#versions = new Map();
      return directory;
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  /** Hears of every edit that was taken in or refused, also of those found at the start. */
  onReport(listener: (report: FileReport) => void): () => void {
    this.#listeners.add(listener);
    for (const report of this.#early?.splice(0) ?? []) listener(report);
    this.#early = undefined;
    return () => this.#listeners.delete(listener);
  }

  /** Resolves when every file shows its object and every edit is taken in. */
  async settled(): Promise<void> {
    do {
      // Hints that wait are delivered in the next turn of the event loop.
      await new Promise((resolve) => setImmediate(resolve));
      await this.#scanning;
      await this.#intake.idle();
      await this.#writer.flushed();
    } while (this.#writer.pending > 0 || !this.#intake.isIdle || this.#scanning !== undefined);
  }

  /** False once the directory was removed or replaced under us: nothing may be written into it any more. */
  isInPlace(): boolean {
    return this.#lock.isInPlace();
  }

  /** Lets go of a directory that is no longer ours, without a last word into it. */
  abandon(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#folders.close();
    this.#writer.abandon();
    clearTimeout(this.#noteTimer);
    void this.store.close('the directory is no longer ours');
    this.#lock.release();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#folders.close();
    await this.#intake.close();
    await this.#takeLastEdits();
    await this.store.close();
    this.#writer.close();
    clearTimeout(this.#noteTimer);
    try {
      await this.#durable.close();
    } finally {
      this.#lock.release();
    }
  }

  /** Writing a file may bring to light that somebody just saved it: while the store still takes writes, that is one more edit. */
  async #takeLastEdits(): Promise<void> {
    for (let round = 1; round <= CLOSING_ROUNDS && this.#writer.pending > 0; round++) {
      this.#writer.flush();
      await this.#intake.idle();
    }
  }

  #start(recovered: Recovered, options: DirectoryStoreOptions): void {
    this.#versions = recovered.versions;
    const { objects } = recovered;
    this.#folders.start();
    const unread: ObjectKey[] = [];
    const leftover: ObjectKey[] = [];
    const present = new Set<string>();
    for (const key of this.#folders.files()) {
      const id = idOf(key);
      present.add(id);
      if (!this.#recognise(id, key, recovered)) unread.push(key);
      else if (!objects.has(id)) leftover.push(key);
    }
    const version = recovered.isIncomplete ? this.#restore(unread, recovered, options) : recovered.version;
    this.store.load(objects.values(), version);
    for (const { kind } of this.#kinds) {
      this.store.watch(kind, { resourceVersion: String(version) }, ({ type, object }) => {
        this.#states.setOrphaned(idOf(keyOf(object)), type === 'DELETED');
        this.#writer.markDirty(keyOf(object));
      });
    }
    for (const key of unread) this.#intake.examine(key);
    for (const key of leftover) this.#writer.markDirty(key);
    for (const [id, object] of objects) this.#checkFile(id, object, present, recovered);
    this.#takeLeftEdits(join(options.home, 'state', 'edits'));
  }

  /** True when the file is one that we wrote; it may show an older version. */
  #recognise(id: string, key: ObjectKey, { objects, marks, versions, orphaned }: Recovered): boolean {
    const remembered = { mark: marks.get(id), object: objects.get(id), versions: versions.get(id) ?? [], isOrphaned: orphaned.has(id) };
    const state = recogniseFile(this.paths.fileOf(key), remembered);
    if (state) this.#states.set(id, state);
    this.#states.setOrphaned(id, !objects.has(id));
    return state !== undefined;
  }

  /** Objects that only their files still know are taken back as they are, status and uid included. Returns the version to go on from. */
  #restore(unread: ObjectKey[], { objects, version }: Recovered, { admission }: DirectoryStoreOptions): number {
    let newest = version;
    for (const key of unread) {
      const reading = readEdit(this.paths.fileOf(key));
      const object = reading.is === 'text' ? restoreObject(key, reading.text, admission) : undefined;
      if (!object || !isNewer(object, objects.get(idOf(key)))) continue;
      objects.set(idOf(key), object);
      newest = Math.max(newest, Number(object.metadata.resourceVersion));
      this.#report({
        type: 'restored',
        key,
        reason: 'Restored',
        message: `${key.name}.yaml: restored from its file, the journal had lost it`,
      });
    }
    return newest === 0 ? 0 : newest + VERSION_GAP;
  }

  /** An object whose file is not there: deleted by hand while nobody ran, or never written, or lost with the power. */
  #checkFile(id: string, object: KindObject, present: ReadonlySet<string>, { marks, unsyncedMarks, orphaned, sameBoot }: Recovered): void {
    const state = this.#states.get(id);
    if (state?.version === Number(object.metadata.resourceVersion) || !this.#hasFile.has(object.kind)) return;
    const key = keyOf(object);
    const mark = marks.get(id);
    const wasRemoved = !present.has(id) && isMark(mark) && !orphaned.has(id) && (sameBoot || !unsyncedMarks.has(id));
    if (wasRemoved) {
      this.#states.set(id, toState(mark, fileView(object), undefined));
      this.#intake.examine(key);
    } else if (state || !present.has(id)) this.#writer.markDirty(key);
  }

  /** Texts that a crash kept from being taken in. */
  #takeLeftEdits(folder: string): void {
    for (const { key, path, text } of leftEdits(folder)) {
      if (text === undefined) rmSync(path);
      else this.#intake.left(key, text, () => rmSync(path));
    }
  }

  /** Looks at every file and every known object; what is as it was costs one stat. */
  #scan(): void {
    this.#scanAgain = true;
    this.#scanning ??= this.#scanUntilDone().finally(() => {
      this.#scanning = undefined;
    });
  }

  async #scanUntilDone(): Promise<void> {
    while (this.#scanAgain && !this.#isClosed) {
      this.#scanAgain = false;
      await this.#scanOnce();
    }
  }

  async #scanOnce(): Promise<void> {
    const present = new Set<string>();
    await this.#lookAtAll(this.#folders.files(), (key) => present.add(idOf(key)));
    // One that is there was looked at just now.
    await this.#lookAtAll(missingFrom([...this.#states.keys()], present));
  }

  async #lookAtAll(keys: Iterable<ObjectKey>, onLooked: (key: ObjectKey) => void = () => {}): Promise<void> {
    let count = 0;
    for (const key of keys) {
      this.#intake.examine(key);
      onLooked(key);
      if (++count % SCAN_SLICE === 0) await sleep(SCAN_PAUSE_MS);
      if (this.#isClosed) return;
    }
  }

  #restoreKind(kind: string): void {
    for (const object of this.store.list(kind).items) {
      this.#setState(keyOf(object), undefined);
      this.#writer.markDirty(keyOf(object));
    }
  }

  #setState(key: ObjectKey, state: FileState | undefined): void {
    if (state) this.#states.set(idOf(key), state);
    else this.#states.delete(idOf(key));
    this.#states.setOrphaned(idOf(key), this.store.get(key) === undefined);
    this.#durable.note(idOf(key), state && toMark(state));
    // Soon, so that a crash does not cost a second reading of every file; later than any commit that would take it along.
    this.#noteTimer ??= setTimeout(() => {
      this.#noteTimer = undefined;
      this.#durable.flushNotes().catch(() => {});
    }, 500);
  }

  /** For a snapshot: objects are never changed in place, so references will do, and rows are made while they are written. */
  #view(): View {
    const objects = [...this.store.all()];
    const states = this.#states.freezeView();
    return {
      version: this.store.resourceVersion,
      count: objects.length,
      rows: rowsOf(objects, states),
      leftovers: this.#states.orphans().map(([id, state]) => [id, toMark(state)]),
      close: () => states.close(),
    };
  }

  #report(report: FileReport): void {
    if (this.#listeners.size === 0) this.#early?.push(report);
    for (const listener of this.#listeners) listener(report);
  }
}

function* rowsOf(objects: readonly KindObject[], states: FrozenStates): Iterable<SnapshotRow> {
  for (const object of objects) {
    const state = states.get(idOf(keyOf(object)));
    yield state ? { object, file: toMark(state) } : { object };
  }
}

function* missingFrom(ids: readonly string[], present: ReadonlySet<string>): Iterable<ObjectKey> {
  for (const id of ids) if (!present.has(id)) yield toKey(id);
}

function toKey(id: string): ObjectKey {
  const [kind = '', namespace = '', name = ''] = id.split('/');
  return { kind, namespace, name };
}
