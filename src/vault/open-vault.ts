/** The vault of one home, put together. Each call: the path as it is written, the place it leads to, the right to it, the lock, the file. */
import { lstatSync, mkdirSync, realpathSync } from 'node:fs';
import { readdir, rm, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { AgentisoError, ConflictError, InvalidError, ignoreNotFound, messageOf } from '#lib/errors.ts';
import type { Logger } from '#lib/log.ts';
import { MAX_NOTE_BYTES, NEW_FILES, readText, replaceFile, tooLarge, versionOf } from './file.ts';
import { codeOf, ensureFolder, openFolder, resolveLinks, withFolder } from './folder.ts';
import { FolderWatches } from './folder-watches.ts';
import { followNote } from './follow-note.ts';
import { frontmatterLength, frontmatterOf } from './frontmatter.ts';
import { GeneratedFiles } from './generated.ts';
import { checkReadable, isReadable, joinPath, nameOf, parentOf, parsePath, TEAM_FOLDERS, teamFolder } from './paths.ts';
import { PatternRunner } from './pattern-runner.ts';
import { canSee, checkVisible, checkWritable, noSuchNote } from './scope.ts';
import { type SearchResult, search } from './search.ts';
import { TeamLocks } from './team-locks.ts';
import { type Found, walk } from './tree.ts';
import type { GeneratedPath, Note, SearchQuery, Vault, VaultEntry, VaultScope } from './vault.ts';

const MAX_ENTRIES = 1_000;

type WriteOptions = NonNullable<Parameters<Vault['write']>[3]>;

export interface VaultOptions {
  readonly home: string;
  readonly log: Logger;
  /** How often generated files are looked at without a hint; 30 seconds when absent. */
  readonly lookMs?: number;
}

export async function openVault({ home, ...options }: VaultOptions): Promise<Vault> {
  const place = join(home, 'vault');
  mkdirSync(place, { recursive: true, mode: 0o700 });
  // People may keep their notes elsewhere and put a link here.
  const root = realpathSync(place);
  await ensureNewFiles(root);
  return new DirectoryVault(root, options);
}

/** What a process that was killed had begun to write is of no use to anybody. */
async function ensureNewFiles(root: string): Promise<void> {
  const folder = join(root, NEW_FILES);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (!lstatSync(folder).isDirectory()) throw new AgentisoError('Invalid', `${folder} must be a folder, and no link to one`);
  for (const name of await readdir(folder)) await rm(join(folder, name), { force: true, recursive: true });
}

class DirectoryVault implements Vault {
  readonly #root: string;
  readonly #locks = new TeamLocks();
  readonly #patterns = new PatternRunner();
  readonly #generated: GeneratedFiles;
  readonly #log: Logger;

  constructor(root: string, options: Omit<VaultOptions, 'home'>) {
    this.#root = root;
    this.#log = options.log;
    this.#generated = new GeneratedFiles({ root, locks: this.#locks, ...options });
  }

  async read(scope: VaultScope, asked: string): Promise<Note> {
    const path = await this.#placeOf(scope, asked);
    const { content } = await this.#locks.shared(path, () => orIoError(`${path} cannot be read`, () => this.#readAt(path)));
    return { path, content, version: versionOf(content), frontmatter: frontmatterOf(content) };
  }

  async write(scope: VaultScope, asked: string, content: string, options: WriteOptions = {}): Promise<{ path: string; version: string }> {
    // A half of a character would become something else on disk.
    if (/\p{Surrogate}/u.test(content)) throw new InvalidError(`the text for ${asked} has half a character in it; UTF-8 is accepted`);
    const path = await this.#placeToChange(scope, asked);
    const change = (before: string | undefined) => {
      checkVersion(path, before, options.ifVersion);
      return combined(before ?? '', content, options.mode ?? 'overwrite');
    };
    const next = await this.#locks.alone(path, () => orIoError(`${path} cannot be written`, () => this.#changeAt(path, change)));
    return { path, version: versionOf(next) };
  }

  async remove(scope: VaultScope, asked: string): Promise<void> {
    const path = await this.#placeToChange(scope, asked);
    await this.#locks.alone(path, () => orIoError(`${path} cannot be removed`, () => this.#removeAt(path)));
  }

  async follow(scope: VaultScope, asked: string, signal: AbortSignal): Promise<AsyncIterable<void>> {
    const written = parsePath(asked);
    // For its refusals; that the note is not there yet is none.
    await ignoreNotFound(this.read(scope, asked));
    const look = async () => {
      try {
        return (await this.read(scope, asked)).version;
      } catch (error) {
        return messageOf(error);
      }
    };
    const places = async () => [written, parsePath(await resolveLinks(this.#root, written))];
    return followNote({ root: this.#root, look, places }, new FolderWatches(this.#log), signal);
  }

  async search(scope: VaultScope, query: SearchQuery, signal?: AbortSignal): Promise<SearchResult> {
    const path = await this.#folderOf(scope, query.path);
    const notes = isReadable(path) ? this.#only(path) : walk(this.#root, path, { scope, recursive: true });
    return search(notes, query, { patterns: this.#patterns, signal });
  }

  async list(scope: VaultScope, options: { path?: string; recursive?: boolean } = {}): Promise<{ entries: VaultEntry[]; isCut: boolean }> {
    const path = await this.#folderOf(scope, options.path);
    const entries: VaultEntry[] = [];
    for await (const found of walk(this.#root, path, { scope, recursive: options.recursive ?? false })) {
      if (entries.length === MAX_ENTRIES) return { entries, isCut: true };
      const entry = await entryOf(found);
      if (entry) entries.push(entry);
    }
    return { entries, isCut: false };
  }

  async ensureTeam(namespace: string, team: string): Promise<void> {
    const path = teamFolder(namespace, team);
    for (const name of TEAM_FOLDERS) {
      const folder = joinPath(path, name);
      await this.#locks.alone(folder, () => ensureFolder(this.#root, folder));
    }
    this.#generated.watchTeam(namespace, team);
  }

  async removeTeam(namespace: string, team: string): Promise<void> {
    const path = teamFolder(namespace, team);
    await this.#locks.aloneInTeam(namespace, team, async () => {
      this.#generated.forgetTeam(namespace, team);
      await ignoreNotFound(
        withFolder(this.#root, parentOf(path), async (folder) => {
          // A link is removed, not what it leads to.
          await rm(folder.at(nameOf(path)), { recursive: true, force: true });
          await folder.sync();
        }),
      );
    });
    await this.#removeEmpty(parentOf(path));
  }

  async writeGenerated(namespace: string, team: string, path: string, content: string): Promise<boolean> {
    return this.#generated.write({ namespace, team, path: parsePath(path) }, content);
  }

  async removeGenerated(namespace: string, team: string, path: string): Promise<void> {
    await this.#generated.remove({ namespace, team, path: parsePath(path) });
  }

  generatedIn(namespace: string, team: string, folder: string): Promise<string[]> {
    return this.#generated.list(namespace, team, parsePath(folder));
  }

  onForeignChange(listener: (change: GeneratedPath) => void): () => void {
    return this.#generated.onForeignChange(listener);
  }

  async close(): Promise<void> {
    await this.#generated.close();
  }

  /** Where a path leads. It must be visible as it was written and where it leads, so that no link tells of what is hidden. */
  async #placeOf(scope: VaultScope, asked: string): Promise<string> {
    const written = parsePath(asked);
    checkReadable(written);
    checkVisible(scope, written);
    const path = parsePath(await resolveLinks(this.#root, written));
    checkReadable(path);
    checkVisible(scope, path);
    return path;
  }

  async #placeToChange(scope: VaultScope, asked: string): Promise<string> {
    const written = parsePath(asked);
    checkReadable(written);
    checkWritable(scope, written);
    const path = parsePath(await resolveLinks(this.#root, written));
    checkReadable(path);
    checkWritable(scope, path);
    return path;
  }

  async #folderOf(scope: VaultScope, asked = ''): Promise<string> {
    const written = parsePath(asked);
    const path = canSee(scope, written) ? parsePath(await resolveLinks(this.#root, written)) : written;
    checkVisible(scope, path);
    return path;
  }

  async #readAt(path: string): Promise<{ content: string }> {
    const found = await ignoreNotFound(withFolder(this.#root, parentOf(path), (folder) => readText(folder, nameOf(path))));
    if (!found) throw noSuchNote(path);
    return found;
  }

  async #changeAt(path: string, change: (before: string | undefined) => string): Promise<string> {
    await ensureFolder(this.#root, parentOf(path));
    return withFolder(this.#root, parentOf(path), async (folder) => {
      const next = change((await readText(folder, nameOf(path)))?.content);
      if (Buffer.byteLength(next) > MAX_NOTE_BYTES) throw tooLarge(path);
      await replaceFile(this.#root, folder, nameOf(path), next);
      return next;
    });
  }

  async #removeAt(path: string): Promise<void> {
    await this.#readAt(path);
    await withFolder(this.#root, parentOf(path), async (folder) => {
      await rm(folder.at(nameOf(path)));
      await folder.sync();
    });
  }

  async *#only(path: string): AsyncGenerator<Found> {
    await this.#readAt(path);
    const folder = openFolder(this.#root, parentOf(path));
    try {
      yield { path, name: nameOf(path), folder, isFolder: false };
    } finally {
      folder.close();
    }
  }

  /** `namespaces/x/teams` and what is above it, as far as nothing else is in them. */
  async #removeEmpty(path: string): Promise<void> {
    if (path === '' || path === 'teams') return;
    try {
      await withFolder(this.#root, parentOf(path), (folder) => rmdir(folder.at(nameOf(path))));
    } catch (error) {
      if (codeOf(error) === 'ENOTEMPTY' || (error instanceof AgentisoError && error.code === 'NotFound')) return;
      throw error;
    }
    await this.#removeEmpty(parentOf(path));
  }
}

/** Without the path that the system was asked for, which means nothing to whoever asked us. */
async function orIoError<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AgentisoError || codeOf(error) === undefined) throw error;
    throw new AgentisoError('IoError', `${what}: ${messageOf(error).split(',')[0]}`, { cause: error });
  }
}

function checkVersion(path: string, before: string | undefined, ifVersion: string | undefined): void {
  if (ifVersion === undefined) return;
  if (before === undefined) throw new ConflictError(`${path} is not there any more`, { hint: 'write without a version to make it' });
  if (versionOf(before) === ifVersion) return;
  throw new ConflictError(`${path} has changed since version ${ifVersion}`, { hint: 'read it again and repeat the change' });
}

/** What is added begins a line and ends one, so that two who append do not meet in the middle of it. */
function combined(before: string, content: string, mode: NonNullable<WriteOptions['mode']>): string {
  if (mode === 'overwrite' || before === '') return content;
  if (mode === 'append') return `${endingLine(before)}${content}`;
  const head = frontmatterLength(before);
  return `${endingLine(before.slice(0, head))}${endingLine(content)}${before.slice(head)}`;
}

function endingLine(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

/** Undefined: gone since its name was read. */
async function entryOf({ path, name, folder, isFolder }: Found): Promise<VaultEntry | undefined> {
  try {
    const { size, mtime } = await stat(folder.at(name));
    return { path: isFolder ? `${path}/` : path, size: isFolder ? 0 : size, modified: mtime.toISOString() };
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
