/**
 * Durability for the store: journal in front, snapshot behind. A commit is one append; when the journal has outgrown the last
 * snapshot a new one is taken at a moment when journal and memory agree.
 */
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KindObject, ObjectKey } from '#api/meta.ts';
import { keyOf } from '#api/meta.ts';
import { isObject } from '#lib/json.ts';
import type { Logger } from '#lib/log.ts';
import { syncFileSystem } from '#lib/native.ts';
import { shareJson } from '#lib/share.ts';
import type { Change, Persistence } from '../change.ts';
import { idOf } from '../files/paths.ts';
import { Journal, replayJournal } from './journal.ts';
import { mustBeFile } from './must-be-file.ts';
import { FORMAT, readSnapshot, type SnapshotRow, writeSnapshot } from './snapshot.ts';

export interface LogOptions {
  readonly directory: string;
  readonly log: Logger;
  readonly segmentBytes?: number;
  /** Journal bytes after which a snapshot is due, unless the last snapshot was larger. */
  readonly checkpointBytes?: number;
}

export interface Recovered {
  /** By id; the caller's to complete from the files. */
  readonly objects: Map<string, KindObject>;
  /** What was last known of each object's file, as encoded by the files room. */
  readonly marks: ReadonlyMap<string, unknown>;
  /** Marks since the last snapshot: true to the files only if the machine did not lose power since. */
  readonly unsyncedMarks: ReadonlySet<string>;
  /** Versions that the journal still has, by object: what an old file may have been written from. */
  readonly versions: ReadonlyMap<string, readonly KindObject[]>;
  /** Deleted since their file was last known: a file that is there is left over, one that is missing was not removed by a person. */
  readonly orphaned: ReadonlySet<string>;
  readonly version: number;
  /** Nothing was there at all, or parts were damaged: files may know more than the journal. */
  readonly isIncomplete: boolean;
  readonly sameBoot: boolean;
}

/** Everything there is at one moment. Taken in the middle of the store's work, so taking it must cost next to nothing. */
export interface View {
  /** Made one by one while they are written, of the state there was when the view was taken. To be gone through once. */
  readonly rows: Iterable<SnapshotRow>;
  readonly count: number;
  readonly version: number;
  /** Marks of files whose objects are gone already. */
  readonly leftovers: readonly (readonly [id: string, mark: unknown])[];
  /** Nothing more is asked of it. */
  close(): void;
}

/** Looking for what neighbours have in common takes a twentieth of a start: worth it where memory is what matters. */
const SHARE_FROM_BYTES = 32 * 1024 * 1024;

interface Cut {
  readonly view: View;
  readonly firstSegment: number;
}

const DEFAULT_CHECKPOINT_BYTES = 16 * 1024 * 1024;

export class DurableLog implements Persistence {
  readonly #directory: string;
  readonly #log: Logger;
  readonly #journal: Journal;
  readonly #checkpointBytes: number;
  #bytesSinceCheckpoint = 0;
  #snapshotBytes: number;
  #appending = 0;
  #checkpoint: Promise<void> | undefined;
  /** Runs when no append is under way and the store has published all that was committed. */
  #pendingCut: (() => void) | undefined;
  #view: () => View = () => ({ rows: [], count: 0, version: 0, leftovers: [], close() {} });

  private constructor(options: LogOptions, journal: Journal, snapshotBytes: number) {
    this.#directory = options.directory;
    this.#log = options.log;
    this.#checkpointBytes = options.checkpointBytes ?? DEFAULT_CHECKPOINT_BYTES;
    this.#journal = journal;
    this.#snapshotBytes = snapshotBytes;
  }

  static open(options: LogOptions): { log: DurableLog; recovered: Recovered } {
    const { directory, segmentBytes } = options;
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const { recovered, lastSegment, lastBytes, snapshotBytes } = recover(directory, options.log);
    const journal = new Journal({ directory, ...(segmentBytes === undefined ? {} : { segmentBytes }) }, lastSegment, lastBytes);
    return { log: new DurableLog(options, journal, snapshotBytes), recovered };
  }

  /** Where a snapshot gets its rows: a consistent view, taken in one go. */
  snapshotFrom(view: () => View): void {
    this.#view = view;
  }

  async commit(changes: readonly Change[]): Promise<void> {
    this.#cutIfDue();
    const records = changes.map(toRecord);
    for (const record of records) this.#bytesSinceCheckpoint += record.length;
    await this.#append(records);
    if (this.#bytesSinceCheckpoint > Math.max(this.#checkpointBytes, this.#snapshotBytes)) this.#startCheckpoint();
  }

  /** Remembered with the next commit; losing it costs a second look at the file and nothing else. */
  note(id: string, mark: unknown): void {
    this.#journal.note(JSON.stringify({ file: id, mark: mark ?? null }));
  }

  /** Puts notes on disk that no commit has taken along. */
  async flushNotes(): Promise<void> {
    await this.#append([]);
  }

  async #append(records: readonly string[]): Promise<void> {
    this.#appending++;
    try {
      await this.#journal.append(records);
    } finally {
      this.#appending--;
      if (this.#pendingCut) this.#cutSoon();
    }
  }

  /** A snapshot of everything, unless nothing happened since the last one. */
  async checkpoint(): Promise<void> {
    this.#startCheckpoint();
    await this.#checkpoint;
  }

  async close(): Promise<void> {
    await this.#checkpoint;
    if (this.#bytesSinceCheckpoint > 0) await this.checkpoint();
    await this.#journal.close();
  }

  #startCheckpoint(): void {
    this.#checkpoint ??= this.#takeSnapshot()
      .catch((error: unknown) => {
        // The journal still holds everything; the next commit past the limit tries again.
        this.#log.warn({ err: error }, 'snapshot could not be written');
      })
      .finally(() => {
        this.#checkpoint = undefined;
      });
  }

  async #takeSnapshot(): Promise<void> {
    const { view, firstSegment } = await this.#cut();
    try {
      // Before the segments that told of their end are dropped.
      if (view.leftovers.length > 0) await this.flushNotes();
      await syncFiles(this.#directory);
      const header = { format: FORMAT, resourceVersion: view.version, firstSegment, rows: view.count };
      this.#snapshotBytes = await writeSnapshot(this.#snapshotPath(), header, view.rows);
    } finally {
      view.close();
    }
    await this.#journal.dropBefore(firstSegment);
  }

  /** Between two commits everything in the journal is in memory too: that is where the snapshot ends and a new segment begins. */
  #cut(): Promise<Cut> {
    return new Promise((resolve, reject) => {
      this.#pendingCut = () => {
        this.#pendingCut = undefined;
        const view = this.#view();
        for (const [id, mark] of view.leftovers) this.note(id, mark);
        this.#bytesSinceCheckpoint = 0;
        const { segment, sealed } = this.#journal.rotate();
        sealed.then(
          () => resolve({ view, firstSegment: segment }),
          (error: unknown) => {
            view.close();
            reject(error);
          },
        );
      };
      this.#cutSoon();
    });
  }

  /** A turn of the event loop later the store has published whatever was just committed. */
  #cutSoon(): void {
    setImmediate(() => this.#cutIfDue());
  }

  #cutIfDue(): void {
    if (this.#appending === 0) this.#pendingCut?.();
  }

  #snapshotPath(): string {
    return join(this.#directory, 'snapshot.jsonl');
  }
}

function toRecord({ type, json, key, resourceVersion }: Change): string {
  if (type === 'put') return `{"put":${json}}`;
  return JSON.stringify({ delete: key, resourceVersion });
}

function recover(directory: string, log: Logger) {
  const objects = new Map<string, KindObject>();
  const marks = new Map<string, unknown>();
  const versions = new Map<string, KindObject[]>();
  const unsyncedMarks = new Set<string>();
  const orphaned = new Set<string>();
  const path = join(directory, 'snapshot.jsonl');
  const isLarge = (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > SHARE_FROM_BYTES;
  let last: KindObject | undefined;
  let version = 0;
  const { header, damagedRows, bytes } = readSnapshot(path, ({ object, file }) => {
    const id = idOf(keyOf(object));
    last = isLarge ? shareJson(object, last) : object;
    objects.set(id, last);
    if (file !== undefined) marks.set(id, file);
    version = Math.max(version, Number(object.metadata.resourceVersion));
  });
  const { records, damaged, lastSegment, lastBytes } = replayJournal(directory, header?.firstSegment ?? 1);
  version = Math.max(version, header?.resourceVersion ?? 0);
  for (const record of records) version = Math.max(version, applyRecord(record, { objects, marks, versions, unsyncedMarks, orphaned }));
  for (const line of damaged) log.error({ line }, 'a damaged journal record was set aside');
  if (damagedRows > 0) log.error({ damagedRows }, 'damaged snapshot rows; their objects are taken from the files');
  const isIncomplete = damagedRows > 0 || damaged.length > 0 || (header === undefined && records.length === 0);
  const sameBoot = noteBoot(directory);
  const recovered: Recovered = { objects, marks, unsyncedMarks, versions, orphaned, version, isIncomplete, sameBoot };
  return { recovered, lastSegment, lastBytes, snapshotBytes: bytes };
}

interface Replaying {
  readonly objects: Map<string, KindObject>;
  readonly marks: Map<string, unknown>;
  readonly versions: Map<string, KindObject[]>;
  readonly unsyncedMarks: Set<string>;
  readonly orphaned: Set<string>;
}

/** Returns the version the record carries, 0 for none. */
function applyRecord(record: unknown, replaying: Replaying): number {
  if (!isObject(record)) return 0;
  if (typeof record['file'] === 'string') {
    applyMark(record['file'], record['mark'], replaying);
    return 0;
  }
  const { objects, orphaned } = replaying;
  if (isObject(record['delete'])) {
    const id = idOf(record['delete'] as unknown as ObjectKey);
    remember(id, undefined, replaying);
    objects.delete(id);
    orphaned.add(id);
    return Number(record['resourceVersion']);
  }
  const object = record['put'] as KindObject;
  const id = idOf(keyOf(object));
  remember(id, object, replaying);
  objects.set(id, object);
  return Number(object.metadata.resourceVersion);
}

function applyMark(id: string, mark: unknown, { objects, marks, versions, unsyncedMarks, orphaned }: Replaying): void {
  unsyncedMarks.add(id);
  if (mark === null) {
    // We removed the file: whatever is there now was put there since.
    marks.delete(id);
    versions.delete(id);
    return;
  }
  marks.set(id, mark);
  if (objects.has(id)) orphaned.delete(id);
  else orphaned.add(id);
}

/** The state before counts too: it may be that of the snapshot, and the file may show it still. */
function remember(id: string, object: KindObject | undefined, { objects, versions }: Replaying): void {
  const before = objects.get(id);
  const known = versions.get(id) ?? (before ? [before] : []);
  versions.set(id, object ? [...known, object] : known);
}

/** Whether the machine has been up since the last time: if not, files may be older than what we know of them. */
function noteBoot(directory: string): boolean {
  const path = join(directory, 'boot');
  const source = '/proc/sys/kernel/random/boot_id';
  const boot = existsSync(source) ? readFileSync(source, 'utf8') : '';
  if (existsSync(path)) mustBeFile(path);
  const last = existsSync(path) ? readFileSync(path, 'utf8') : undefined;
  if (last !== boot) writeFileSync(path, boot, { mode: 0o600 });
  return last === undefined || (last === boot && boot !== '');
}

async function syncFiles(directory: string): Promise<void> {
  const fd = openSync(directory, 'r');
  try {
    await syncFileSystem(fd);
  } finally {
    closeSync(fd);
  }
}
