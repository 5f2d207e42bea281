/**
 * Durability for the store: journal in front, snapshot behind. A commit is one append; when the journal has outgrown the last
 * snapshot a new one is taken at a moment when journal and memory agree.
 */
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KindObject, ObjectKey } from '#api/meta.ts';
import { keyOf } from '#api/meta.ts';
import { isObject } from '#lib/json.ts';
import type { Logger } from '#lib/log.ts';
import { syncFileSystem } from '#lib/native.ts';
import type { Change, Persistence } from '../change.ts';
import { Journal, replayJournal } from './journal.ts';
import { FORMAT, readSnapshot, type SnapshotRow, writeSnapshot } from './snapshot.ts';

export interface LogOptions {
  readonly directory: string;
  readonly log: Logger;
  readonly segmentBytes?: number;
  /** Journal bytes after which a snapshot is due, unless the last snapshot was larger. */
  readonly checkpointBytes?: number;
}

export interface Recovered {
  readonly objects: ReadonlyMap<string, KindObject>;
  /** What was last known of each object's file, as encoded by the files room. */
  readonly marks: ReadonlyMap<string, unknown>;
  /** Marks since the last snapshot: true to the files only if the machine did not lose power since. */
  readonly unsyncedMarks: ReadonlySet<string>;
  /** Versions that the journal still has, by object: what an old file may have been written from. */
  readonly versions: ReadonlyMap<string, readonly KindObject[]>;
  readonly version: number;
  /** Nothing was there at all, or parts were damaged: files may know more than the journal. */
  readonly isIncomplete: boolean;
  readonly sameBoot: boolean;
}

interface Cut {
  readonly rows: SnapshotRow[];
  readonly version: number;
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
  #rows: () => { rows: SnapshotRow[]; version: number } = () => ({ rows: [], version: 0 });

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
  snapshotFrom(rows: () => { rows: SnapshotRow[]; version: number }): void {
    this.#rows = rows;
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
    const { rows, version, firstSegment } = await this.#cut();
    await syncFiles(this.#directory);
    this.#snapshotBytes = await writeSnapshot(this.#snapshotPath(), { format: FORMAT, resourceVersion: version, firstSegment }, rows);
    await this.#journal.dropBefore(firstSegment);
  }

  /** Between two commits everything in the journal is in memory too: that is where the snapshot ends and a new segment begins. */
  #cut(): Promise<Cut> {
    return new Promise((resolve, reject) => {
      this.#pendingCut = () => {
        this.#pendingCut = undefined;
        const taken = this.#rows();
        this.#bytesSinceCheckpoint = 0;
        const { segment, sealed } = this.#journal.rotate();
        sealed.then(() => resolve({ ...taken, firstSegment: segment }), reject);
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

function toRecord({ type, object, key, resourceVersion }: Change): string {
  if (type === 'put') return `{"put":${JSON.stringify(object)}}`;
  return JSON.stringify({ delete: key, resourceVersion });
}

function idOf({ kind, namespace, name }: ObjectKey): string {
  return `${kind}/${namespace}/${name}`;
}

function recover(directory: string, log: Logger) {
  const objects = new Map<string, KindObject>();
  const marks = new Map<string, unknown>();
  const versions = new Map<string, KindObject[]>();
  const unsyncedMarks = new Set<string>();
  const { header, damagedRows, bytes } = readSnapshot(join(directory, 'snapshot.jsonl'), ({ object, file }) => {
    const id = idOf(keyOf(object));
    objects.set(id, object);
    if (file !== undefined) marks.set(id, file);
  });
  const { records, damaged, lastSegment, lastBytes } = replayJournal(directory, header?.firstSegment ?? 1);
  let version = header?.resourceVersion ?? 0;
  for (const record of records) version = Math.max(version, applyRecord(record, { objects, marks, versions, unsyncedMarks }));
  for (const line of damaged) log.error({ line }, 'a damaged journal record was set aside');
  if (damagedRows > 0) log.error({ damagedRows }, 'damaged snapshot rows; their objects are taken from the files');
  const isIncomplete = damagedRows > 0 || damaged.length > 0 || (header === undefined && records.length === 0);
  const recovered: Recovered = { objects, marks, unsyncedMarks, versions, version, isIncomplete, sameBoot: noteBoot(directory) };
  return { recovered, lastSegment, lastBytes, snapshotBytes: bytes };
}

interface Replaying {
  readonly objects: Map<string, KindObject>;
  readonly marks: Map<string, unknown>;
  readonly versions: Map<string, KindObject[]>;
  readonly unsyncedMarks: Set<string>;
}

/** Returns the version the record carries, 0 for none. */
function applyRecord(record: unknown, { objects, marks, versions, unsyncedMarks }: Replaying): number {
  if (!isObject(record)) return 0;
  if (typeof record['file'] === 'string') {
    if (record['mark'] === null) marks.delete(record['file']);
    else marks.set(record['file'], record['mark']);
    unsyncedMarks.add(record['file']);
    return 0;
  }
  if (isObject(record['delete'])) {
    objects.delete(idOf(record['delete'] as unknown as ObjectKey));
    return Number(record['resourceVersion']);
  }
  const object = record['put'] as KindObject;
  const id = idOf(keyOf(object));
  const before = objects.get(id);
  const known = versions.get(id) ?? (before ? [before] : []);
  versions.set(id, [...known, object]);
  objects.set(id, object);
  return Number(object.metadata.resourceVersion);
}

/** Whether the machine has been up since the last time: if not, files may be older than what we know of them. */
function noteBoot(directory: string): boolean {
  const path = join(directory, 'boot');
  const source = '/proc/sys/kernel/random/boot_id';
  const boot = existsSync(source) ? readFileSync(source, 'utf8') : '';
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
