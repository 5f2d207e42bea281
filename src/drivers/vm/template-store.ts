/**
 * The folder of templates that all homes of a user share. Nobody but us may look into it. A template gets its name when it is whole and on the disk, is never
 * changed then, and may go at any time: what machines have mapped are copies, in their homes (template-copies.ts).
 */
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { chmod, chown, mkdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { withFreeLock, withLock } from '#lib/file-lock.ts';
import { signalProcess } from '#lib/process-identity.ts';
import { syncPath } from '#lib/sync-path.ts';
import { isPresent } from '../local/directories.ts';
import { isOfHost } from '../local/launches.ts';
import { listPids, readCommandLine, readProcess } from '../local/processes.ts';
import { isUnfinished, removeCached } from './caches.ts';

/** What a template is: its memory, the rest of its state, the path of the image that it needs, and a name that no other one ever has. */
export const TEMPLATE_FILES = ['memory', 'state', 'image', 'made'] as const;

/** Each new version of agentiso has others. */
const UNUSED_MS = 14 * 24 * 3_600_000;

export interface Making {
  readonly key: string;
  /** Path of the root of its image. */
  readonly image: string;
  readonly signal: AbortSignal;
  /** Leaves the memory and the state in the folder. The mark is a word by which its processes are found, should we be killed. */
  readonly boot: (folder: string, mark: string) => Promise<void>;
}

export class TemplateStore {
  readonly #directory: string;
  readonly #lock: string;
  readonly #markPrefix: string;

  constructor(directory: string) {
    this.#directory = directory;
    this.#lock = `${directory}.lock`;
    this.#markPrefix = `agentiso-vm-template-${createHash('sha256').update(directory).digest('hex').slice(0, 8)}-`;
  }

  pathOf(key: string): string {
    return join(this.#directory, key);
  }

  has(key: string): boolean {
    return TEMPLATE_FILES.every((name) => existsSync(join(this.pathOf(key), name)));
  }

  /** The longest unused go first. */
  async used(key: string): Promise<void> {
    const now = new Date();
    await utimes(this.pathOf(key), now, now).catch(() => {});
  }

  /** One at a time, whoever makes it. False: somebody else has meanwhile. */
  async make({ key, image, signal, boot }: Making): Promise<boolean> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    return withLock(this.#lock, { signal }, async () => {
      if (this.has(key)) return false;
      await this.#removeLeftovers();
      const folder = this.pathOf(key);
      const unfinished = `${folder}.new`;
      try {
        await boot(unfinished, `${this.#markPrefix}${key}`);
        await finish(unfinished, image);
      } catch (error) {
        await rm(unfinished, { recursive: true, force: true });
        throw error;
      }
      await removeCached(folder);
      await rename(unfinished, folder);
      await syncPath(this.#directory);
      return true;
    });
  }

  /** One of these, by their names; one that was made anew since stays. */
  async discard(key: string, made: readonly string[]): Promise<void> {
    const name = await madeIn(this.pathOf(key));
    if (name !== undefined && made.includes(name)) await removeCached(this.pathOf(key));
  }

  /** What others were at when they died, templates of images that are gone, and those that nobody has used for long: of versions that are gone. */
  async sweep(): Promise<void> {
    // Who has never made one finds no folder of ours among his files.
    if (!existsSync(this.#directory)) return;
    // Whoever has the lock has swept.
    await withFreeLock(this.#lock, () => this.#removeLeftovers());
    await removeWithoutImage(this.#directory);
    for (const name of readdirSync(this.#directory).filter((each) => !isUnfinished(each))) {
      const folder = join(this.#directory, name);
      const usedMs = statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
      if (Date.now() - usedMs > UNUSED_MS) await removeCached(folder);
    }
  }

  /** Under the lock: what is unfinished has nobody who would finish it. */
  async #removeLeftovers(): Promise<void> {
    for (const pid of listPids()) {
      const words = readCommandLine(pid);
      const process = words.some((word) => word.startsWith(this.#markPrefix)) ? readProcess(pid) : undefined;
      if (process !== undefined && isOfHost(process)) signalProcess(process, 'SIGKILL');
    }
    const leftovers = readdirSync(this.#directory).filter(isUnfinished);
    for (const name of leftovers) await rm(join(this.#directory, name), { recursive: true, force: true });
  }
}

/** What was only needed to boot goes; the rest is root's, and on the disk. */
async function finish(folder: string, image: string): Promise<void> {
  await writeFile(join(folder, 'image'), image);
  await writeFile(join(folder, 'made'), randomUUID());
  const others = readdirSync(folder).filter((name) => !TEMPLATE_FILES.some((each) => each === name));
  for (const name of others) await rm(join(folder, name), { recursive: true, force: true });
  await chmod(folder, 0o700);
  await chown(join(folder, 'memory'), 0, 0);
  for (const name of TEMPLATE_FILES) await syncPath(join(folder, name));
  await syncPath(folder);
}

/** undefined: there is none. */
export async function madeIn(folder: string): Promise<string | undefined> {
  return readFile(join(folder, 'made'), 'utf8').catch(() => undefined);
}

/** Templates and copies of them: nobody can use them any more. */
export async function removeWithoutImage(directory: string): Promise<void> {
  for (const name of readdirSync(directory).filter((each) => !isUnfinished(each))) {
    const folder = join(directory, basename(name));
    const image = await readFile(join(folder, 'image'), 'utf8').catch(() => '');
    if (image === '' || !(await isPresent(image))) await removeCached(folder);
  }
}
