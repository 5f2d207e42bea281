/**
 * Machines that have booted once and stand still for ever: a workspace begins as a copy of one in the time it takes to map its memory. Its
 * guest has no identity and has heard no secret. One per image, QEMU, size and set of devices, for all homes of a user (template-store.ts).
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { connectGuest } from '#guest/client.ts';
import type { Logger } from '#lib/log.ts';
import { timeLimit } from '#lib/time-limit.ts';
import { type MachinePlan, qemuArguments } from './args.ts';
import { withBareMachine } from './boot.ts';
import { type Caches, evictCaches } from './caches.ts';
import { fairLimit, waitedForProcessorMs } from './fair-limit.ts';
import type { Machine } from './machine.ts';
import { saveState } from './migration.ts';
import type { VmSupport } from './support.ts';
import { TemplateCopies, type TemplateFiles } from './template-copies.ts';
import { TemplateStore } from './template-store.ts';

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
  /** Shared with other homes. */
  readonly directory: string;
  /** Of this home. */
  readonly copies: string;
  readonly support: VmSupport;
  readonly log: Logger;
  /** Which they are part of. */
  readonly caches: Caches;
}

const BOOT_MS = 180_000;
const SAVE_MS = 30_000;
const REHEARSALS = 8;
const FAILURES = 2;

/** Pure. A copy needs exactly what the template was: whatever tells two machines apart is in it. */
export function templateKey({ image, diskGiB, ...plan }: TemplateKind, version: string): string {
  const { hash, kernel, initrd } = image;
  const { memory: _, ...rest } = plan;
  // Homes of other versions, which start machines otherwise, may look for theirs in the same place.
  const words = qemuArguments({ ...rest, memory: 'template' });
  return createHash('sha256')
    .update(JSON.stringify([4, version, hash, kernel, initrd, diskGiB, Object.entries(rest).sort(), words]))
    .digest('hex')
    .slice(0, 32);
}

export class Templates {
  readonly #options: TemplatesOptions;
  readonly #store: TemplateStore;
  readonly #copies: TemplateCopies;
  readonly #swept: Promise<void>;
  #making: Promise<void> = Promise.resolve();
  /** Keys of those that are to be made, and of those that could not be. */
  readonly #wanted = new Set<string>();
  /** In a row, by key. */
  readonly #failures = new Map<string, number>();
  readonly #closing = new AbortController();

  constructor(options: TemplatesOptions) {
    this.#options = options;
    this.#store = new TemplateStore(options.directory);
    this.#copies = new TemplateCopies(options.copies);
    const sweep = async () => {
      await this.#copies.sweep();
      await this.#store.sweep();
    };
    this.#swept = sweep().catch((error: unknown) => options.log.warn({ err: error }, 'templates could not be swept'));
  }

  /** For machines of `uid`: they share the pages of one copy, which is theirs to write. undefined: the machine has to boot. */
  async find(kind: TemplateKind, uid: number): Promise<TemplateFiles | undefined> {
    await this.#swept;
    const key = this.#keyOf(kind);
    await this.#store.used(key);
    return (await this.#copies.find(key, uid)) ?? this.#copy(key, uid);
  }

  async #copy(key: string, uid: number): Promise<TemplateFiles | undefined> {
    if (!this.#store.has(key)) return undefined;
    try {
      await this.#copies.make(this.#store.pathOf(key), key, uid);
      await evictCaches(this.#options.caches, this.#copies.pathOf(key, uid));
    } catch (error) {
      // It has gone meanwhile, or there is no room.
      this.#options.log.warn({ err: error }, 'a template could not be copied; the machine boots instead');
    }
    return this.#copies.find(key, uid);
  }

  /** One after the other, and each once; whoever wants one meanwhile boots. */
  makeSoon(kind: TemplateKind): void {
    const key = this.#keyOf(kind);
    if (this.#wanted.has(key)) return;
    this.#wanted.add(key);
    this.#making = this.#making
      .then(() => this.make(kind))
      // It may go at any time, and then be wanted again.
      .then(() => void this.#wanted.delete(key))
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

  /** Idempotent, also where another daemon makes the same one: then it is waited for. */
  async make(kind: TemplateKind): Promise<void> {
    await this.#swept;
    const key = this.#keyOf(kind);
    const { signal } = this.#closing;
    if (signal.aborted || this.#store.has(key)) return;
    const boot = (folder: string, mark: string) => this.#boot(kind, folder, mark);
    if (!(await this.#store.make({ key, image: kind.image.root, signal, boot }))) return;
    await evictCaches(this.#options.caches, this.#store.pathOf(key));
    this.#options.log.info({ memoryMiB: kind.memoryMiB, image: kind.image.hash }, 'template of machines made');
  }

  /** A copy did not come up. Somebody may have ended it; what fails twice in a row is not used again, and made anew when one has booted. */
  async failed(kind: TemplateKind): Promise<void> {
    const key = this.#keyOf(kind);
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    if (failures < FAILURES) return;
    this.#failures.delete(key);
    this.#wanted.delete(key);
    await this.#store.discard(key, await this.#copies.remove(key));
  }

  worked(kind: TemplateKind): void {
    this.#failures.delete(this.#keyOf(kind));
  }

  async #boot({ image, diskGiB, ...plan }: TemplateKind, folder: string, mark: string): Promise<void> {
    const { support } = this.#options;
    const { kernel, initrd, root } = image;
    let pid: number | undefined;
    const onStarted = (started: number) => {
      pid = started;
    };
    const machine = { image: { kernel, initrd, root }, plan: { ...plan, memory: 'template' } as const };
    const bare = { folder, support, diskGiB, ...machine, mark, onStarted };
    const signal = AbortSignal.any([this.#closing.signal, fairLimit(BOOT_MS, () => waitedForProcessorMs(pid))]);
    const save = async (machine: Machine) => {
      await rehearse(machine, signal);
      const saving = { run: join(folder, 'run'), path: join(folder, 'state'), hasMemory: false };
      await saveState(machine, { ...saving, signal: AbortSignal.any([signal, timeLimit(SAVE_MS)]) });
    };
    await withBareMachine(bare, save, signal);
  }

  #keyOf(kind: TemplateKind): string {
    return templateKey(kind, this.#options.support.version);
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
