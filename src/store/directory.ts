/**
 * The directory store: HOME/resources holds a readable file per object, HOME/state the journal and snapshot that make writes durable
 * and starts fast. This file puts the parts together and brings files and journal into agreement at the start.
 */
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { KindObject, ObjectKey } from '#api/meta.ts';
import { keyOf } from '#api/meta.ts';
import { type Clock, systemClock } from '#lib/clock.ts';
import type { Logger } from '#lib/log.ts';
import type { Admission } from './change.ts';
import { type DirectoryLock, lockDirectory } from './disk/lock.ts';
import { DurableLog, type Recovered } from './disk/log.ts';
import { Folders } from './files/folders.ts';
import { FileIntake } from './files/intake.ts';
import { type FileKind, idOf, Paths } from './files/paths.ts';
import { readEdit, statOf } from './files/reading.ts';
import type { FileReport } from './files/report.ts';
import { restoreObject } from './files/restore.ts';
import { type FileMark, type FileState, fingerprintOf, isMark, isUntouched, markFingerprint, toMark } from './files/state.ts';
import { fileView } from './files/view.ts';
import { FileWriter } from './files/writer.ts';
import { type KindRules, Store } from './store.ts';

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
  readonly segmentBytes?: number;
  readonly checkpointBytes?: number;
}

/** Versions that might have been given out and were lost with the journal are never given out again. */
const VERSION_GAP = 100_000;
const SCAN_SLICE = 500;

export class DirectoryStore {
  readonly store: Store;
  readonly paths: Paths;
  readonly #lock: DirectoryLock;
  readonly #durable: DurableLog;
  readonly #states = new Map<string, FileState>();
  readonly #writer: FileWriter;
  readonly #intake: FileIntake;
  readonly #folders: Folders;
  readonly #kinds: readonly StoredKind[];
  readonly #listeners = new Set<(report: FileReport) => void>();
  /** Reports from the start, before anybody could listen. */
  #early: FileReport[] | undefined = [];
  #versions: Recovered['versions'] = new Map();
  #isScanning = false;
  #scanAgain = false;
  #isClosed = false;
  #noteTimer: NodeJS.Timeout | undefined;

  private constructor(options: DirectoryStoreOptions, lock: DirectoryLock) {
    const { home, kinds, admission, log, clock = systemClock, historyLimit, segmentBytes, checkpointBytes } = options;
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
    this.#durable = durable;
    this.paths = new Paths(join(home, 'resources'), withFiles);
    this.store = new Store({ kinds, admission, persistence: durable, clock, ...(historyLimit === undefined ? {} : { historyLimit }) });
    this.#writer = new FileWriter({
      paths: this.paths,
      temporary,
      states: this.#states,
      current: (key) => this.store.get(key),
      version: () => this.store.resourceVersion,
      onState: (key, state) => this.#setState(key, state),
      onDisplaced: (key, text, base) => this.#intake.displaced(key, text, base),
      onSurprise: (key) => this.#intake.examine(key),
      onFolder: ({ kind, namespace }) => this.#folders.watchNamespace(kind, namespace),
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
      log,
    });
    this.#folders = new Folders({
      paths: this.paths,
      onFile: (key) => this.#intake.examine(key),
      onRescan: () => void this.#scan(),
      onLost: (kind) => this.#restoreKind(kind),
      log,
    });
    durable.snapshotFrom(() => ({
      version: this.store.resourceVersion,
      rows: [...this.store.all()].map((object) => this.#rowOf(object)),
    }));
    this.#start(recovered, options);
  }

  /** Takes the lock, reads what is there, and resolves when files changed while nobody was running are taken in. */
  static async open(options: DirectoryStoreOptions): Promise<DirectoryStore> {
    mkdirSync(join(options.home, 'state'), { recursive: true, mode: 0o700 });
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
      await this.#intake.idle();
      await this.#writer.flushed();
    } while (this.#writer.pending > 0);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#folders.close();
    await this.#intake.close();
    await this.store.close();
    await this.#writer.close();
    clearTimeout(this.#noteTimer);
    try {
      await this.#durable.close();
    } finally {
      this.#lock.release();
    }
  }

  #start(recovered: Recovered, options: DirectoryStoreOptions): void {
    this.#versions = recovered.versions;
    const known = new Set(options.kinds.map(({ kind }) => kind));
    const objects = new Map([...recovered.objects].filter(([, object]) => known.has(object.kind)));
    this.#folders.start();
    const unread: ObjectKey[] = [];
    const present = new Set<string>();
    for (const key of this.#folders.files()) {
      present.add(idOf(key));
      if (!this.#recognise(key, objects.get(idOf(key)), recovered)) unread.push(key);
    }
    const restored = recovered.isIncomplete ? this.#restore(unread, objects, options) : 0;
    const version = Math.max(recovered.version, restored) + (recovered.isIncomplete && restored > 0 ? VERSION_GAP : 0);
    this.store.load(objects.values(), version);
    for (const { kind } of this.#kinds) {
      this.store.watch(kind, { resourceVersion: String(version) }, ({ object }) => this.#writer.markDirty(keyOf(object)));
    }
    for (const key of unread) this.#intake.examine(key);
    for (const object of objects.values()) this.#checkFile(object, present, recovered);
  }

  /** True when the file is as we left it. */
  #recognise(key: ObjectKey, object: KindObject | undefined, { marks, versions }: Recovered): boolean {
    const id = idOf(key);
    const mark = marks.get(id);
    const stat = statOf(this.paths.fileOf(key));
    if (!isMark(mark) || !stat || !isUntouched(markFingerprint(mark), fingerprintOf(stat))) return false;
    const shows = String(mark[0]) === object?.metadata.resourceVersion ? object : versionIn(versions.get(id), mark[0]);
    if (!shows) return false;
    const text = mark[5] === 1 ? readFileSync(this.paths.fileOf(key), 'utf8') : undefined;
    this.#states.set(id, toState(mark, shows, text));
    return true;
  }

  /** Objects that only their files still know are taken back as they are, status and uid included. */
  #restore(unread: ObjectKey[], objects: Map<string, KindObject>, { admission }: DirectoryStoreOptions): number {
    let newest = 0;
    for (const key of unread) {
      if (objects.has(idOf(key))) continue;
      const reading = readEdit(this.paths.fileOf(key));
      const object = reading.is === 'text' ? restoreObject(key, reading.text, admission) : undefined;
      if (!object) continue;
      objects.set(idOf(key), object);
      newest = Math.max(newest, Number(object.metadata.resourceVersion));
      this.#report({
        type: 'restored',
        key,
        reason: 'Restored',
        message: `${key.name}.yaml: restored from its file, the journal had lost it`,
      });
    }
    return newest;
  }

  /** An object whose file is not there: deleted by hand while nobody ran, or never written, or lost with the power. */
  #checkFile(object: KindObject, present: ReadonlySet<string>, { marks, unsyncedMarks, sameBoot }: Recovered): void {
    const key = keyOf(object);
    const id = idOf(key);
    if (!this.#kinds.some(({ kind }) => kind === object.kind)) return;
    const state = this.#states.get(id);
    if (state && state.version !== Number(object.metadata.resourceVersion)) this.#writer.markDirty(key);
    if (present.has(id)) return;
    const mark = marks.get(id);
    const isDeleted = isMark(mark) && (sameBoot || !unsyncedMarks.has(id));
    if (!isDeleted) {
      this.#writer.markDirty(key);
      return;
    }
    this.#states.set(id, toState(mark, object, undefined));
    this.#intake.examine(key);
  }

  /** Looks at every file and every known object; what is as it was costs one stat. */
  async #scan(): Promise<void> {
    if (this.#isScanning) {
      this.#scanAgain = true;
      return;
    }
    this.#isScanning = true;
    try {
      do {
        this.#scanAgain = false;
        await this.#scanOnce();
      } while (this.#scanAgain && !this.#isClosed);
    } finally {
      this.#isScanning = false;
    }
  }

  async #scanOnce(): Promise<void> {
    let count = 0;
    const look = async (key: ObjectKey) => {
      if (this.#isClosed) return;
      this.#intake.examine(key);
      if (++count % SCAN_SLICE === 0) await new Promise((resolve) => setImmediate(resolve));
    };
    for (const key of this.#folders.files()) await look(key);
    for (const id of [...this.#states.keys()]) {
      const [kind = '', namespace = '', name = ''] = id.split('/');
      await look({ kind, namespace, name });
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
    this.#durable.note(idOf(key), state && toMark(state));
    // Soon, so that a crash does not cost a second reading of every file; later than any commit that would take it along.
    this.#noteTimer ??= setTimeout(() => {
      this.#noteTimer = undefined;
      this.#durable.flushNotes().catch(() => {});
    }, 500);
  }

  #rowOf(object: KindObject) {
    const state = this.#states.get(idOf(keyOf(object)));
    return state ? { object, file: toMark(state) } : { object };
  }

  #report(report: FileReport): void {
    if (this.#listeners.size === 0) this.#early?.push(report);
    for (const listener of this.#listeners) listener(report);
  }
}

function toState([version, inode, size, modifiedMs, checksum]: FileMark, shows: KindObject, text: string | undefined): FileState {
  const state = { version, inode, size, modifiedMs, checksum, shows: fileView(shows) };
  return text === undefined ? state : { ...state, text };
}

function versionIn(versions: readonly KindObject[] | undefined, version: number): KindObject | undefined {
  return versions?.find(({ metadata }) => metadata.resourceVersion === String(version));
}
