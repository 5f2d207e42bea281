/**
 * The files of the workspace, compared with what they were when the run began: how many have changed, and whether two moments are the same.
 * Contents are read only of files that look different from then.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';

/** Neither is work: what git keeps for itself, and what is installed. The head of the former is looked at. */
const NOT_LOOKED_INTO = new Set(['.git', 'node_modules']);
/** Beyond so many the rest does not count: a run must not wait for its own bookkeeping. */
const MAX_ENTRIES = 50_000;

export interface TreeState {
  readonly filesChanged: number;
  readonly changed: readonly string[];
  readonly hash: string;
}

export class Tree {
  readonly #root: string;
  readonly #base: ReadonlyMap<string, string>;

  private constructor(root: string, base: ReadonlyMap<string, string>) {
    this.#root = root;
    this.#base = base;
  }

  static async remember(root: string): Promise<Tree> {
    return new Tree(root, await look(root));
  }

  async state(): Promise<TreeState> {
    const now = await look(this.#root);
    const changed = [...now].filter(([path, looks]) => this.#base.get(path) !== looks).map(([path]) => path);
    const gone = [...this.#base.keys()].filter((path) => !now.has(path));
    const hash = createHash('sha256');
    for (const path of changed.sort()) hash.update(`${path}\0${await contentOf(this.#root, path, now.get(path) ?? '')}\0`);
    for (const path of gone.sort()) hash.update(`-${path}\0`);
    return { filesChanged: changed.length + gone.length, changed: [...changed, ...gone], hash: hash.digest('hex') };
  }
}

const HEAD = '.git/HEAD';

/** Path → what it looks like from outside. */
async function look(root: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const folders = [''];
  for (let folder = folders.pop(); folder !== undefined && found.size < MAX_ENTRIES; folder = folders.pop()) {
    const { files, deeper } = await contentsOf(root, folder);
    folders.push(...deeper);
    for (const path of files) found.set(path, await looksOf(join(root, path)));
  }
  const head = await headOf(join(root, '.git'));
  if (head !== undefined) found.set(HEAD, head);
  return found;
}

async function contentsOf(
  root: string,
  folder: string,
): Promise<{ readonly files: readonly string[]; readonly deeper: readonly string[] }> {
  const entries = (await entriesOf(join(root, folder))).filter(({ name }) => !NOT_LOOKED_INTO.has(name));
  const pathOf = ({ name }: { readonly name: string }) => (folder === '' ? name : `${folder}/${name}`);
  return {
    files: entries.filter((entry) => !entry.isDirectory()).map(pathOf),
    deeper: entries.filter((entry) => entry.isDirectory()).map(pathOf),
  };
}

async function entriesOf(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

async function looksOf(path: string): Promise<string> {
  const stats = await lstat(path, { bigint: true }).catch(() => undefined);
  return stats === undefined ? 'gone' : `${stats.size} ${stats.mtimeNs} ${stats.mode} ${stats.ino}`;
}

/** The commit that is checked out, as far as it takes no git to know it. */
async function headOf(git: string): Promise<string | undefined> {
  const read = (name: string) => readFile(join(git, name), 'utf8').catch(() => undefined);
  const head = (await read('HEAD'))?.trim();
  const [, ref] = /^ref: (.+)$/.exec(head ?? '') ?? [];
  if (head === undefined || ref === undefined) return head;
  const packed = (await read('packed-refs'))?.split('\n').find((line) => line.endsWith(` ${ref}`));
  return `${ref} ${(await read(ref))?.trim() ?? packed?.split(' ')[0] ?? 'none'}`;
}

async function contentOf(root: string, path: string, looks: string): Promise<string> {
  if (path === HEAD) return looks;
  const hash = createHash('sha256');
  try {
    const stats = await lstat(join(root, path));
    if (stats.isSymbolicLink()) return `link ${await readlink(join(root, path))}`;
    if (!stats.isFile()) return looks;
    for await (const chunk of createReadStream(join(root, path))) hash.update(chunk as Buffer);
    return `${stats.mode} ${hash.digest('hex')}`;
  } catch {
    return looks;
  }
}
