/**
 * Programs for machines, which cannot share a directory with this one: a folder of the tool directory as a disk that nobody writes to, made once
 * per installation and used by any number of machines. Its size is one of few, so that a template that was made with one fits others.
 */
import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { chmod, lstat, mkdir, readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { WaitingError } from '#lib/errors.ts';
import type { Logger } from '#lib/log.ts';
import { isPresent } from '../local/directories.ts';
import { type Caches, evictCaches } from './caches.ts';
import { makeFileSystem } from './disk.ts';

export interface ToolDisk {
  readonly path: string;
  readonly gib: number;
}

export interface ToolDisksOptions {
  readonly directory: string;
  readonly log: Logger;
  /** Which they are part of. Absent: nobody counts them. */
  readonly caches?: Caches;
}

interface Measure {
  readonly files: number;
  readonly bytes: number;
  /** Changes with whatever changes in the folder. */
  readonly fingerprint: string;
}

const BLOCK = 4_096;
const MIB = 1024 ** 2;
const GIB = 1024 ** 3;
const LOOK_MS = 250;

export class ToolDisks {
  readonly #directory: string;
  readonly #log: Logger;
  readonly #caches: Caches | undefined;
  /** By path: being made, or why it could not be. */
  readonly #making = new Map<string, { failure?: unknown }>();

  constructor({ directory, log, caches }: ToolDisksOptions) {
    this.#directory = directory;
    this.#caches = caches;
    this.#log = log;
  }

  /** Throws WaitingError while it is being made, and once why it could not be: the next one who asks has it tried again. */
  async find(tools: string, folder: string): Promise<ToolDisk> {
    const path = join(this.#directory, `${folder}~${await identify(join(tools, folder))}.ext4`);
    const making = this.#making.get(path);
    if (making?.failure !== undefined) {
      this.#making.delete(path);
      throw making.failure;
    }
    if (making === undefined && (await isPresent(path))) return this.#used(path);
    if (making === undefined && !this.#making.has(path)) void this.#make(tools, folder, path);
    throw new WaitingError('ToolsUnderWay', `a disk with ${folder} is being made, once for all machines`, LOOK_MS);
  }

  async #used(path: string): Promise<ToolDisk> {
    const now = new Date();
    await utimes(path, now, now);
    return { path, gib: (await stat(path)).size / GIB };
  }

  async #make(tools: string, folder: string, path: string): Promise<void> {
    this.#making.set(path, {});
    try {
      await mkdir(this.#directory, { recursive: true, mode: 0o711 });
      await this.#sweep(tools, folder);
      const { files, bytes } = await measure(join(tools, folder));
      await makeFileSystem({
        ...{ path, bytes: sizeFor(bytes) * GIB, folders: [folder], bound: { source: join(tools, folder), folder } },
        options: ['-O', '^has_journal', '-N', String(files + 1_024), '-E', 'lazy_itable_init=1,nodiscard,root_owner=0:0'],
      });
      await chmod(path, 0o444);
      if (this.#caches) await evictCaches(this.#caches, path);
      this.#making.delete(path);
      this.#log.info({ folder, files }, 'disk of tools made');
    } catch (failure) {
      this.#making.set(path, { failure });
    }
  }

  /** Of installations that are gone, and those whose place this one takes. What a machine has open stays until it ends. */
  async #sweep(tools: string, folder: string): Promise<void> {
    for (const name of await readdir(this.#directory)) {
      const [of = ''] = name.split('~');
      const path = join(this.#directory, name);
      const isBeingMade = [...this.#making.keys()].some((each) => path.startsWith(each));
      if (!isBeingMade && (of === folder || !(await isPresent(join(tools, of))))) await rm(path, { recursive: true, force: true });
    }
  }
}

/** Pure. In GiB: room for the files, for what describes them, and some more. */
export function sizeFor(bytes: number): number {
  const needed = bytes * 1.1 + 64 * MIB;
  let gib = 1;
  while (gib * GIB < needed) gib *= 2;
  return gib;
}

/** What is installed gets its name when it is whole, and is not changed then; in the others people write as they like. */
async function identify(folder: string): Promise<string> {
  const fingerprint = folder.includes('@') ? factsOf(await lstat(folder, { bigint: true })) : (await measure(folder)).fingerprint;
  return createHash('sha256').update(fingerprint).digest('hex').slice(0, 16);
}

async function measure(folder: string): Promise<Measure> {
  const hash = createHash('sha256');
  let files = 0;
  let bytes = 0;
  const walk = async (path: string): Promise<void> => {
    const found = await lstat(path, { bigint: true });
    files += 1;
    bytes += Math.ceil(Number(found.size) / BLOCK) * BLOCK;
    hash.update(`${path}\0${factsOf(found)}\n`);
    if (!found.isDirectory()) return;
    for (const name of (await readdir(path)).sort()) await walk(join(path, name));
  };
  await walk(folder);
  return { files, bytes, fingerprint: hash.digest('hex') };
}

function factsOf({ dev, ino, mode, size, ctimeNs }: BigIntStats): string {
  return [dev, ino, mode, size, ctimeNs].join(' ');
}
