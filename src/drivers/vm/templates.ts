/**
 * Machines that have booted once and stand still for ever: a workspace begins as a copy of one in the time it takes to map its memory. Its
 * guest has no identity and has heard no secret. One per image, QEMU, size and set of devices, in a folder of the driver's own.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { chmod, chown, mkdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { connectGuest } from '#guest/client.ts';
import { execute } from '#lib/execute.ts';
import type { Logger } from '#lib/log.ts';
import { signalProcess } from '#lib/process-identity.ts';
import { timeLimit } from '#lib/time-limit.ts';
import { isPresent } from '../local/directories.ts';
import { isOfHost } from '../local/launches.ts';
import { listPids, readCommandLine, readProcess } from '../local/processes.ts';
import { TOOL_PATH } from '../sandbox/args.ts';
import type { MachinePlan } from './args.ts';
import { withBareMachine } from './boot.ts';
import { type Caches, evictCaches } from './caches.ts';
import type { Machine } from './machine.ts';
import { saveState } from './migration.ts';
import type { VmSupport } from './support.ts';

export interface TemplateImage {
  readonly hash: string;
  readonly kernel: string;
  readonly initrd: string;
  readonly root: string;
}

export interface TemplateKind extends MachinePlan {
  readonly diskGiB: number;
  readonly image: TemplateImage;
}

export interface TemplatesOptions {
  readonly directory: string;
  readonly support: VmSupport;
  readonly log: Logger;
  /** Which they are part of. */
  readonly caches: Caches;
}

export interface TemplateFiles {
  readonly memory: string;
  readonly state: string;
}

const BOOT_MS = 180_000;
const SAVE_MS = 30_000;
const REHEARSALS = 8;
const FAILURES = 2;

/** Pure. A copy needs exactly what the template was: whatever tells two machines apart is in it. */
export function templateKey({ image, diskGiB, ...plan }: TemplateKind, version: string): string {
  const { hash, kernel, initrd } = image;
  const { memory: _, ...rest } = plan;
  return createHash('sha256')
    .update(JSON.stringify([2, version, hash, kernel, initrd, diskGiB, rest]))
    .digest('hex')
    .slice(0, 32);
}

export class Templates {
  readonly #options: TemplatesOptions;
  readonly #markPrefix: string;
  readonly #swept: Promise<void>;
  #making: Promise<void> = Promise.resolve();
  readonly #wanted = new Set<string>();
  /** In a row, by folder. */
  readonly #failures = new Map<string, number>();
  readonly #closing = new AbortController();

  constructor(options: TemplatesOptions) {
    this.#options = options;
    this.#markPrefix = `agentiso-vm-template-${createHash('sha256').update(options.directory).digest('hex').slice(0, 8)}-`;
    this.#swept = this.#sweep().catch((error: unknown) => options.log.warn({ err: error }, 'templates could not be swept'));
  }

  /** For machines of `uid`: their copies share its pages, and it is theirs to write, because QEMU opens no memory that it may not write. */
  async find(kind: TemplateKind, uid: number): Promise<TemplateFiles | undefined> {
    await this.#swept;
    const folder = this.#folder(kind);
    if (!existsSync(join(folder, 'state'))) return undefined;
    const own = join(folder, `memory-${uid}`);
    if (!(await isPresent(own))) await copyMemory(join(folder, 'memory'), own, uid);
    const now = new Date();
    await utimes(folder, now, now);
    return { memory: own, state: join(folder, 'state') };
  }

  /** One after the other, and each once; whoever wants one meanwhile boots. */
  makeSoon(kind: TemplateKind): void {
    const key = templateKey(kind, this.#options.support.version);
    if (this.#wanted.has(key)) return;
    this.#wanted.add(key);
    this.#making = this.#making
      .then(() => this.make(kind))
      .catch((error: unknown) => {
        if (this.#closing.signal.aborted) return;
        // Not tried again by this daemon: what fails takes as long as a boot.
        this.#options.log.warn({ err: error }, 'no template could be made; machines boot instead');
      });
  }

  settled(): Promise<void> {
    return this.#making;
  }

  /** Ends what is being made. */
  async close(): Promise<void> {
    this.#closing.abort(new Error('the daemon is stopping'));
    await this.#making;
  }

  /** Idempotent. */
  async make(kind: TemplateKind): Promise<void> {
    await this.#swept;
    const folder = this.#folder(kind);
    if (this.#closing.signal.aborted || (await isPresent(folder))) return;
    const unfinished = `${folder}.new`;
    await rm(unfinished, { recursive: true, force: true });
    try {
      await this.#boot(kind, unfinished);
    } catch (error) {
      await rm(unfinished, { recursive: true, force: true });
      throw error;
    }
    for (const name of ['run', 'bound', 'disk', 'tools', 'console.pipe'])
      await rm(join(unfinished, name), { recursive: true, force: true });
    await chmod(unfinished, 0o700);
    await chown(join(unfinished, 'memory'), 0, 0);
    await writeFile(join(unfinished, 'image'), kind.image.root);
    await rename(unfinished, folder);
    await evictCaches(this.#options.caches, folder);
    this.#options.log.info({ memoryMiB: kind.memoryMiB, image: kind.image.hash }, 'template of machines made');
  }

  /** A copy did not come up. Somebody may have ended it; what fails twice in a row is not used again, and made anew when one has booted. */
  async failed(kind: TemplateKind): Promise<void> {
    const folder = this.#folder(kind);
    const failures = (this.#failures.get(folder) ?? 0) + 1;
    this.#failures.set(folder, failures);
    if (failures < FAILURES) return;
    this.#failures.delete(folder);
    this.#wanted.delete(basename(folder));
    await rm(folder, { recursive: true, force: true });
  }

  worked(kind: TemplateKind): void {
    this.#failures.delete(this.#folder(kind));
  }

  async #boot({ image, diskGiB, ...plan }: TemplateKind, folder: string): Promise<void> {
    const { support } = this.#options;
    const { kernel, initrd, root } = image;
    const bare = {
      ...{ folder, support, diskGiB, image: { kernel, initrd, root }, plan: { ...plan, memory: 'template' } as const },
      mark: `${this.#markPrefix}${basename(folder)}`,
    };
    const signal = AbortSignal.any([this.#closing.signal, timeLimit(BOOT_MS)]);
    const save = async (machine: Machine) => {
      await rehearse(machine, signal);
      const saving = { run: join(folder, 'run'), path: join(folder, 'state'), hasMemory: false };
      await saveState(machine, { ...saving, signal: AbortSignal.any([signal, timeLimit(SAVE_MS)]) });
    };
    await withBareMachine(bare, save, signal);
  }

  #folder(kind: TemplateKind): string {
    return join(this.#options.directory, templateKey(kind, this.#options.support.version));
  }

  /** What an earlier daemon was at, and templates of images that are gone. */
  async #sweep(): Promise<void> {
    const { directory } = this.#options;
    await mkdir(directory, { recursive: true, mode: 0o711 });
    for (const pid of listPids()) {
      const words = readCommandLine(pid);
      const process = words.some((word) => word.startsWith(this.#markPrefix)) ? readProcess(pid) : undefined;
      if (process !== undefined && isOfHost(process)) signalProcess(process, 'SIGKILL');
    }
    for (const name of readdirSync(directory)) {
      const folder = join(directory, name);
      if (name.endsWith('.new') || !(await hasImage(folder))) await rm(folder, { recursive: true, force: true });
    }
  }
}

/** The guest is asked what it must refuse, on a new connection each time: what comes in by its ports is then nothing new to it. */
async function rehearse(machine: Machine, signal: AbortSignal): Promise<void> {
  for (let round = 0; round < REHEARSALS; round++) {
    const stream = await machine.connect('control', signal);
    const client = await connectGuest(stream, { id: 'rehearsal', incarnation: 'rehearsal', signal }).catch(() => undefined);
    client?.close('rehearsed');
  }
}

async function hasImage(folder: string): Promise<boolean> {
  return readFile(join(folder, 'image'), 'utf8').then(isPresent, () => false);
}

/** Whole or not there. */
async function copyMemory(from: string, to: string, uid: number): Promise<void> {
  const unfinished = `${to}.${process.pid}`;
  await execute('cp', ['--sparse=always', '--reflink=auto', '--', from, unfinished], { env: { PATH: TOOL_PATH } });
  await chown(unfinished, uid, uid);
  await rename(unfinished, to);
}
