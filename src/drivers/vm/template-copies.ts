/**
 * What the machines of one home map: copies of templates, one for each team, because QEMU opens no memory that it may not write. Each has all it takes: the template
 * may be gone, or be another by then.
 */
import { existsSync, readdirSync } from 'node:fs';
import { chown, mkdir, open, rename, rm, statfs, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { execute } from '#lib/execute.ts';
import { TOOL_PATH } from '../sandbox/args.ts';
import { isUnfinished, removeCached } from './caches.ts';
import { madeIn, removeWithoutImage, TEMPLATE_FILES } from './template-store.ts';

export interface TemplateFiles {
  readonly memory: string;
  readonly state: string;
}

export class TemplateCopies {
  readonly #directory: string;
  /** By path: who wants the same one waits for it. */
  readonly #making = new Map<string, Promise<void>>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  pathOf(key: string, uid: number): string {
    return join(this.#directory, `${key}-${uid}`);
  }

  async find(key: string, uid: number): Promise<TemplateFiles | undefined> {
    const folder = this.pathOf(key, uid);
    await this.#making.get(folder)?.catch(() => {});
    const state = join(folder, 'state');
    if (!existsSync(state)) return undefined;
    const now = new Date();
    await utimes(folder, now, now);
    return { memory: join(folder, 'memory'), state };
  }

  /** For machines of `uid`. Whole or not there. */
  async make(template: string, key: string, uid: number): Promise<void> {
    const folder = this.pathOf(key, uid);
    const making = this.#making.get(folder) ?? this.#copy(template, folder, uid).finally(() => this.#making.delete(folder));
    this.#making.set(folder, making);
    await making;
  }

  /** Those of all teams. Gives the names of the templates that they were copies of. */
  async remove(key: string): Promise<readonly string[]> {
    const folders = readdirSync(this.#directory).filter((name) => name.startsWith(`${key}-`) && !isUnfinished(name));
    const made = await Promise.all(folders.map((name) => madeIn(join(this.#directory, name))));
    for (const name of folders) await removeCached(join(this.#directory, name));
    return made.filter((each) => each !== undefined);
  }

  /** Of an earlier daemon, which has died: what it was at, and copies of machines whose image is gone. */
  async sweep(): Promise<void> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    for (const name of readdirSync(this.#directory).filter((each) => isUnfinished(each) || !IS_COPY.test(each)))
      await rm(join(this.#directory, name), { recursive: true, force: true });
    await removeWithoutImage(this.#directory);
  }

  async #copy(template: string, folder: string, uid: number): Promise<void> {
    const unfinished = `${folder}.new`;
    // By the descriptor: all files are of one template, also when another one takes its place meanwhile.
    const from = await open(template, 'r');
    try {
      await rm(unfinished, { recursive: true, force: true });
      await mkdir(unfinished, { mode: 0o700 });
      const files = TEMPLATE_FILES.map((name) => `/proc/${process.pid}/fd/${from.fd}/${name}`);
      const env = { PATH: TOOL_PATH };
      const holes = (await statfs(unfinished)).type === TMPFS ? 'never' : 'always';
      await execute('cp', [`--sparse=${holes}`, '--reflink=auto', '--', ...files, unfinished], { env });
      await chown(join(unfinished, 'memory'), uid, uid);
      await removeCached(folder);
      await rename(unfinished, folder);
    } catch (error) {
      await rm(unfinished, { recursive: true, force: true });
      throw error;
    } finally {
      await from.close();
    }
  }
}

/** There a hole takes room when it is read: a machine would be ended by that, when there is none, in place of standing still until there is. */
const TMPFS = 0x01021994;
/** A key and a uid. Homes of earlier versions have templates of their own in this place. */
const IS_COPY = /^[0-9a-f]{32}-\d+$/;
