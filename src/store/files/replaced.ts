/**
 * Files in the making and files just replaced, in a folder of our own. A replaced file may still be open in somebody's editor:
 * it is kept until nobody has it open, and what they wrote into it is handed over. One that nobody has open is written to again
 * instead of making a new one, which on a busy file system costs ten times as much.
 */
import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { ObjectKey } from '#api/meta.ts';
import { isOnlyHandle } from '#lib/native.ts';
import { heldPath } from './held.ts';
import { checksumOf, type FileState, type Fingerprint, fingerprintOf, isUntouched } from './state.ts';

/** A person's text was where we wrote to; `was` is what we had written there before. Call `taken` when the text is safe elsewhere. */
export type OnText = (key: ObjectKey, text: string, was: FileState, taken: () => void) => void;

interface Held {
  readonly key: ObjectKey;
  readonly path: string;
  readonly was: FileState;
  readonly sinceMs: number;
}

const MAX_SPARES = 64;
/** Where the file system cannot tell who has a file open, a replaced one is watched for so long. */
const WATCH_MS = 2_000;
const NO_FOLLOW = constants.O_RDWR | constants.O_NOFOLLOW;

export class ReplacedFiles {
  readonly #folder: string;
  readonly #heldFolder: string;
  readonly #onText: OnText;
  readonly #spares: string[] = [];
  #held: Held[] = [];
  #sequence = 0;

  constructor(folder: string, heldFolder: string, onText: OnText) {
    this.#folder = folder;
    this.#heldFolder = heldFolder;
    this.#onText = onText;
  }

  /** Replaced files that somebody still has open. */
  get heldCount(): number {
    return this.#held.length;
  }

  newPath(): string {
    this.#sequence++;
    return join(this.#folder, `${process.pid}-${this.#sequence}`);
  }

  /** A file with this text, not yet in its place. The fingerprint is taken before anybody can touch it. */
  write(text: string): { readonly path: string; readonly fingerprint: Fingerprint } {
    const spare = this.#spares.pop();
    const path = spare ?? this.newPath();
    const fd = openSync(path, spare === undefined ? 'wx' : 'r+', 0o600);
    try {
      // The whole text or an error: a disk that fills up takes a part without complaint.
      writeFileSync(fd, text);
      if (spare !== undefined) ftruncateSync(fd, Buffer.byteLength(text));
      return { path, fingerprint: fingerprintOf(fstatSync(fd)) };
    } catch (error) {
      rmSync(path, { force: true });
      throw error;
    } finally {
      closeSync(fd);
    }
  }

  /** Takes over a file that was replaced; `was` is what it should be if nobody else wrote to it. */
  add(key: ObjectKey, path: string, was: FileState): void {
    const held = { key, path, was, sinceMs: Date.now() };
    if (!this.#settle(held)) this.#held.push({ ...held, path: this.#keep(held) });
  }

  /** Looks again at the ones somebody had open. */
  review(): void {
    if (this.#held.length > 0) this.#held = this.#held.filter((held) => !this.#settle(held));
  }

  /** The last look: texts that are not ours go to `onText` at once, whole or not. */
  close(onText: OnText): void {
    for (const { key, path, was } of this.#held.splice(0)) {
      const text = editIn(path, was);
      if (text === undefined) rmSync(path);
      else onText(key, text, was, () => rmSync(path));
    }
    for (const path of this.#spares.splice(0)) rmSync(path, { force: true });
  }

  /** True when the file is dealt with. */
  #settle({ key, path, was, sinceMs }: Held): boolean {
    const fd = openPlain(path);
    if (fd === undefined) {
      rmSync(path, { recursive: true });
      return true;
    }
    try {
      const isFree = isOnlyHandle(fd);
      if (isFree === false || (isFree === undefined && Date.now() - sinceMs < WATCH_MS)) return false;
      const stat = fstatSync(fd);
      const isOurs = isUntouched(was, fingerprintOf(stat));
      if (isOurs && isFree && isPrivate(stat) && this.#spares.length < MAX_SPARES) {
        this.#spares.push(path);
        return true;
      }
      // Through this handle: the lease on it would hold up another open of the file, ours too.
      const text = isOurs ? undefined : editIn(fd, was);
      if (text === undefined) rmSync(path);
      else {
        const kept = this.#keep({ key, path, was });
        this.#onText(key, text, was, () => rmSync(kept));
      }
      return true;
    } finally {
      closeSync(fd);
    }
  }

  /** Where a crash leaves it. */
  #keep({ key, path, was }: Pick<Held, 'key' | 'path' | 'was'>): string {
    if (dirname(path) === this.#heldFolder) return path;
    const kept = heldPath(this.#heldFolder, key, was.checksum, basename(path));
    renameSync(path, kept);
    return kept;
  }
}

/** undefined for a link or a folder, which no editor leaves and whose text is not in this directory. */
function openPlain(path: string): number | undefined {
  try {
    return openSync(path, NO_FOLLOW);
  } catch (error) {
    if (lstatSync(path).isFile()) throw error;
    return undefined;
  }
}

/** undefined when the content is what we wrote. */
function editIn(file: string | number, was: FileState): string | undefined {
  const text = readFileSync(file, 'utf8');
  return checksumOf(text) === was.checksum ? undefined : text;
}

/** As we make files, and under no other name: a file that a person saved or linked elsewhere is not written to again. */
function isPrivate({ mode, nlink }: Stats): boolean {
  return (mode & 0o777) === 0o600 && nlink === 1;
}
